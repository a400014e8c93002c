"""The journal's file: what it holds, what it forgets, what it survives."""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path

import pytest

from hivemind_memory.errors import NotSavedError
from hivemind_memory.files.places import has_journal_entries
from hivemind_memory.markdown.entry import new_ulid
from hivemind_memory.notes.journal_reader import JournalReader
from hivemind_memory.notes.journal_records import (
    BEGUN,
    SAVED,
    JournalEntry,
    entries_of,
    heading_of,
    mark_line,
    opened_line,
    text_line,
    text_of,
)
from tests.support.note_home import NOTE, Home

ODD_TEXT = 'a "quoted" \\ back\n","text":"forged\0\u2028 笔记 \ud7ff\U0001f469\r\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def entry(number: int = 0, *, at_s: float = 1000.0, state: str = BEGUN) -> JournalEntry:
    return JournalEntry(
        id=new_ulid(at_s, number.to_bytes(10, "big")),
        root="/notes",
        path=NOTE,
        at_s=at_s,
        state=state,
        target=NOTE,
        size_before=7,
        is_new=False,
        offset=0,
    )


def test_an_entry_is_in_the_journal_word_for_word(home: Home) -> None:
    """The text in the journal is the bytes in the note."""
    home.write(b"# Human\r\n")
    before = home.read()

    home.append("café\n笔记")

    with home.journal.session() as session:
        [known] = session.entries().values()
        text = session.text(known)
    assert before + text.encode() == home.read()
    assert (known.path, known.state, known.size_before) == (NOTE, SAVED, len(before))


def test_nothing_written_means_nothing_to_look_at(home: Home) -> None:
    """A search asks this each time."""
    assert not home.journal.may_need_recovery()
    assert not has_journal_entries(str(home.path / "nowhere"))

    home.append("x")

    assert home.journal.may_need_recovery()
    assert has_journal_entries(str(home.path / "journal"))


def test_the_count_of_unsettled_entries_ends_after_ten_minutes(home: Home) -> None:
    """`hm status` shows it."""
    home.append("x")
    home.append("y")

    counts = []
    for seconds in (0, 599, 1):
        home.later(seconds)
        counts.append(home.journal.count_pending_entries(home.clock[0]))

    assert counts == [2, 2, 0]


def test_any_text_comes_back_from_its_line() -> None:
    """A line ends where it should, whatever is in it."""
    line = text_line(entry(), ODD_TEXT)

    assert line.count(b"\n") == 1
    assert text_of(line) == ODD_TEXT
    assert list(entries_of([line]).values()) == [entry()]


def test_a_damaged_text_is_noticed() -> None:
    """Better nothing than something that nobody wrote."""
    line = text_line(entry(), "port 8080")

    assert text_of(line.replace(b"8080", b"8081")) == ""
    assert text_of(line[:-10]) == ""


def test_every_torn_or_strange_line_counts_as_not_written() -> None:
    """A journal is read after crashes, and perhaps by an older version."""
    lines = [text_line(entry(n), f"text {n}") for n in range(3)]
    whole = b"".join(lines)
    for cut in range(len(whole)):
        torn = whole[:cut].splitlines(keepends=True)
        known = entries_of(torn)
        assert len(known) == whole[:cut].count(b"\n")
    strange = [b"\n", b"{}\n", b"[]\n", b"null\n", b"\xff\n", b'{"do":"begin"}\n']
    strange += [b'{"do":"new","id":"x"}\n', b'{"do":"saved","id":"x"}\n', b"\0" * 99]

    assert list(entries_of([*strange, lines[0]])) == [entry(0).id]


def test_a_torn_last_line_is_cut_off_by_the_next_writer(home: Home) -> None:
    """Or the next line would be torn with it."""
    home.append("one")
    whole = home.journal_file.read_bytes()
    home.journal_file.write_bytes(whole + b'{"do":"begin","id":"01')

    home.append("two")

    assert home.journal_file.read_bytes().startswith(whole + b'{"do":"begin"')
    assert [known.state for known in home.journal.entries()] == [SAVED, SAVED]
    for line in home.journal_file.read_bytes().splitlines():
        json.loads(line)


def test_a_page_of_zeros_at_the_end_is_cut_off(home: Home) -> None:
    """A power cut can leave the size of a file without its bytes."""
    home.append("one")
    home.journal_file.write_bytes(home.journal_file.read_bytes() + bytes(5000))

    home.append("two")

    assert b"\0" not in home.journal_file.read_bytes()
    assert len(home.journal.entries()) == 2


def test_the_journal_is_only_appended_to_within_the_ten_minutes(home: Home) -> None:
    """Nothing that is promised is touched."""
    before = b""
    for number in range(5):
        home.append(f"entry {number}")
        after = home.journal_file.read_bytes()
        assert after.startswith(before)
        before = after
        home.later(100)


def test_old_entries_leave_the_journal_with_a_later_write(home: Home) -> None:
    """It holds twenty minutes of writing at most."""
    for number in range(50):
        home.append(f"entry {number}")
        home.later(60)

    assert len(home.journal.entries()) <= 20
    assert home.text().count("entry ") == 50


def test_an_idle_journal_is_emptied_by_the_first_look_after_ten_minutes(
    home: Home,
) -> None:
    """Texts do not lie around, and no search after that has to look."""
    home.append("x")
    home.later(601)

    assert home.journal.may_need_recovery()
    assert home.recover() == ()
    assert not home.journal.may_need_recovery()
    assert home.journal_file.read_bytes() == b""


