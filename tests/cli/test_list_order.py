"""``hm list`` begins with what was written last, not with what was copied here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory import Query, open_memory
from hivemind_memory.cli import row_limit
from hivemind_memory.cli.commands import list as command_list
from hivemind_memory.cli.list_order import mark_copies, newest_first
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.results import ListedNote
from tests.cli.conftest import Hm

DAY_S = 86_400


def note(path: str, at: str) -> ListedNote:
    """A note that changed at a time."""
    return ListedNote(
        path=NotePath(path), size_bytes=1, updated_at=at, chunk_count=1, title=""
    )


def test_the_newest_note_comes_first() -> None:
    """By the last change of its file."""
    times = {"a.md": "09:00", "b.md": "11:00", "c.md": "10:00"}
    notes = [note(path, f"2026-11-21T{at}:00+01:00") for path, at in times.items()]

    order, undated = newest_first(notes, {})

    assert [one.path for one in order] == ["b.md", "c.md", "a.md"]
    assert not undated


def test_notes_that_were_copied_here_together_come_last() -> None:
    """An import of an hour ago hid what an agent wrote yesterday."""
    copied = [
        note(f"imports/{n:02}.md", f"2026-11-21T12:00:{n:02}Z") for n in range(12)
    ]
    saved = note("imports/rule.md", "2026-11-21T12:00:12Z")
    day = note("imports/2026-11-18.md", "2026-11-21T12:00:13Z")
    written = note("z.md", "2026-11-20T12:00:00Z")

    order, undated = newest_first(
        [*copied, saved, day, written], {"imports/rule.md": "2026-11-19T12:00:00Z"}
    )

    assert [one.path for one in order[:3]] == [written.path, saved.path, day.path]
    assert undated == {one.path for one in copied}


def test_a_few_notes_that_change_together_are_written() -> None:
    """An editor saves several at once."""
    notes = [note(f"{n}.md", "2026-11-21T12:00:00Z") for n in range(9)]

    assert not newest_first(notes, {})[1]


@pytest.fixture
def imported(hm: Hm, notes: Path) -> Path:
    """A hundred notes that were copied after the others were written."""
    for path in notes.rglob("*.md"):
        os.utime(path, (path.stat().st_mtime - DAY_S,) * 2)
    folder = notes / "archive"
    folder.mkdir()
    for number in range(100):
        (folder / f"{number:03}.md").write_text(f"An old note {number}.\n")
    return notes


def test_a_list_is_in_order_of_writing(hm: Hm, imported: Path) -> None:
    """In a pipe it is whole."""
    ran = hm("list")

    paths = [line.split("\t")[0] for line in ran.out.splitlines()]
    assert len(paths) == 104
    assert not any(path.startswith("archive/") for path in paths[:4])
    assert [one["path"] for one in hm("list", "--json").json] == paths


def test_a_list_on_a_terminal_is_short_and_says_what_is_left(
    hm: Hm, imported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It filled screens with what was imported."""
    for module in (command_list, row_limit):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)

    ran = hm("list")

    assert ran.out.count("\n") < 24
    assert "deploy.md" in ran.out
    assert "copied 20" in ran.out
    assert ran.err == "… 84 more notes: --all lists all\n"


def test_the_date_of_a_hit_says_if_it_is_only_that_of_a_copy(tmp_path: Path) -> None:
    """After an import all hits had the same day, which says nothing about the text."""
    at = 1_700_000_000
    with open_memory(home=str(tmp_path)) as memory:
        notes = Path(memory.places.notes)
        notes.mkdir(parents=True, exist_ok=True)
        names = [f"{number}.md" for number in range(12)]
        for name in (*names, "2023-01-02.md"):
            (notes / name).write_text(f"Wombats of {name} dig.\n", encoding="utf-8")
            os.utime(notes / name, (at, at))
        (notes / "new.md").write_text("Wombats sleep.\n", encoding="utf-8")
        memory.write("Wombats eat.", file="entry.md", scope="global")
        answer = memory.search(Query(text="wombats", max_results=30))

        dates = {hit.path: hit.date for hit in mark_copies(memory, answer).hits}

    assert {dates[name] for name in names} == {"copied 2023-11-14"}
    assert dates["2023-01-02.md"] == "2023-01-02"
    assert not {dates["new.md"][:6], dates["entry.md"][:6]} & {"copied", ""}
