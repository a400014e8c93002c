"""An entry that vanishes within ten minutes comes back once."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.errors import NotSavedError
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.notes import recovery as vanished_module
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.journal_records import BEGUN, JournalEntry
from hivemind_memory.notes.writer import NoteWriter
from tests.support.faults import Faults, refusal_of
from tests.support.note_home import AT, NOTE, RECOVERED, Home

STALE = b"# Human\n\nmy text\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.write(STALE)
    return home


def entry_lines(home: Home, path: str, entry_id: str) -> str:
    text = home.text(path)
    start = text.index(f"<!-- hm id={entry_id}")
    return text[start:].partition("\n\n\n")[0].strip()


def test_an_entry_under_a_stale_buffer_comes_back_word_for_word(home: Home) -> None:
    """An editor had the note open before the entry was written."""
    entry = home.append("first\n\n- a bullet")
    written = entry_lines(home, NOTE, entry.id)
    home.write(STALE)

    [recovered] = home.recover()

    assert (recovered.id, recovered.path) == (entry.id, NOTE)
    assert home.read() == STALE
    assert entry_lines(home, RECOVERED, entry.id) == written


def test_it_comes_back_once(home: Home) -> None:
    """A second look finds it and is content."""
    entry = home.append("x")
    home.write(STALE)

    found = [len(home.recover()) for _ in range(3)]

    assert found == [1, 0, 0]
    assert home.text(RECOVERED).count(entry.id) == 1


def test_removing_it_from_the_recovered_note_is_final(home: Home) -> None:
    """A person has decided."""
    home.append("x")
    home.write(STALE)
    home.recover()
    home.write(b"", RECOVERED)

    assert home.recover() == ()
    (home.notes / RECOVERED).unlink()
    assert home.recover() == ()
    home.later(700)
    assert home.recover() == ()
    assert not (home.notes / RECOVERED).exists()


def test_several_come_back_in_order_and_those_still_there_do_not(home: Home) -> None:
    """A stale buffer may hold the first of three."""
    first = home.append("one")
    stale = home.read()
    second, third = home.append("two"), home.append("three")
    home.write(stale)

    recovered = home.recover()

    assert [entry.id for entry in recovered] == [second.id, third.id]
    text = home.text(RECOVERED)
    assert text.index(second.id) < text.index(third.id)
    assert first.id not in text


@pytest.mark.parametrize("seconds", [1, 300, 599])
def test_it_comes_back_when_it_vanished_within_ten_minutes(
    home: Home, seconds: float
) -> None:
    """The last second counts."""
    home.append("x")
    home.later(seconds)
    home.write(STALE, changed_s=home.clock[0])

    assert len(home.recover()) == 1


def test_it_comes_back_when_nobody_looked_until_long_after(home: Home) -> None:
    """Removed in time is removed in time: the note has not changed since."""
    home.append("x")
    home.later(120)
    home.write(STALE, changed_s=home.clock[0])
    home.later(3600)

    assert len(home.recover()) == 1
    assert not home.journal.may_need_recovery()


def test_removing_it_later_is_final(home: Home) -> None:
    """Whether or not anybody looked before."""
    home.append("x")
    home.later(601)
    home.write(STALE, changed_s=home.clock[0])

    assert home.recover() == ()
    assert not home.journal.may_need_recovery()


def test_a_late_write_also_looks_after_what_vanished_in_time(home: Home) -> None:
    """Else the journal would forget it unseen."""
    entry = home.append("x")
    home.later(60)
    home.write(STALE, changed_s=home.clock[0])
    home.later(3600)

    home.append("another")

    assert entry.id in home.text(RECOVERED)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("at=2026", "forgotten=2026-11-21 at=2026"),
        lambda text: text.replace("secret", "edited by hand"),
        lambda text: "moved up\n" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("# Human\n\n", ""),
        lambda text: text[text.index("<!-- hm") :],
    ],
)
def test_an_entry_that_was_edited_is_present(
    home: Home, change: Callable[[str], str]
) -> None:
    """Its comment is what counts; the lines are the person's."""
    home.append("secret")
    home.write(change(home.text()).encode())

    assert home.recover() == ()
    assert not (home.notes / RECOVERED).exists()


def test_a_note_that_was_renamed_or_moved_is_no_loss(home: Home) -> None:
    """Tidying up is not removing."""
    home.append("x")
    (home.notes / "archive").mkdir()
    os.rename(home.notes / NOTE, home.notes / "archive/old.md")

    assert home.recover() == ()
    assert not (home.notes / RECOVERED).exists()


