"""A search sees every change that was finished before it began, by any process.

Without a watcher, without events, whether this process looked a moment ago or never.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.errors import HivemindError, NotesMissingError
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.index.sqlite import notes
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model import snapshot
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.redaction import redact
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths

OLD = "# Title\n\nthe old text\n"
NEW = "# Title\n\nthe new text\n"
assert len(OLD) == len(NEW)

Change = Callable[[Sandbox], object]


def edit_secretly(sandbox: Sandbox) -> None:
    """The same size, and the time of the last edit set back."""
    file = sandbox.notes / "note.md"
    before = file.stat()
    file.write_text(NEW)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def save_over_secretly(sandbox: Sandbox) -> None:
    before = (sandbox.notes / "note.md").stat()
    file = sandbox.save_over("note.md", NEW)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def swap_folders(sandbox: Sandbox) -> None:
    """A checkout: the whole folder is another one now."""
    other = sandbox.home / "other"
    shutil.copytree(sandbox.notes / "deep", other)
    (other / "note.md").write_text(NEW)
    (sandbox.notes / "deep").rename(sandbox.home / "away")
    other.rename(sandbox.notes / "deep")


def edit_through_a_map(sandbox: Sandbox) -> None:
    import mmap

    with (sandbox.notes / "note.md").open("r+b") as file:
        with mmap.mmap(file.fileno(), 0) as view:
            view[:] = NEW.encode()
            view.flush()
        os.utime(sandbox.notes / "note.md")


CHANGES: dict[str, Change] = {
    "edit": lambda sandbox: sandbox.save("note.md", NEW),
    "edit-secretly": edit_secretly,
    "save-over": lambda sandbox: sandbox.save_over("note.md", NEW),
    "save-over-secretly": save_over_secretly,
    "map": edit_through_a_map,
    "create": lambda sandbox: sandbox.save("other.md", NEW),
    "create-deep": lambda sandbox: sandbox.save("a/b/c/other.md", NEW),
    "rename": lambda sandbox: sandbox.save("x.txt", NEW).rename(
        sandbox.notes / "x.md"
    ),  # the name makes it one
    "move-in": lambda sandbox: (
        (sandbox.home / "out.md").write_text(NEW),
        (sandbox.home / "out.md").rename(sandbox.notes / "in.md"),
    ),
    "move-folder-in": lambda sandbox: (
        (sandbox.home / "out").mkdir(),
        (sandbox.home / "out" / "in.md").write_text(NEW),
        (sandbox.home / "out").rename(sandbox.notes / "in"),
    ),
    "swap-folders": swap_folders,
    "append-by-descriptor": lambda sandbox: _append(sandbox.notes / "note.md", NEW),
}
GONE: dict[str, Change] = {
    "delete": lambda sandbox: (sandbox.notes / "note.md").unlink(),
    "rename-away": lambda sandbox: (sandbox.notes / "note.md").rename(
        sandbox.notes / "note.txt"
    ),
    "move-out": lambda sandbox: (sandbox.notes / "note.md").rename(
        sandbox.home / "note.md"
    ),
    "a-link-now": lambda sandbox: (
        (sandbox.notes / "note.md").rename(sandbox.home / "note.md"),
        (sandbox.notes / "note.md").symlink_to(sandbox.home / "note.md"),
    ),
    "into-dot-folder": lambda sandbox: (
        (sandbox.notes / ".hidden").mkdir(),
        (sandbox.notes / "note.md").rename(sandbox.notes / ".hidden" / "note.md"),
    ),
    "empty": lambda sandbox: (sandbox.notes / "note.md").write_text(""),
}


def _append(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, text.encode())
    os.close(descriptor)


def elsewhere(work: Callable[[], object]) -> None:
    """Do something in another process, and wait until it is done."""
    pid = os.fork()
    if not pid:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


@pytest.fixture
def sandbox(sandbox: Sandbox) -> Sandbox:
    """Two notes, old enough that their signatures prove something."""
    sandbox.save("note.md", OLD)
    sandbox.save("deep/note.md", "nothing here\n")
    return sandbox


def learn_scan(sandbox: Sandbox) -> None:
    """Have the index know which scan of the folder it is equal to."""
    sandbox.ahead_s += 10  # now every note is old
    with sandbox.memory() as memory:
        for _ in range(2):
            assert paths(ask(memory, "old")) == ["note.md"]
    index = SqliteIndex(str(sandbox.index_file), now=time.time)
    assert index.scan_digest()
    index.close()


@pytest.fixture(params=["at first", "again", "again and again", "the scan is known"])
def asked(request: pytest.FixtureRequest, sandbox: Sandbox, memory: Memory) -> Memory:
    """A memory that has looked never, once, or so often that it has the kernel look.

    Or one that has never looked, and an index that knows the scan it is equal to.
    """
    if request.param == "the scan is known":
        learn_scan(sandbox)
        return memory
    with mock.patch.object(snapshot, "SETTLED_NS", 20_000_000):
        time.sleep(0.03)
        for _ in range(
            {"at first": 0, "again": 1, "again and again": 4}[request.param]
        ):
            assert paths(ask(memory, "old")) == ["note.md"]
    return memory


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_search_sees_what_was_written_just_before(
    sandbox: Sandbox, asked: Memory, change: Change
) -> None:
    """A search sees every change that finished before it, however the file changed."""
    elsewhere(lambda: change(sandbox))

    answer = ask(asked, "new")

    assert len(answer.hits) == 1
    assert answer.report.is_fresh
    assert difference_from_fresh(sandbox, asked, ("new", "old")) == []


@pytest.mark.parametrize("change", GONE.values(), ids=GONE)
def test_a_search_does_not_see_what_went_just_before(
    sandbox: Sandbox, asked: Memory, change: Change
) -> None:
    """A deleted note leaves the answers at once."""
    elsewhere(lambda: change(sandbox))

    answer = ask(asked, "old text")

    assert answer.hits == ()
    assert difference_from_fresh(sandbox, asked) == []


def test_a_known_scan_saves_reading_what_the_index_knows(sandbox: Sandbox) -> None:
    """It looks at every note all the same."""
    learn_scan(sandbox)

    with (
        mock.patch.object(notes, "indexed_files", side_effect=AssertionError),
        sandbox.memory() as memory,
    ):
        answer = ask(memory, "old")

    assert paths(answer) == ["note.md"]
    assert answer.report.is_fresh


def test_a_young_note_leaves_no_known_scan(sandbox: Sandbox) -> None:
    """Its signature may be that of a later edit, too, so its bytes are compared."""
    learn_scan(sandbox)
    sandbox.ahead_s = 0
    sandbox.save("deep/note.md", "something young\n")

    with sandbox.memory() as memory:
        for _ in range(3):
            assert paths(ask(memory, "young")) == ["deep/note.md"]
        index = SqliteIndex(str(sandbox.index_file), now=time.time)

    assert index.scan_digest() == ""
    index.close()


def test_two_edits_within_one_tick_are_both_seen(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A file that was young when it was read proves nothing by its signature."""
    for number in range(40):
        text = f"count {number:03}\n"
        file = sandbox.save("note.md", text)
        os.utime(file, (1_700_000_000, 1_700_000_000))

        assert paths(ask(memory, f"{number:03}")) == ["note.md"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs inotify")
def test_of_young_notes_only_those_that_changed_are_read_again(
    sandbox: Sandbox,
) -> None:
    """Others write dozens a second, and each call once read those of two seconds."""
    for number in range(20):
        sandbox.save(f"young-{number}.md", f"young {number}\n")
    read: list[str] = []
    original = NotesFolder.read

    def recorded(folder: NotesFolder, path: NotePath, **rest: Any) -> Any:
        read.append(path)
        return original(folder, path, **rest)

    now_s = [1_000.0]
    sandbox.stopwatch = lambda: now_s[0]
    with (
        sandbox.memory() as memory,
        mock.patch.object(snapshot, "SETTLED_NS", 10**15),
        mock.patch.object(NotesFolder, "read", recorded),
    ):
        for _ in range(3):
            ask(memory, "young")
        read.clear()
        sandbox.save("young-7.md", "seven\n")
        assert paths(ask(memory, "seven")) == ["young-7.md"]
        assert set(read) == {"young-7.md"}

        read.clear()
        now_s[0] += 1.0
        ask(memory, "young")
        assert {f"young-{number}.md" for number in range(20)} <= set(read)


def test_what_changes_after_a_long_pause_in_reading_is_seen(sandbox: Sandbox) -> None:
    """The process slept between reading a young note and looking at the clock.

    What was written meanwhile may bear the very same signature.
    """
    from hivemind_memory.files import folder

    shutil.rmtree(sandbox.notes / "deep")
    original = folder._read_quiet

    def read_and_sleep(descriptor: int, max_bytes: int | None) -> object:
        read = original(descriptor, max_bytes)
        sandbox.ahead_s += 10
        return read

    with (
        sandbox.memory() as memory,
        mock.patch.object(folder, "_read_quiet", read_and_sleep),
    ):
        memory.sync()

        index = SqliteIndex(str(sandbox.index_file), now=time.time)
        assert "note.md" in index.files().unsettled
        index.close()


def test_what_another_process_wrote_is_found(sandbox: Sandbox, memory: Memory) -> None:
    """Each search, in turn, of two processes that both write."""
    for number in range(5):
        elsewhere(
            lambda n=number: sandbox.memory().write(f"from there {n}", file="a.md")
        )
        memory.write(f"from here {number}", file="b.md")

        assert len(ask(memory, f"there {number}").hits) >= 1
        assert sorted(set(paths(ask(memory, str(number))))) == ["a.md", "b.md"]

    assert difference_from_fresh(sandbox, memory, ("from", "here", "there")) == []


@pytest.mark.parametrize("what", ["folder", "file", "contents"])
def test_an_index_that_is_deleted_under_a_running_process_is_made_again(
    sandbox: Sandbox, asked: Memory, what: str
) -> None:
    """Tenet 2: delete the index and no knowledge is gone."""
    ask(asked, "old")
    folder = Path(asked.places.index)
    if what == "folder":
        elsewhere(lambda: shutil.rmtree(folder))
    elif what == "file":
        elsewhere(sandbox.index_file.unlink)
    else:
        elsewhere(lambda: [file.unlink() for file in folder.iterdir()])
    sandbox.save("other.md", NEW)

    answer = ask(asked, "text")

    assert sorted(paths(answer)) == ["note.md", "other.md"]
    assert answer.report.warnings == ()
    assert difference_from_fresh(sandbox, asked) == []


def test_without_a_folder_of_notes_a_search_says_so(
    sandbox: Sandbox, asked: Memory
) -> None:
    """A drive that is not mounted; an empty answer would be a lie."""
    shutil.rmtree(sandbox.notes)

    with pytest.raises(NotesMissingError, match="no notes folder"):
        ask(asked, "old")

    sandbox.save("note.md", NEW)
    assert paths(ask(asked, "new")) == ["note.md"]


def test_an_index_elsewhere_outlives_a_drive_that_is_not_mounted(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """It must not forget everything because the folder is away for a minute."""
    with sandbox.memory(index_dir=str(tmp_path / "index")) as memory:
        places = memory.places
        ask(memory, "old")
    sandbox.notes.rename(tmp_path / "away")

    with sandbox.memory(places) as memory, pytest.raises(HivemindError):
        ask(memory, "old")
    (tmp_path / "away").rename(sandbox.notes)

    with sandbox.memory(places) as memory:
        progress: list[str] = []
        memory.sync(progress=lambda phase, *_: progress.append(phase))
        assert paths(ask(memory, "old")) == ["note.md"]


def test_a_note_that_cannot_be_read_hides_no_other(
    sandbox: Sandbox, asked: Memory
) -> None:
    """One bad file never hides the others; such a note once ended every search."""
    ask(asked, "old")
    sandbox.save("bad.md", "the old secret\n")
    original = OpenFolder.open_file

    def open_file(folder: OpenFolder, name: str, flags: int) -> int:
        if name == "bad.md":
            raise PermissionError(13, "Permission denied")
        return original(folder, name, flags)

    with mock.patch.object(OpenFolder, "open_file", open_file):
        answer = ask(asked, "old")
        skipped = asked.sync().skipped

    assert paths(answer) == ["note.md"]
    assert answer.report.skipped_notes == 1
    assert [(one.path, "permission" in one.reason) for one in skipped] == [
        ("bad.md", True)
    ]
    assert sorted(paths(ask(asked, "old"))) == ["bad.md", "note.md"]


@pytest.mark.parametrize("old", ["", "The first line.\n"], ids=["new", "grown"])
def test_a_note_that_a_rule_fails_on_hides_no_other(
    sandbox: Sandbox, asked: Memory, old: str
) -> None:
    """A rule that failed on one line of one note once ended every sync."""
    if old:
        sandbox.save("bad.md", old)
    ask(asked, "old")
    sandbox.save("bad.md", f"{old}An old line that breaks a rule.\n")
    sandbox.save("new.md", "old and new\n")
    original = redact.scrub

    def scrub(text: str, known: tuple[str, ...] = ()) -> redact.RedactedText:
        if "breaks a rule" in text:
            raise IndexError("string index out of range")
        return original(text, known)

    with mock.patch.object(redact, "scrub", scrub):
        answer = ask(asked, "old")
        skipped = asked.sync().skipped

    assert paths(answer) == ["new.md", "note.md"]
    assert answer.report.skipped_notes == 1
    assert [(note.path, "a bug in hm" in note.reason) for note in skipped] == [
        ("bad.md", True)
    ]
    assert paths(ask(asked, "breaks")) == ["bad.md"]


@pytest.mark.parametrize("number", [24, 23, 5, 116, 12], ids=os.strerror)
def test_a_note_that_cannot_be_read_now_is_not_gone(
    sandbox: Sandbox, memory: Memory, number: int
) -> None:
    """With too many open files every note left the index, and came back as a new one.

    What the index holds may be outdated by then, so the answer is not called fresh.
    """
    sandbox.save("zebra.md", "The zebra is striped.\n")
    ask(memory, "zebra")
    (sandbox.notes / "zebra.md").chmod(0o600)
    original = OpenFolder.open_file

    def open_file(folder: OpenFolder, name: str, flags: int) -> int:
        if name == "zebra.md":
            raise OSError(number, os.strerror(number))
        return original(folder, name, flags)

    with mock.patch.object(OpenFolder, "open_file", open_file):
        answer = ask(memory, "zebra")
        [skipped] = memory.status().skipped

    assert paths(answer) == ["zebra.md"]
    assert not answer.report.is_fresh
    assert (answer.report.stale_notes, answer.report.skipped_notes) == (1, 1)
    assert (skipped.path, "cannot be read" in skipped.reason) == ("zebra.md", True)
    (sandbox.notes / "zebra.md").chmod(0o600)
    assert ask(memory, "zebra").report.is_fresh


@pytest.mark.parametrize("number", [24, 5], ids=os.strerror)
def test_the_notes_of_a_folder_that_cannot_be_listed_now_are_not_gone(
    sandbox: Sandbox, memory: Memory, number: int
) -> None:
    """They left the index with the first scan that could not enter their folder."""
    sandbox.save("deep/inner.md", "the old zebra\n")
    assert sorted(paths(ask(memory, "old"))) == ["deep/inner.md", "note.md"]
    original = OpenFolder.child

    def child(folder: OpenFolder, name: str) -> OpenFolder:
        if name == "deep":
            raise OSError(number, os.strerror(number))
        return original(folder, name)

    with mock.patch.object(OpenFolder, "child", child):
        sandbox.save("other.md", "another one\n")
        answer = ask(memory, "old")
        synced = memory.sync()

    assert sorted(paths(answer)) == ["deep/inner.md", "note.md"]
    assert not answer.report.is_fresh
    assert synced.removed == 0
    assert [skipped.path for skipped in synced.skipped] == ["deep/"]
    assert ask(memory, "old").report.is_fresh
    (sandbox.notes / "deep" / "inner.md").unlink()
    assert paths(ask(memory, "old")) == ["note.md"]


@contextmanager
def forbidden(name: str, method: str, number: int) -> Iterator[None]:
    """Have the system refuse one name in every folder."""
    original = getattr(OpenFolder, method)

    def refuse(folder: OpenFolder, given: str, *rest: int) -> object:
        if given == name:
            raise OSError(number, os.strerror(number))
        return original(folder, given, *rest)

    with mock.patch.object(OpenFolder, method, refuse):
        yield


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM], ids=os.strerror)
def test_a_note_that_a_person_forbids_to_read_leaves_the_answers(
    sandbox: Sandbox, memory: Memory, number: int
) -> None:
    """It stayed in them after a chmod, though whoever forbids reading means it."""
    memory.write("The zebra is striped.", file="zebra.md")
    assert paths(ask(memory, "zebra")) == ["zebra.md"]
    (sandbox.notes / "zebra.md").chmod(0o000)

    with forbidden("zebra.md", "open_file", number):
        answer = ask(memory, "zebra")
        status = memory.status()
        again = ask(memory, "zebra")
        synced = memory.sync()

    assert paths(answer) == paths(again) == []
    assert (answer.report.is_fresh, answer.report.skipped_notes) == (True, 1)
    [skipped] = status.skipped
    assert "cannot be read: permission is denied" in skipped.reason
    assert status.stale_notes == 0
    assert (synced.recovered, synced.removed) == (0, 0)
    answer = ask(memory, "zebra")  # it may be read again
    assert paths(answer) == ["zebra.md"]
    assert answer.report.is_fresh
    assert not memory.sync().recovered


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM], ids=os.strerror)
def test_the_notes_of_a_forbidden_folder_leave_the_answers(
    sandbox: Sandbox, memory: Memory, number: int
) -> None:
    """None of them counts as deleted: what was written there is not restored."""
    memory.write("The zebra is striped.", file="deep/inner.md")
    assert paths(ask(memory, "zebra")) == ["deep/inner.md"]

    with forbidden("deep", "child", number):
        (sandbox.notes / "deep").chmod(0o700)
        answer = ask(memory, "zebra")
        synced = memory.sync()
        [skipped] = memory.status().skipped

    assert paths(answer) == []
    assert (answer.report.is_fresh, answer.report.skipped_notes) == (True, 1)
    assert (synced.recovered, [one.path for one in synced.skipped]) == (0, ["deep/"])
    assert "cannot be listed" in skipped.reason
    (sandbox.notes / "deep").chmod(0o755)
    assert paths(ask(memory, "zebra")) == ["deep/inner.md"]
    assert not memory.sync().recovered


def test_a_touch_on_another_day_is_another_day(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A note without a date of its own ages by its last edit."""
    ask(memory, "old")

    sandbox.age("note.md", 86_400 * 400)

    [hit] = ask(memory, "old").hits
    assert hit.date == time.strftime(
        "%Y-%m-%d", time.gmtime(time.time() - 86_400 * 400)
    )
    assert difference_from_fresh(sandbox, memory) == []
