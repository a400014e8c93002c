"""A misspelled word is corrected, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.model.query import Query
from tests.support.sandbox import Sandbox, ask, paths


@pytest.mark.parametrize(
    ("question", "warning"),
    [
        ("certifcates", 'no note contains "certifcates": showing results for'),
        ("renew teh certificates", ""),
        ("when do the cretificates expire", 'contains "cretificates"'),
        ("certif", ""),
        ("backupz of prot", 'contains "backupz"'),
    ],
)
def test_a_slip_is_corrected_and_named(
    tmp_path: Path, question: str, warning: str
) -> None:
    """Short words are left alone: most are a slip away from another."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("tls.md", "The certificates are renewed in May.\n")
    sandbox.save("db.md", "The backups of Postgres are on port 5432.\n")
    sandbox.save("other.md", "Something else.\n")

    with sandbox.memory() as memory:
        answer = ask(memory, question)

    said = " ".join(answer.report.warnings)
    assert warning in said
    assert bool(warning) == ("showing results for" in said)


def test_a_word_that_a_note_contains_is_never_corrected(tmp_path: Path) -> None:
    """However rare it is."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("rare.md", "The vender called.\n")
    for number in range(9):
        sandbox.save(f"{number}.md", "The vendor called.\n")

    with sandbox.memory() as memory:
        answer = ask(memory, "vender")

    assert paths(answer) == ["rare.md"]
    assert not answer.report.warnings


def test_a_correction_tells_of_no_hidden_note(tmp_path: Path) -> None:
    """The words of another project are not offered."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("projects/site/a.md", "The xylophone is tuned.\n")
    sandbox.save("projects/shop/b.md", "The piano is tuned.\n")

    with sandbox.memory() as memory:
        visible = memory.as_caller(Caller(project="projects/shop"))
        answer = ask(visible, "xylophome tuned")

    assert not answer.report.warnings
    assert paths(answer) == ["projects/shop/b.md"]


def test_a_word_with_a_short_stem_is_not_corrected(tmp_path: Path) -> None:
    """Four letters are left of "naples", and "napi" is a slip away from these."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("addon.md", "The N-API addon crashes; napi_create_buffer leaks.\n")

    with sandbox.memory() as memory:
        answer = ask(memory, "naples")

    assert paths(answer) == []


def test_what_only_a_corrected_word_found_is_weak_at_most(tmp_path: Path) -> None:
    """The answer to "certifcates" was strong, as if the query had the word."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("tls.md", "The certificates are renewed in May.\n")
    sandbox.save("db.md", "The backups of Postgres are on port 5432.\n")

    with sandbox.memory() as memory:
        alone = ask(memory, "certifcates")
        beside = ask(memory, "certifcates renewed in May")

    assert (paths(alone), alone.report.confidence) == (["tls.md"], "weak")
    assert alone.hits[0].confidence < 0.5
    assert (paths(beside)[0], beside.report.confidence) == ("tls.md", "strong")


@pytest.mark.parametrize("word", ["certifcates", "chain"])
def test_a_literal_query_has_no_word_corrected_or_taken_for_a_part(
    tmp_path: Path, word: str
) -> None:
    """Nobody sees the answer who could tell that something else was meant."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("tls.md", "The certificates are in the keychain.\n")

    with sandbox.memory() as memory:
        found = memory.search(Query(text=word))
        literal = memory.search(Query(text=word, is_literal=True))

    assert (len(found.hits), len(literal.hits)) == (1, 0)
    assert not literal.report.warnings


@pytest.mark.parametrize("word", ["fee", "abc", "1234", "c0ffee", "7a04f1"])
def test_a_part_of_a_hash_is_no_answer(tmp_path: Path, word: str) -> None:
    """What stands between the digits of a long run is there by chance."""
    sandbox = Sandbox(tmp_path)
    commit = "3fa9c1bde77a04f1c0ffee1234567890abcdef12"
    sandbox.save("log.md", f"The commit {commit} broke the cart.\n")
    sandbox.save("other.md", "We shop for apples on Mondays.\n")

    with sandbox.memory() as memory:
        part = ask(memory, word)
        named = ask(memory, commit[:7])

    assert part.report.confidence in {"weak", "none"}
    assert all(hit.score < 0.6 and hit.confidence < 0.5 for hit in part.hits)
    assert (paths(named), named.report.confidence) == (["log.md"], "strong")