@pytest.mark.parametrize("place", ["", "projects/shop/", "projects/site/inbox/"])
@pytest.mark.parametrize("own", ["", "projects/site/"])
def test_a_copy_in_another_scope_hides_no_loss(
    home: Home, own: str, place: str
) -> None:
    """Only those of the other scope could have read the entry there."""
    note = NotePath(f"{own}{NOTE}")
    entry = home.append("x", note)
    copy = home.notes / f"{place}copy.md"
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(home.notes / note, copy)
    home.write(STALE, note)

    is_elsewhere = scope_of(f"{place}copy.md") != scope_of(note)
    back = [(one.id, one.target) for one in home.recover()]

    assert back == ([(entry.id, f"{own}{RECOVERED}")] if is_elsewhere else [])
    assert home.recover() == ()
    assert copy.read_text().count(entry.id) == 1


def test_a_project_folder_that_was_renamed_by_hand_is_no_loss(home: Home) -> None:
    """Its entries lie in another scope then, and the old folder does not come back."""
    home.append("x", NotePath(f"projects/site/{NOTE}"))
    os.rename(home.notes / "projects/site", home.notes / "projects/shop")

    assert home.recover() == ()
    assert not (home.notes / "projects/site").exists()


SHOP, OTHER = b"github.com/acme/shop\n", b"github.com/other/shop\n"


def renamed_and_made_anew(home: Home, record: bytes, anew: bytes) -> str:
    """Write to a project, rename its folder, and give its name away; return the id."""
    site = home.notes / "projects/site"
    site.mkdir(parents=True)
    if record:
        (site / ".project").write_bytes(record)
    entry = home.append("x", f"projects/site/{NOTE}")
    os.rename(site, home.notes / "projects/shop")
    home.write(b"# theirs\n", f"projects/site/{NOTE}")
    if anew:
        (site / ".project").write_bytes(anew)
    return entry.id


@pytest.mark.parametrize(("record", "anew"), [(SHOP, OTHER), (b"", b""), (b"", OTHER)])
def test_a_project_of_the_old_name_gets_no_entry_of_a_renamed_one(
    home: Home, record: bytes, anew: bytes
) -> None:
    """It may be another repository's, whose agents must not read it."""
    renamed_and_made_anew(home, record, anew)

    assert home.recover() == ()
    assert [path.name for path in (home.notes / "projects").rglob("*.md")] == [NOTE] * 2


def test_an_entry_that_a_renamed_project_lost_comes_back_there(home: Home) -> None:
    """Its record says which project it is; the folder may be a copy."""
    entry_id = renamed_and_made_anew(home, SHOP + b"folder\t12-3\t/c/.git\n", OTHER)
    shutil.copytree(home.notes / "projects/shop", home.notes / "projects/store")
    shutil.rmtree(home.notes / "projects/shop")
    home.write(STALE, f"projects/store/{NOTE}")

    [recovered] = home.recover()

    assert recovered.target == f"projects/store/{RECOVERED}"
    assert home.text(recovered.target).count(entry_id) == 1
    assert home.recover() == ()
    assert not (home.notes / f"projects/site/{RECOVERED}").exists()


@pytest.mark.parametrize(
    ("record", "is_back"), [(SHOP, True), (b"", True), (OTHER, False)]
)
def test_an_entry_of_a_deleted_project_comes_back_in_no_other_one(
    home: Home, record: bytes, *, is_back: bool
) -> None:
    """A checkout makes the folder anew, and so may another repository."""
    site = home.notes / "projects/site"
    site.mkdir(parents=True)
    (site / ".project").write_bytes(SHOP)
    home.append("x", f"projects/site/{NOTE}")
    shutil.rmtree(site)
    home.write(STALE, f"projects/site/{NOTE}")
    if record:
        (site / ".project").write_bytes(record)

    assert len(home.recover()) == is_back


def test_an_entry_moved_into_a_large_note_is_no_loss(home: Home) -> None:
    """No note above the default limit was searched, so the entry came back."""
    home.append("x")
    text = (home.notes / NOTE).read_bytes()
    home.write(STALE)
    (home.notes / "large.md").write_bytes(text + b"- a bullet of a list\n" * 300_000)

    assert home.recover() == ()
    assert not (home.notes / RECOVERED).exists()


def test_a_vanished_note_is_a_loss_like_any_other(home: Home) -> None:
    """A checkout may take the whole file."""
    entry = home.append("x", "projects/site/a.md")
    shutil.rmtree(home.notes / "projects")

    [recovered] = home.recover()

    assert recovered.path == "projects/site/a.md"
    assert recovered.target == "projects/site/recovered.md"
    assert entry.id in home.text(recovered.target)


