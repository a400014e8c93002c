"""No caller tells of a scope that it may not see, whatever is tried there."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.access_matrix import (
    OPEN_SESSION,
    PAIRS,
    command_reads,
    command_writes,
    free,
    make_twins,
    tool_reads,
    tool_writes,
    ulid,
)
from tests.support.tiers import mostly_thorough, part

RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(random.SystemRandom().random())
"""One for all processes of a run."""


@pytest.fixture(autouse=True)
def environ(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings, and an editor that changes nothing."""
    for name in list(os.environ):
        if name.startswith(("HIVEMIND_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    for name in ("HOME", "PROJECT", "TEAM", "WORKSPACE"):
        monkeypatch.setenv(f"HIVEMIND_{name}", "")  # undone when the test ends
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("VISUAL", raising=False)


@pytest.fixture
def seed() -> str:
    """Another one in each run, printed when a test fails; set it to repeat that run."""
    drawn = os.environ.get("ACCESS_SEED") or RUN
    print(f"ACCESS_SEED={drawn}")
    return drawn


def part_of(calls: list[Any], seed: str, pair: tuple[str, str]) -> list[Any]:
    """Return a pair's share of the calls: each call is made by one of all pairs.

    Another pair in each run; python -m benchmarks.access_matrix makes all by each. The
    usual run makes one of three calls.
    """
    drawn = random.Random(seed).randrange(len(PAIRS))
    share = calls[(PAIRS.index(pair) + drawn) % len(PAIRS) :: len(PAIRS)]
    return list(part(share, drawn, of=3))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("caller", "hidden"), mostly_thorough(PAIRS, every=2, are_rows=True)
)
def test_tools_answer_as_if_the_other_scope_were_not_there(
    tmp_path: Path, caller: str, hidden: str, seed: str
) -> None:
    """Hits, counts, errors and receipts, before and after what is written."""
    twins = make_twins(tmp_path, caller, hidden)
    reads = part_of(list(tool_reads(hidden)), seed, (caller, hidden))
    writes = part_of(list(tool_writes(hidden)), seed, (caller, hidden))
    writes.append(("memory_save", {"key": "gnu", "content": "A gnu is allowed."}))

    leaks = twins.leaks(lambda side: side.tools([*reads, *writes, *reads[:9]]))

    assert leaks == []
    assert twins.are_changed


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("caller", "hidden"), mostly_thorough(PAIRS, every=2, are_rows=True)
)
def test_commands_answer_as_if_the_other_scope_were_not_there(
    tmp_path: Path, caller: str, hidden: str, seed: str
) -> None:
    """A shell whose environment names scopes is a caller like any other."""
    twins = make_twins(tmp_path, caller, hidden)
    reads = part_of(list(command_reads(hidden)), seed, (caller, hidden))
    writes = part_of(list(command_writes(hidden)), seed, (caller, hidden))
    writes.append(("save", "gnu", "A gnu is allowed."))

    leaks = twins.leaks(lambda side: side.commands([*reads, *writes, *reads[:9]]))

    assert leaks == []
    assert twins.are_changed


def test_an_editor_opens_no_note_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link in an open scope may lead to a note of another."""
    twins = make_twins(tmp_path, "global", "teams/a")
    monkeypatch.setenv("EDITOR", "sh -c 'echo changed >> \"$0\"'")

    lines = [("edit", "peek.md"), ("edit", "peek/only.md"), ("edit", "peek/new.md")]
    leaks = twins.leaks(lambda side: side.commands(lines))
    said = twins.whole.commands(lines)

    assert leaks == []
    assert [one[:1] for _, one in said] == ["2", "2", "2"], said


def test_an_editor_tells_of_its_own_note_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many notes of others changed meanwhile is theirs to know."""
    twins = make_twins(tmp_path, "global", "teams/a")
    monkeypatch.setenv("EDITOR", "sh -c 'echo changed >> \"$0\"'")

    said = [side.commands([("edit", "plan.md")]) for side in twins]

    assert said[0] == said[1]
    assert "plan.md was changed" in said[0][0][1]


