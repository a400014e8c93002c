"""A misspelled word is corrected, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.access.rules import Caller
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