def test_a_note_deleted_after_ten_minutes_stays_deleted(home: Home) -> None:
    """The folder tells when."""
    home.append("x", "projects/a.md")
    home.later(700)
    (home.notes / "projects/a.md").unlink()
    os.utime(home.notes / "projects", (home.clock[0], home.clock[0]))

    assert home.recover() == ()


def test_an_entry_of_the_recovered_note_itself_comes_back(home: Home) -> None:
    """An agent may write there too."""
    entry = home.append("x", RECOVERED)
    home.write(b"# mine\n", RECOVERED)

    assert len(home.recover()) == 1
    assert home.text(RECOVERED).startswith("# mine\n")
    assert home.text(RECOVERED).count(entry.id) == 1
    home.write(b"# mine\n", RECOVERED)
    assert home.recover() == ()


def test_the_recovered_note_keeps_its_line_ends_and_its_text(home: Home) -> None:
    """It is a note like any other."""
    home.write(b"mine\r\nno newline", RECOVERED)
    home.append("a\nb")
    home.write(STALE)

    home.recover()

    assert home.read(RECOVERED).startswith(b"mine\r\nno newline\r\n\r\n\r\n<!-- hm id=")
    assert home.read(RECOVERED).count(b"\n") == home.read(RECOVERED).count(b"\r\n")


def test_a_look_without_a_loss_writes_nothing(home: Home) -> None:
    """It runs before every search within the ten minutes."""
    home.append("x")
    before = [path.stat().st_mtime_ns for path in sorted(home.path.rglob("*"))]

    with home.journal.session():  # and it needs no lock
        found = home.recover()

    assert found == ()
    after = [path.stat().st_mtime_ns for path in sorted(home.path.rglob("*"))]
    assert [a for a, b in zip(after, before, strict=True) if a != b][1:] == []


def test_an_editor_in_the_middle_of_saving_is_waited_for(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It empties the file, then writes what it holds: nothing is lost."""
    home.append("x")
    whole = home.read()
    steps = [b"", whole[:10], whole]
    home.write(b"", changed_s=home.clock[0])

    def save_on(_: float) -> None:
        if steps:
            data = steps.pop(0)
            home.write(data, changed_s=home.clock[0] + 1 - len(steps))

    monkeypatch.setattr(vanished_module.time, "sleep", save_on)

    assert home.recover() == ()
    assert steps == []


def test_writers_do_not_wait_while_a_look_waits_for_an_editor(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each note that had just changed was waited for with the lock held: 10 s and more.

    Under the lock there is one short pause at most, whatever the number of notes.
    """
    for number in range(5):
        home.append("x", f"{number}.md")
    for number in range(5):
        home.write(STALE, f"{number}.md", changed_s=home.clock[0])
    pauses: list[bool] = []
    monkeypatch.setattr(
        vanished_module.time, "sleep", lambda _: pauses.append(home.journal.is_busy())
    )

    found = home.recover()

    assert len(found) == 5
    assert pauses == [False] * 5


def test_what_changes_before_the_lock_is_taken_is_looked_at_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One entry is pasted back, another note is saved once more without it."""
    back, gone = home.append("one", "a.md"), home.append("two", "b.md")
    whole = home.read("a.md")
    home.write(STALE, "a.md")
    home.write(STALE, "b.md")
    real, pauses = vanished_module._still_lost, []

    def change_first(*given: Any) -> Any:
        home.write(whole, "a.md", changed_s=home.clock[0])
        home.write(STALE + b"more\n", "b.md", changed_s=home.clock[0])
        return real(*given)

    monkeypatch.setattr(vanished_module, "_still_lost", change_first)
    monkeypatch.setattr(vanished_module.time, "sleep", pauses.append)

    found = home.recover()

    assert [entry.id for entry in found] == [gone.id]
    assert back.id not in home.text(RECOVERED)
    assert len(pauses) == 1


def test_a_note_that_was_emptied_this_moment_is_looked_at_later(home: Home) -> None:
    """It may be an editor that is slow."""
    home.append("x")
    home.write(b"", changed_s=home.clock[0])

    assert home.recover() == ()
    home.later(3)
    assert len(home.recover()) == 1


def test_a_link_in_the_place_of_the_note_is_a_loss(home: Home) -> None:
    """The memory does not follow it, so its entries are gone from the answers."""
    home.append("x")
    os.rename(home.notes / NOTE, home.path / "elsewhere.md")
    (home.notes / NOTE).symlink_to(home.path / "elsewhere.md")

    assert len(home.recover()) == 1


def test_a_folder_that_is_not_mounted_is_no_loss(home: Home) -> None:
    """Nobody can tell what is on the drive."""
    home.append("x")
    os.rename(home.notes, home.path / "unmounted")

    assert home.recover() == ()
    os.rename(home.path / "unmounted", home.notes)
    assert home.journal.count_pending_entries(home.clock[0]) == 1


def test_two_folders_of_one_home_do_not_mix(home: Home) -> None:
    """`--memory-dir` chooses the notes, and the journal stays where it is."""
    other = home.path / "other"
    other.mkdir()
    writer = NoteWriter(
        NotesFolder(str(other)),
        home.journal,
        lambda: home.clock[0],
        lambda: os.urandom(10),
    )
    mine = home.append("in memory")
    theirs = writer.append(NOTE, "in other", at=AT)
    (other / NOTE).write_bytes(b"# stale\n")
    os.utime(other / NOTE, (home.clock[0] - 30, home.clock[0] - 30))

    [recovered] = home.recover()

    assert recovered.id == theirs.id
    assert theirs.id in (other / RECOVERED).read_text()
    assert mine.id in home.text()
    assert not (home.notes / RECOVERED).exists()


def test_a_recovered_note_that_is_a_link_is_refused_and_nothing_is_lost(
    home: Home,
) -> None:
    """The journal keeps the entry until it can be put back."""
    entry = home.append("x")
    home.write(STALE)
    (home.notes / RECOVERED).symlink_to(home.path / "elsewhere.md")

    with pytest.raises(NotSavedError, match="restored"):
        home.recover()
    home.later(700)
    home.append("a write is not hindered by it")
    (home.notes / RECOVERED).unlink()
    home.recover()

    assert entry.id in home.text(RECOVERED)


@pytest.mark.parametrize("name", ["write", "fsync", "open", "ftruncate"])
def test_a_fault_at_any_call_of_a_recovery_loses_and_doubles_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The next scan does what this one could not."""
    faults = Faults(name, errno.ENOSPC)
    while faults.has_next():
        mark = f"<{faults.fail_at}>"
        entries = [home.append(f"{n} {mark}\n" * 20) for n in range(3)]
        home.write(STALE)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, faults)
            error = refusal_of(home.recover)
        home.recover()

        text = home.text(RECOVERED)
        assert error is None or "disk is full" in str(error)
        assert [text.count(entry.id) for entry in entries] == [1, 1, 1]
        assert text.count(mark) == 60
        assert home.read() == STALE