def test_an_entry_is_shown_where_a_hidden_note_has_a_copy_of_it(tmp_path: Path) -> None:
    """A person may copy a note into another scope; it must not stand before the own."""
    twins = make_twins(tmp_path, "global", "projects/a")
    for side in twins:
        notes = side.home / "memory"
        (notes / "zzz.md").write_text(free(50, "okapi", OPEN_SESSION))
    copy = twins.whole.home / "memory/projects/a/aaa.md"
    copy.write_text(free(50, "okapi", OPEN_SESSION))

    said = [side.commands([("show", ulid(50)), ("show", ulid(3))]) for side in twins]

    assert said[0] == said[1]
    assert "okapi entry" in said[0][0][1]


def test_a_purge_counts_no_page_of_others(tmp_path: Path) -> None:
    """How much room the index has to spare tells what others deleted."""
    twins = make_twins(tmp_path, "project a", "projects/b")
    line = ("forget", "visible-key-1", "--purge", "--dry-run", "--json")

    [(_, told)] = twins.whole.commands([line])

    assert '"journal"' in told
    assert not any(name in told for name in ("free pages", "set-aside", "half-written"))


def test_a_suggested_spelling_does_not_tell_of_hidden_notes(tmp_path: Path) -> None:
    """Where all notes are seen, ten chunks are read for it; so they are elsewhere."""
    twins = make_twins(tmp_path, "global", "projects/a")
    for side in twins:
        for number in range(20):
            words = "numbats" if number < 15 else "numbat"
            (side.home / f"memory/n{number:02}.md").write_text(f"Some {words} ran.")
    reads = [("search", "nummbat"), ("search", "umba"), ("search", "numb", "--json")]

    leaks = twins.leaks(lambda side: side.commands(reads))

    assert leaks == []


def test_the_near_copies_of_a_memory_do_not_tell_of_hidden_notes(
    tmp_path: Path,
) -> None:
    """A word that only hidden notes repeat is as rare as if they were not there."""
    twins = make_twins(tmp_path, "global", "projects/a")
    text = "Each spring the old ibex of the valley climbs slowly over the grey"
    for side in twins:
        for number in range(60):
            rare = "noon" if number % 4 == 0 else "wall"
            (side.home / f"memory/n{number:02}.md").write_text(f"{text} {rare}.")
    hidden = twins.whole.home / "memory/projects/a"
    for number in range(400):
        (hidden / f"h{number}.md").write_text("Noon is noon.")
    saves = [("save", "goat", f"{text} wall noon.")]

    said = [side.commands(saves) for side in twins]

    assert said[0] == said[1]
    assert said[0][0][1].count("nearly the same as") == 10


def test_words_and_phrases_are_ranked_alike_where_notes_are_hidden(
    tmp_path: Path,
) -> None:
    """The order is the same to the last tie, for rare words beside common ones too."""
    twins = make_twins(tmp_path, "global", "projects/a")
    for side in twins:
        for number in range(1_100):
            rare = ("The gnu-herd ran.", *["An ibex sat."] * 2, *[""] * 6)[number % 9]
            words = f"A common tale {'of old ' * (number % 5)}goes on. {rare}\n"
            (side.home / f"memory/n{number:04}.md").write_text(words)
    hidden = twins.whole.home / "memory/projects/a"
    for number in range(300):
        (hidden / f"h{number}.md").write_text("Old tale, old herd, old gnu. " * 3)
    words = ("tale gnu-herd", "common tale old", '"of old" tale', "herd ibex")
    reads = [("search", one, "--json", "--min-score", "0") for one in words]

    said = [side.commands(reads) for side in twins]

    assert said[0] == said[1]


def test_longer_words_do_not_tell_of_hidden_notes(tmp_path: Path) -> None:
    """However many longer words stand in hidden notes only, the visible ones count."""
    twins = make_twins(tmp_path, "global", "projects/a")
    for side in twins:
        (side.home / "memory/one.md").write_text("The gazellefold stands.")
    hidden = twins.whole.home / "memory/projects/a"
    many = " ".join(f"gazelle{number}x" for number in range(1_000))
    for name in ("h1", "h2"):
        (hidden / f"{name}.md").write_text(many)
    reads = [("search", word, "--json") for word in ("gazel", "azell")]

    said = [side.commands(reads) for side in twins]

    assert said[0] == said[1]
    assert "gazellefold" in said[0][0][1]