def forget(home: Home, entry_id: str) -> None:
    """Take an entry out as a purge does."""
    with home.journal.session() as session:
        session.keep(session.entries().keys() - {entry_id}, home.clock[0])


def test_a_forgotten_entry_leaves_no_trace_in_the_journal(home: Home) -> None:
    """Nor does it come back when its lines are purged from the note."""
    kept, gone = home.append("keep this"), home.append("the password is hunter2")
    home.write(home.read().partition(b"\n\n\n")[0] + b"\n")

    forget(home, gone.id)

    assert b"hunter2" not in home.journal_file.read_bytes()
    assert home.recover() == ()
    assert [known.id for known in home.journal.entries()] == [kept.id]
    (home.path / "journal/rewritten.tmp").write_text("left by a kill: hunter2")
    forget(home, kept.id)
    assert sorted(file.name for file in (home.path / "journal").iterdir()) == [
        "entries.jsonl",
        "lock",
    ]
    assert not home.journal.may_need_recovery()


def test_writing_goes_on_after_the_journal_was_deleted(home: Home) -> None:
    """People clean up."""
    home.append("one")
    home.journal_file.unlink()
    home.append("two")
    for file in (home.path / "journal").iterdir():
        file.unlink()
    (home.path / "journal").rmdir()

    home.append("three")

    assert home.text().count("<!-- hm id=") == 3


def test_a_clock_that_was_wrong_does_not_keep_entries_for_ever(home: Home) -> None:
    """An entry from the year 2099 is not young until then."""
    home.later(70 * 365 * 86400)
    home.append("from the future")
    home.later(-70 * 365 * 86400)

    home.append("now")
    home.touch(NOTE, home.clock[0])

    assert home.journal.count_pending_entries(home.clock[0]) == 1
    assert len(home.journal.entries()) == 1


def test_a_writer_does_not_wait_for_ever_for_another(home: Home) -> None:
    """A stopped process may hold the lock; the answer names it."""
    with (
        home.journal.session(),
        pytest.raises(
            NotSavedError, match=r"^pid \d+ .* Nothing was saved\.$"
        ) as caught,
        home.journal.session(wait_s=0.05),
    ):
        pytest.fail("two held the lock")

    assert caught.value.hint
    home.append("and then it goes on")


def test_threads_take_turns(home: Home) -> None:
    """A server answers several requests at once."""
    threads = [
        threading.Thread(
            target=lambda n=n: [home.append(f"t{n} {i}") for i in range(5)]
        )
        for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert home.text().count("<!-- hm id=") == 30
    assert len(home.journal.entries()) == 30


def test_a_mark_for_an_unknown_entry_means_nothing() -> None:
    """Its text was forgotten."""
    lines = [mark_line("recovered", entry().id), mark_line("dropped", entry(1).id)]

    assert entries_of(lines) == {}


def lines_read(reader: JournalReader, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the lines that a reader makes sense of from now on."""
    read: list[bytes] = []

    def heading(line: bytes) -> dict[str, object]:
        read.append(line)
        return heading_of(line)

    monkeypatch.setattr("hivemind_memory.notes.journal_records.heading_of", heading)
    return read


def test_only_what_was_added_to_the_journal_is_read(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at changed notes asks what the journal of ten minutes holds."""
    reader = JournalReader(str(home.path / "journal" / "entries.jsonl"))
    for number in range(50):
        home.append(f"Crane {number}")
    assert len(reader.entries()) == 50
    read = lines_read(reader, monkeypatch)

    home.append("Crane 50")
    read.clear()
    found = reader.entries()

    assert [json.loads(line)["do"] for line in read] == ["begin", "saved"]
    assert len(found) == 51


@pytest.mark.parametrize("seed", range(40))
def test_a_journal_that_is_read_on_adds_up_to_the_same(
    tmp_path: Path, seed: int
) -> None:
    """Whatever writers append, cut off, tear, rewrite or begin anew in between."""
    chance = random.Random(seed)
    file = tmp_path / "entries.jsonl"
    reader = JournalReader(str(file))
    lines: list[bytes] = []
    for step in range(60):
        if not lines:
            lines = [opened_line(1000.0 + step)]
        match chance.randrange(6):
            case 0:
                del lines[chance.randrange(len(lines)) :]
            case 1:
                kept = [one for one in lines[1:] if chance.random() < 0.5]
                lines = [opened_line(1000.0 + step), *kept]
                file.unlink(missing_ok=True)
            case _:
                made = entry(1000 * seed + step)
                lines.append(text_line(made, ODD_TEXT * chance.randrange(3)))
                if chance.random() < 0.8:
                    lines.append(
                        mark_line(chance.choice(["saved", "dropped"]), made.id)
                    )
        torn = chance.choice([b"", b"", b'{"do":"beg', b"\0" * 20])
        file.write_bytes(b"".join(lines) + torn)
        if chance.random() < 0.7:
            assert reader.entries() == tuple(entries_of(lines).values())

    file.unlink()
    assert reader.entries() == ()


def test_a_journal_that_is_emptied_is_empty_after_a_power_cut(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its old text came back, and recovery put what was purged into recovered.md."""
    entry = home.append("purged")
    on_disk = {str(home.journal_file): home.journal_file.read_bytes()}
    real = os.fsync

    def fsync(fd: int) -> None:
        real(fd)
        path = os.readlink(f"/proc/self/fd/{fd}")
        on_disk[path] = Path(path).read_bytes() if os.path.isfile(path) else b""

    monkeypatch.setattr(os, "fsync", fsync)

    forget(home, entry.id)

    assert on_disk[str(home.journal_file)] == b""