def test_a_journal_with_damaged_text_does_not_stop_the_rest(home: Home) -> None:
    """One bad record hides only itself."""
    home.append("port 8080")
    good = home.append("good")
    data = home.journal_file.read_bytes()
    home.journal_file.write_bytes(data.replace(b"port 8080", b"port 8081"))
    home.write(STALE)

    recovered = home.recover()

    assert [entry.id for entry in recovered] == [good.id]
    assert NotePath("recovered.md") in home.folder.signatures()


def test_a_look_beside_a_writer_does_not_rewrite_the_journal(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches beside writers did, each with a sync, and all others read it anew."""
    home.append("Crane 1")
    file = home.path / "journal" / "entries.jsonl"
    before = os.stat(file).st_ino
    seen_early = home.journal.entries()
    reads = [tuple(replaced(one, state=BEGUN) for one in seen_early)]
    real = Journal.entries

    def entries(journal: Journal) -> tuple[JournalEntry, ...]:
        """Return what stood there while the writer was at work, the first time."""
        return reads.pop() if reads else real(journal)

    monkeypatch.setattr(Journal, "entries", entries)

    assert home.recover() == ()

    assert not reads
    assert os.stat(file).st_ino == before
    assert home.journal.entries() == seen_early


def test_an_entry_that_cannot_be_put_back_keeps_no_other_one_away(home: Home) -> None:
    """The recovered.md of one scope is a folder; those of others are as they should."""
    stuck = home.append("stuck", "projects/a/x.md")
    free = [home.append("free", "projects/b/x.md"), home.append("too", "z.md")]
    (home.notes / "projects/a/recovered.md").mkdir()
    for path in ("projects/a/x.md", "projects/b/x.md", "z.md"):
        home.write(STALE, path)

    with pytest.raises(NotSavedError, match=r"recovered\.md"):
        home.recover()

    assert free[0].id in home.text("projects/b/recovered.md")
    assert free[1].id in home.text(RECOVERED)
    assert [entry.id for entry in home.journal.entries()] == [stuck.id]
    (home.notes / "projects/a/recovered.md").rmdir()
    assert [entry.id for entry in home.recover()] == [stuck.id]
    assert home.text("projects/b/recovered.md").count(free[0].id) == 1
