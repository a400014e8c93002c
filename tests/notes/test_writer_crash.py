"""What a killed writer leaves is settled, and many writers do not harm each other.

The loops of ``benchmarks/kill_writes.py`` and ``benchmarks/many_writers.py`` run here
with small numbers; ``HM_KILLS`` asks for more.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.notes.journal import JournalFile
from hivemind_memory.notes.journal_records import RECOVERED as IS_BACK
from hivemind_memory.notes.journal_records import SAVED
from tests.support.note_home import NOTE, RECOVERED, Home
from tests.support.tiers import mostly_thorough

HUMAN = b"# Human\n\nmy text\n"
MEMORY = Path("/dev/shm")
"""Hundreds of kills are quick where nothing waits for a disk."""

ENTRY = "first line\n\n- a bullet: 'quoted' \u7b14\u8bb0\n"


def crash_in_the_middle(
    home: Home, part: int | None, *, human: bytes = HUMAN
) -> tuple[str, bytes]:
    """Write an entry and undo it to where a killed writer would have left it.

    Returns:
        The entry's id and bytes; only *part* of those (None: all) stay in the note, and
        the journal does not know that it was saved.
    """
    if human:
        home.write(human)
    entry = home.append(ENTRY)
    data = home.read()[len(human) :]
    lines = home.journal_file.read_bytes().splitlines(keepends=True)
    home.journal_file.write_bytes(b"".join(lines[:-1]))
    with (home.notes / NOTE).open("r+b") as note:
        note.truncate(len(human) + (len(data) if part is None else part))
    return entry.id, data


def length_of_entry(home: Home) -> int:
    return len(crash_in_the_middle(home, None)[1])


def test_an_entry_torn_at_any_byte_is_cut_off_by_the_next_writer(
    tmp_path: Path,
) -> None:
    """Nobody has to repair anything by hand."""
    length = length_of_entry(Home(tmp_path / "whole"))
    for part in {*range(3, 50), *range(50, length, 5), length - 1}:
        home = Home(tmp_path / str(part))
        torn, _ = crash_in_the_middle(home, part)

        later = home.append("later")

        assert torn not in home.text()
        assert home.read().startswith(HUMAN + b"\n\n<!-- hm id=" + later.id.encode())
        assert [entry.id for entry in home.journal.entries()] == [later.id]


def test_an_entry_torn_at_any_byte_is_cut_off_by_the_next_search(
    tmp_path: Path,
) -> None:
    """It may come before the next writer."""
    length = length_of_entry(Home(tmp_path / "whole"))
    for part in range(3, length, 7):
        home = Home(tmp_path / str(part))
        crash_in_the_middle(home, part)

        assert home.recover() == ()
        assert home.read() == HUMAN
        assert not home.journal.may_need_recovery()


@pytest.mark.parametrize("part", [0, 1, 2])
def test_blank_lines_at_the_end_may_be_a_persons(tmp_path: Path, part: int) -> None:
    """So they stay, though a torn entry may begin like that."""
    home = Home(tmp_path)
    crash_in_the_middle(home, part)

    home.recover()

    assert home.read() == HUMAN + b"\n" * part


@pytest.mark.parametrize("part", [0, 1, 30, 110])
def test_a_new_note_that_was_torn_is_gone(tmp_path: Path, part: int) -> None:
    """Also when it was made and nothing was written yet."""
    home = Home(tmp_path)
    crash_in_the_middle(home, part, human=b"")

    home.recover()

    assert list(home.notes.iterdir()) == []


def test_an_empty_note_that_a_person_made_stays(tmp_path: Path) -> None:
    """Its mode tells that it is not ours."""
    home = Home(tmp_path)
    crash_in_the_middle(home, 0, human=b"")
    (home.notes / NOTE).chmod(0o644)

    home.recover()

    assert home.read() == b""
    assert (home.notes / NOTE).exists()


def test_a_whole_entry_stays_and_is_looked_after(tmp_path: Path) -> None:
    """It was acknowledged if a power cut took the last line of the journal."""
    home = Home(tmp_path)
    entry, data = crash_in_the_middle(home, None)

    home.append("later")

    assert home.read().startswith(HUMAN + data)
    home.write(HUMAN)
    assert entry in [recovered.id for recovered in home.recover()]


def test_text_that_a_person_put_behind_a_torn_entry_is_not_cut_off(
    tmp_path: Path,
) -> None:
    """Even if the torn part has to stay."""
    home = Home(tmp_path)
    crash_in_the_middle(home, 60)
    before = home.read() + b" and more\n"
    home.write(before)

    home.append("later")

    assert home.read().startswith(before)


def test_a_torn_entry_is_found_where_a_person_moved_it(tmp_path: Path) -> None:
    """An editor saved the note with a line more above."""
    home = Home(tmp_path)
    _, data = crash_in_the_middle(home, 60)
    home.write(b"one more\n" + HUMAN + data[:60])

    home.append("later")

    assert home.read().startswith(b"one more\n" + HUMAN + b"\n\n<!-- hm id=")


def test_an_entry_that_never_reached_its_note_is_dropped(tmp_path: Path) -> None:
    """Nobody was told that it was saved."""
    home = Home(tmp_path)
    crash_in_the_middle(home, 0)
    (home.notes / NOTE).unlink()

    home.append("later", "other.md")

    assert not (home.notes / NOTE).exists()
    assert [entry.path for entry in home.journal.entries()] == ["other.md"]


def test_a_recovery_that_was_killed_at_any_byte_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry was acknowledged, so it may not be dropped with its torn half."""
    monkeypatch.setattr(JournalFile, "keep", lambda *_: None)
    for part in range(0, 150, 9):
        home = Home(tmp_path / str(part))
        home.write(HUMAN)
        entry = home.append(ENTRY)
        home.write(HUMAN)
        home.recover()
        whole = home.read(RECOVERED)
        lines = home.journal_file.read_bytes().splitlines(keepends=True)
        home.journal_file.write_bytes(b"".join(lines[:-1]))
        (home.notes / RECOVERED).write_bytes(whole[:part])

        home.recover()

        assert home.read(RECOVERED) == whole
        assert entry.id.encode() in whole


def test_a_recovery_that_was_killed_when_done_is_not_done_twice(tmp_path: Path) -> None:
    """The note has it; only the journal's last word is missing."""
    home = Home(tmp_path)
    home.append("kept", "other.md")
    home.write(HUMAN)
    entry = home.append(ENTRY)
    home.write(HUMAN)
    before = home.journal_file.read_bytes()
    home.recover()
    again = home.text(RECOVERED)
    home.journal_file.write_bytes(before)

    assert home.recover() == ()
    assert home.text(RECOVERED) == again
    states = {known.id: known.state for known in home.journal.entries()}
    assert states[entry.id] in (SAVED, IS_BACK)


@pytest.mark.parametrize(
    "command",
    mostly_thorough(
        [
            ["kill_each_call"],
            ["kill_writes", "--kills", os.environ.get("HM_KILLS", "50")],
            ["many_writers", "--entries", "20"],
            ["many_writers", "--seconds", "1", "--editors", "3", "--lookers", "1"],
        ],
        every=4,
    ),
    ids=["killed at each call", "killed", "many", "many with stale editors"],
)
def test_no_acknowledged_entry_is_lost_torn_or_doubled(
    tmp_path: Path, command: list[str]
) -> None:
    """Saved means synced and journalled, and a killed writer frees its locks."""
    name, *arguments = command
    place = MEMORY if name == "kill_each_call" and MEMORY.is_dir() else tmp_path

    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *arguments, "--dir", place],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith(" 0 problems")
