"""Real events of the system, through both of our sources."""

from __future__ import annotations

import errno
import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.files.descriptors import identity_at
from hivemind_memory.watch import observer
from hivemind_memory.watch.observer import (
    PROBE_NAME,
    EventSource,
    InotifySource,
    Listener,
    ObserverSource,
)
from tests.watch.fakes import SOON_S
from tests.watch.styles import STYLES

needs_inotify = pytest.mark.skipif(not observer.HAS_INOTIFY, reason="Linux only")

Kind = Callable[[str, Listener], EventSource]


class Ear:
    """Hears a source."""

    def __init__(self) -> None:
        self.heard: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def __call__(self, *, is_complete: bool) -> None:
        self.heard.put(is_complete)

    def hears(self) -> bool:
        """Wait for a hint."""
        try:
            self.heard.get(timeout=SOON_S)
        except queue.Empty:
            return False
        return True

    def hears_whole(self, within_s: float = SOON_S) -> bool:
        """Wait for the hint of a change that is complete."""
        try:
            while not self.heard.get(timeout=within_s):
                pass
        except queue.Empty:
            return False
        return True

    def forget(self) -> None:
        """Drop what was heard so far."""
        while not self.heard.empty():
            self.heard.get()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    memory = tmp_path / "memory"
    (memory / "projects" / "deep").mkdir(parents=True)
    (memory / ".index").mkdir()
    (memory / "note.md").write_text("old text")
    (memory / "projects" / "deep" / "note.md").write_text("old text")
    return memory


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture(
    params=[pytest.param(InotifySource, marks=needs_inotify), ObserverSource],
    ids=["inotify", "observer"],
)
def source(
    request: pytest.FixtureRequest, folder: Path, ear: Ear
) -> Iterator[EventSource]:
    kind: Kind = request.param
    before = set(threading.enumerate())
    opened = kind(str(folder), ear)
    yield opened
    opened.close()
    assert set(threading.enumerate()) <= before, "a thread was left behind"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("place", ["note.md", "projects/deep/note.md"])
def test_every_way_to_save_is_heard(
    source: EventSource, folder: Path, ear: Ear, style: str, place: str
) -> None:
    """A save that is not heard stays invisible for a minute."""
    STYLES[style](folder / place, "old text and more")

    assert ear.hears()


@needs_inotify
@pytest.mark.parametrize("style", STYLES)
def test_the_end_of_a_save_is_known(folder: Path, ear: Ear, style: str) -> None:
    """Then the first save after a calm need not wait for the quiet time."""
    source = InotifySource(str(folder), ear)
    try:
        STYLES[style](folder / "note.md", "old text and more")

        assert ear.hears_whole()
    finally:
        source.close()


def test_reading_and_hidden_places_are_not_heard(
    source: EventSource, folder: Path, ear: Ear
) -> None:
    """Else each sync, which reads notes and writes the index, would ask for another."""
    (folder / "note.md").read_text()
    list(os.walk(folder))
    (folder / ".index" / "memory.db").write_text("postings")
    (folder / ".index" / "copy.md").write_text("not a note")
    (folder / ".hidden.md").write_text("not a note")
    (folder / "picture.png").write_text("not a note")
    source.probe()

    (folder / "last.md").mkdir()  # a single event, after all others
    assert ear.hears()

    assert ear.heard.empty()
    assert source.has_received_event()


def test_a_probe_leaves_nothing_and_is_no_hint(
    source: EventSource, folder: Path
) -> None:
    """The folder belongs to people; also what a killed process left is taken away."""
    (folder / PROBE_NAME).write_text("")

    source.probe()

    assert PROBE_NAME not in os.listdir(folder)


def test_a_folder_made_later_is_watched(
    source: EventSource, folder: Path, ear: Ear
) -> None:
    """A project begins with a new folder, and a note in it."""
    (folder / "new" / "newer").mkdir(parents=True)
    assert ear.hears()
    source.refresh()
    ear.forget()
    note = folder / "new" / "newer" / "note.md"

    # watchdog's own observer adds the watches of new folders when it gets to it, so the
    # first write may be too early for it; the rescan covers that.
    def is_heard() -> bool:
        note.write_text("text")
        return ear.hears_whole(within_s=SOON_S / 10)

    assert any(is_heard() for _ in range(10))


def test_a_folder_moved_in_is_watched(
    source: EventSource, folder: Path, ear: Ear, tmp_path: Path
) -> None:
    """A whole project may be moved here."""
    (tmp_path / "else" / "where").mkdir(parents=True)
    (tmp_path / "else").rename(folder / "else")
    assert ear.hears()
    source.refresh()
    ear.forget()

    (folder / "else" / "where" / "note.md").write_text("text")

    assert ear.hears_whole()


def test_it_knows_that_its_folder_was_replaced(
    source: EventSource, folder: Path
) -> None:
    """The watches stay with the moved folder; nothing there concerns us any more."""
    assert source.is_current()

    folder.rename(folder.with_name("old"))
    assert not source.is_current()
    folder.mkdir()

    assert not source.is_current()


@pytest.mark.parametrize(
    "kind", [pytest.param(InotifySource, marks=needs_inotify), ObserverSource]
)
def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, kind: Kind) -> None:
    """Not a source that never speaks; and no thread stays."""
    before = set(threading.enumerate())

    with pytest.raises(FileNotFoundError):
        kind(str(tmp_path / "absent"), Ear())

    assert set(threading.enumerate()) <= before


def test_without_events_of_the_system_there_is_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """watchdog would poll by itself; we do that better, and say so."""
    monkeypatch.setattr(observer, "Observer", observer.PollingObserver)

    with pytest.raises(OSError, match="no file events") as caught:
        ObserverSource(str(tmp_path), Ear())

    assert caught.value.errno == errno.ENOSYS


