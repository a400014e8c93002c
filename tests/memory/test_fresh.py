"""A search sees every change that was finished before it began, by any process.

Without a watcher, without events, whether this process looked a moment ago or never.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from hivemind_memory.errors import HivemindError, NotesMissingError
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.index.sqlite import notes
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.memory.service import Memory
from hivemind_memory.model import snapshot
from tests.support.sandbox import House, ask, difference_from_fresh, paths

OLD = "# Title\n\nthe old text\n"
NEW = "# Title\n\nthe new text\n"
assert len(OLD) == len(NEW)

Change = Callable[[House], object]


def edit_secretly(house: House) -> None:
    """The same size, and the time of the last edit set back."""
    file = house.notes / "note.md"
    before = file.stat()
    file.write_text(NEW)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def save_over_secretly(house: House) -> None:
    before = (house.notes / "note.md").stat()
    file = house.save_over("note.md", NEW)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def swap_folders(house: House) -> None:
    """A checkout: the whole folder is another one now."""
    other = house.home / "other"
    shutil.copytree(house.notes / "deep", other)
    (other / "note.md").write_text(NEW)
    (house.notes / "deep").rename(house.home / "away")
    other.rename(house.notes / "deep")


def edit_through_a_map(house: House) -> None:
    import mmap

    with (house.notes / "note.md").open("r+b") as file:
        with mmap.mmap(file.fileno(), 0) as view:
            view[:] = NEW.encode()
            view.flush()
        os.utime(house.notes / "note.md")


CHANGES: dict[str, Change] = {
    "edit": lambda house: house.save("note.md", NEW),
    "edit-secretly": edit_secretly,
    "save-over": lambda house: house.save_over("note.md", NEW),
    "save-over-secretly": save_over_secretly,
    "map": edit_through_a_map,
    "create": lambda house: house.save("other.md", NEW),
    "create-deep": lambda house: house.save("a/b/c/other.md", NEW),
    "rename": lambda house: house.save("x.txt", NEW).rename(
        house.notes / "x.md"
    ),  # the name makes it one
    "move-in": lambda house: (
        (house.home / "out.md").write_text(NEW),
        (house.home / "out.md").rename(house.notes / "in.md"),
    ),
    "move-folder-in": lambda house: (
        (house.home / "out").mkdir(),
        (house.home / "out" / "in.md").write_text(NEW),
        (house.home / "out").rename(house.notes / "in"),
    ),
    "swap-folders": swap_folders,
    "append-by-descriptor": lambda house: _append(house.notes / "note.md", NEW),
}
GONE: dict[str, Change] = {
    "delete": lambda house: (house.notes / "note.md").unlink(),
    "rename-away": lambda house: (house.notes / "note.md").rename(
        house.notes / "note.txt"
    ),
    "move-out": lambda house: (house.notes / "note.md").rename(house.home / "note.md"),
    "a-link-now": lambda house: (
        (house.notes / "note.md").rename(house.home / "note.md"),
        (house.notes / "note.md").symlink_to(house.home / "note.md"),
    ),
    "into-dot-folder": lambda house: (
        (house.notes / ".hidden").mkdir(),
        (house.notes / "note.md").rename(house.notes / ".hidden" / "note.md"),
    ),
    "empty": lambda house: (house.notes / "note.md").write_text(""),
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
def house(house: House) -> House:
    """Two notes, old enough that their signatures prove something."""
    house.save("note.md", OLD)
    house.save("deep/note.md", "nothing here\n")
    return house


def learn_scan(house: House) -> None:
    """Have the index know which scan of the folder it is equal to."""
    house.ahead_s += 10  # now every note is old
    with house.memory() as memory:
        for _ in range(2):
            assert paths(ask(memory, "old")) == ["note.md"]
    index = SqliteIndex(str(house.index_file), now=time.time)
    assert index.scan_digest()
    index.close()


@pytest.fixture(params=["at first", "again", "again and again", "the scan is known"])
def asked(request: pytest.FixtureRequest, house: House, memory: Memory) -> Memory:
    """A memory that has looked never, once, or so often that it has the kernel look.

    Or one that has never looked, and an index that knows the scan it is equal to.
    """
    if request.param == "the scan is known":
        learn_scan(house)
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
    house: House, asked: Memory, change: Change
) -> None:
    """A search sees every change that finished before it, however the file changed."""
    elsewhere(lambda: change(house))

    answer = ask(asked, "new")

    assert len(answer.hits) == 1
    assert answer.report.is_fresh
    assert difference_from_fresh(house, asked, ("new", "old")) == []


@pytest.mark.parametrize("change", GONE.values(), ids=GONE)
def test_a_search_does_not_see_what_went_just_before(
    house: House, asked: Memory, change: Change
) -> None:
    """A deleted note leaves the answers at once."""
    elsewhere(lambda: change(house))

    answer = ask(asked, "old text")

    assert answer.hits == ()
    assert difference_from_fresh(house, asked) == []


def test_a_known_scan_saves_reading_what_the_index_knows(house: House) -> None:
    """It looks at every note all the same."""
    learn_scan(house)

    with (
        mock.patch.object(notes, "indexed_files", side_effect=AssertionError),
        house.memory() as memory,
    ):
        answer = ask(memory, "old")

    assert paths(answer) == ["note.md"]
    assert answer.report.is_fresh


def test_a_young_note_leaves_no_known_scan(house: House) -> None:
    """Its signature may be that of a later edit, too, so its bytes are compared."""
    learn_scan(house)
    house.ahead_s = 0
    house.save("deep/note.md", "something young\n")

    with house.memory() as memory:
        for _ in range(3):
            assert paths(ask(memory, "young")) == ["deep/note.md"]
        index = SqliteIndex(str(house.index_file), now=time.time)

    assert index.scan_digest() == ""
    index.close()


def test_two_edits_within_one_tick_are_both_seen(house: House, memory: Memory) -> None:
    """A file that was young when it was read proves nothing by its signature."""
    for number in range(40):
        text = f"count {number:03}\n"
        file = house.save("note.md", text)
        os.utime(file, (1_700_000_000, 1_700_000_000))

        assert paths(ask(memory, f"{number:03}")) == ["note.md"]


def test_what_changes_after_a_long_pause_in_reading_is_seen(house: House) -> None:
    """The process slept between reading a young note and looking at the clock.

    What was written meanwhile may bear the very same signature.
    """
    from hivemind_memory.files import folder

    shutil.rmtree(house.notes / "deep")
    original = folder._read_quiet

    def read_and_sleep(descriptor: int, max_bytes: int | None) -> object:
        read = original(descriptor, max_bytes)
        house.ahead_s += 10
        return read

    with (
        house.memory() as memory,
        mock.patch.object(folder, "_read_quiet", read_and_sleep),
    ):
        memory.sync()

        index = SqliteIndex(str(house.index_file), now=time.time)
        assert "note.md" in index.files().unsettled
        index.close()


def test_what_another_process_wrote_is_found(house: House, memory: Memory) -> None:
    """Each search, in turn, of two processes that both write."""
    for number in range(5):
        elsewhere(lambda n=number: house.memory().write(f"from there {n}", file="a.md"))
        memory.write(f"from here {number}", file="b.md")

        assert len(ask(memory, f"there {number}").hits) >= 1
        assert sorted(set(paths(ask(memory, str(number))))) == ["a.md", "b.md"]

    assert difference_from_fresh(house, memory, ("from", "here", "there")) == []


@pytest.mark.parametrize("what", ["folder", "file", "contents"])
def test_an_index_that_is_deleted_under_a_running_process_is_made_again(
    house: House, asked: Memory, what: str
) -> None:
    """Tenet 2: delete the index and no knowledge is gone."""
    ask(asked, "old")
    folder = Path(asked.places.index)
    if what == "folder":
        elsewhere(lambda: shutil.rmtree(folder))
    elif what == "file":
        elsewhere(house.index_file.unlink)
    else:
        elsewhere(lambda: [file.unlink() for file in folder.iterdir()])
    house.save("other.md", NEW)

    answer = ask(asked, "text")

    assert sorted(paths(answer)) == ["note.md", "other.md"]
    assert answer.report.warnings == ()
    assert difference_from_fresh(house, asked) == []


def test_without_a_folder_of_notes_a_search_says_so(
    house: House, asked: Memory
) -> None:
    """A drive that is not mounted; an empty answer would be a lie."""
    shutil.rmtree(house.notes)

    with pytest.raises(NotesMissingError, match="no notes folder"):
        ask(asked, "old")

    house.save("note.md", NEW)
    assert paths(ask(asked, "new")) == ["note.md"]


def test_an_index_elsewhere_outlives_a_drive_that_is_not_mounted(
    house: House, tmp_path: Path
) -> None:
    """It must not forget everything because the folder is away for a minute."""
    with house.memory(index_dir=str(tmp_path / "index")) as memory:
        places = memory.places
        ask(memory, "old")
    house.notes.rename(tmp_path / "away")

    with house.memory(places) as memory, pytest.raises(HivemindError):
        ask(memory, "old")
    (tmp_path / "away").rename(house.notes)

    with house.memory(places) as memory:
        progress: list[str] = []
        memory.sync(progress=lambda phase, *_: progress.append(phase))
        assert paths(ask(memory, "old")) == ["note.md"]


def test_a_note_that_cannot_be_read_hides_no_other(house: House, asked: Memory) -> None:
    """One bad file never hides the others; such a note once ended every search."""
    ask(asked, "old")
    house.save("bad.md", "the old secret\n")
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


def test_a_note_that_may_not_be_read_any_more_is_not_answered_from_memory(
    house: House, memory: Memory
) -> None:
    """Its owner took it away; and the index stays what a rebuild would make."""
    ask(memory, "old")
    (house.notes / "note.md").chmod(0o600)
    original = OpenFolder.open_file

    def open_file(folder: OpenFolder, name: str, flags: int) -> int:
        if name == "note.md":
            raise PermissionError(13, "Permission denied")
        return original(folder, name, flags)

    with mock.patch.object(OpenFolder, "open_file", open_file):
        assert paths(ask(memory, "old")) == []

    (house.notes / "note.md").chmod(0o600)
    assert paths(ask(memory, "old")) == ["note.md"]


def test_a_touch_on_another_day_is_another_day(house: House, memory: Memory) -> None:
    """A note without a date of its own ages by its last edit."""
    ask(memory, "old")

    house.age("note.md", 86_400 * 400)

    [hit] = ask(memory, "old").hits
    assert hit.date == time.strftime(
        "%Y-%m-%d", time.gmtime(time.time() - 86_400 * 400)
    )
    assert difference_from_fresh(house, memory) == []