@needs_inotify
class TestInotify:
    """What watchdog's own observer would not tell."""

    @pytest.fixture
    def inotify(self, folder: Path, ear: Ear) -> Iterator[InotifySource]:
        source = InotifySource(str(folder), ear)
        yield source
        source.close()

    def test_hidden_folders_have_no_watch(
        self, inotify: InotifySource, folder: Path
    ) -> None:
        """Each write to the index would wake this process for nothing."""
        watched = set(inotify._watches)

        assert identity_at(str(folder / "projects" / "deep")) in watched
        assert identity_at(str(folder / ".index")) not in watched
        assert len(watched) == 3

    def test_watches_of_folders_that_left_are_given_back(
        self, inotify: InotifySource, folder: Path, ear: Ear, tmp_path: Path
    ) -> None:
        """Moved out, hidden or deleted: the whole machine shares their number."""
        (folder / "projects").rename(tmp_path / "projects")
        assert ear.hears()
        inotify.refresh()

        assert list(inotify._watches) == [identity_at(str(folder))]
        assert list(inotify._identities.values()) == list(inotify._watches)

    def test_a_moved_folder_is_still_watched(
        self, inotify: InotifySource, folder: Path, ear: Ear
    ) -> None:
        """Its watch moves with it."""
        (folder / "projects").rename(folder / "work")
        assert ear.hears()
        inotify.refresh()
        ear.forget()

        (folder / "work" / "deep" / "note.md").write_text("text")

        assert ear.hears_whole()
        assert len(inotify._watches) == 3

    def test_a_deleted_folder_is_forgotten_without_a_refresh(
        self, inotify: InotifySource, folder: Path, ear: Ear
    ) -> None:
        """Its number may soon belong to another folder."""
        (folder / "empty").mkdir()
        assert ear.hears()
        inotify.refresh()
        assert len(inotify._watches) == 4

        (folder / "empty").rmdir()
        (folder / "note.md").write_text("text")
        assert ear.hears_whole()

        assert len(inotify._watches) == 3

    def test_a_link_to_the_notes_folder_is_followed(
        self, folder: Path, ear: Ear, tmp_path: Path
    ) -> None:
        """Many keep their notes elsewhere and link them in."""
        (tmp_path / "link").symlink_to(folder)
        source = InotifySource(str(tmp_path / "link"), ear)

        (folder / "projects" / "deep" / "note.md").write_text("text")

        assert ear.hears_whole()
        assert source.is_current()
        source.close()

    def test_links_inside_the_folder_are_not_followed(
        self, folder: Path, ear: Ear, tmp_path: Path
    ) -> None:
        """A link to ``/`` would take all watches of the machine."""
        (folder / "root").symlink_to("/")
        (folder / "loop").symlink_to(folder)

        source = InotifySource(str(folder), ear)

        assert len(source._watches) == 3
        source.close()

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOMEM])
    def test_a_missing_watch_is_an_error(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        """Of the lowest folder too; a folder without a watch would go stale unseen."""
        before = set(threading.enumerate())
        add = observer.InotifyFD.add_callback

        def refuse(self: object, path: bytes, *rest: object) -> object:
            if path.endswith(b"deep"):
                raise OSError(number, "no")
            return add(self, path, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(observer.InotifyFD, "add_callback", refuse)

        with pytest.raises(OSError, match="no") as caught:
            InotifySource(str(folder), Ear())

        assert caught.value.errno == number
        assert set(threading.enumerate()) <= before

    def test_a_folder_that_may_not_be_read_is_left_out(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, ear: Ear
    ) -> None:
        """One closed folder must not cost all others their events."""
        scandir = os.scandir

        def refuse(path: str) -> object:
            if path.endswith("deep"):
                raise PermissionError(errno.EACCES, "no")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        source = InotifySource(str(folder), ear)

        (folder / "note.md").write_text("text")

        assert ear.hears_whole()
        source.close()

    def test_lost_events_become_a_hint(
        self, folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A real overflow: more events than the kernel keeps while nobody reads."""
        limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
        if limit > 20_000:
            pytest.skip("the queue of this machine is too long to fill in a test")
        is_reading, may_go_on = threading.Event(), threading.Event()
        hints: queue.SimpleQueue[bool] = queue.SimpleQueue()

        def listen(*, is_complete: bool) -> None:
            is_reading.set()
            may_go_on.wait(SOON_S)
            hints.put(is_complete)

        source = InotifySource(str(folder), listen)
        (folder / "note.md").write_text("text")
        assert is_reading.wait(SOON_S)
        names = [str(folder / "a.md"), str(folder / "b.md")]
        os.link(folder / "note.md", names[0])
        for _ in range(limit // 2 + 10):  # two events each, no two alike in a row
            os.rename(names[0], names[1])
            names.reverse()
        (folder / "made meanwhile").mkdir()  # its event is lost

        with caplog.at_level(logging.WARNING):
            may_go_on.set()
            while not source._has_new_tree:  # a hint follows the mark
                hints.get(timeout=SOON_S)
        assert any("overflowed" in line for line in caplog.messages)
        source.refresh()
        made = identity_at(str(folder / "made meanwhile"))

        assert made in source._watches
        source.close()

    def test_no_instance_left_is_an_error(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The other limit of the system: 128 for one person by default."""

        def refuse(*_: object) -> int:
            raise OSError(errno.EMFILE, "no")

        monkeypatch.setattr(observer.InotifyFD, "_create_inotify_fd", refuse)

        with pytest.raises(OSError, match="no"):
            observer.open_source(str(folder), Ear())
