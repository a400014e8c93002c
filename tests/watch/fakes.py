"""A memory that only looks, a source that says what it is told, a running watcher."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hivemind_memory.model.results import EmbedResult, SyncResult
from hivemind_memory.watch.change_detector import ChangeDetector, ChangeDetectorSettings
from hivemind_memory.watch.events import WatchEvent
from hivemind_memory.watch.leader import Leadership
from hivemind_memory.watch.leader_loop import WatchSettings
from hivemind_memory.watch.observer import Listener, OpenSource, open_source
from hivemind_memory.watch.watcher import Watcher

SOON_S = 60.0
"""Longest wait for something that takes milliseconds on an idle machine."""


class FolderMemory:
    """Remembers what the notes held at its last sync."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: dict[str, bytes] = {}
        self.syncs = 0
        self.embeds = 0
        self.errors: list[Exception] = []
        self._changed = threading.Condition()

    def sync(self) -> SyncResult:
        with self._changed:
            self.syncs += 1
            if self.errors:
                self._changed.notify_all()
                raise self.errors.pop()
            now = dict(read_notes(self.folder))
            old, self.notes = self.notes, now
            self._changed.notify_all()
        return SyncResult(
            added=len(now.keys() - old.keys()),
            removed=len(old.keys() - now.keys()),
            updated=sum(old[name] != now[name] for name in old.keys() & now.keys()),
        )

    def embed_pending(self, *, should_stop: Callable[[], bool]) -> EmbedResult:
        with self._changed:
            self.embeds += 1
            self._changed.notify_all()
        return EmbedResult()

    def wait_for(self, claim: Callable[[], bool], timeout_s: float = SOON_S) -> bool:
        """Wait until *claim* holds after some sync."""
        with self._changed:
            return self._changed.wait_for(claim, timeout_s)

    def holds(self, **notes: str) -> bool:
        """Wait until exactly these notes, named without their ending, are seen."""
        want = {f"{name}.md": text.encode() for name, text in notes.items()}
        return self.wait_for(lambda: self.notes == want)


def read_notes(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each note outside of hidden places."""
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(root, name)
            if name.endswith(".md") and not name.startswith("."):
                try:
                    yield path.relative_to(folder).as_posix(), path.read_bytes()
                except FileNotFoundError:
                    continue


class FakeSource:
    """Says nothing but what the test makes it say."""

    def __init__(self, folder: str = "", listener: Listener | None = None) -> None:
        self.folder = folder
        self.listener = listener
        self.spoke = False
        self.is_good = True
        self.is_closed = False
        self.is_writable = True
        self.refreshes: list[bool] = []
        self.problem: OSError | None = None

    def say(self, *, is_complete: bool = True) -> None:
        self.spoke = True
        assert self.listener is not None
        self.listener(is_complete=is_complete)

    def refresh(self, *, is_forced: bool = False) -> None:
        self.refreshes.append(is_forced)
        if self.problem is not None:
            raise self.problem

    def is_current(self) -> bool:
        return self.is_good

    def probe(self) -> None:
        if not self.is_writable:
            raise PermissionError

    def has_received_event(self) -> bool:
        return self.spoke

    def close(self) -> None:
        self.is_closed = True


class Events:
    """What a watcher told, in order."""

    def __init__(self) -> None:
        self.events: list[WatchEvent] = []
        self._came = threading.Condition()

    def __call__(self, event: WatchEvent) -> None:
        with self._came:
            self.events.append(event)
            self._came.notify_all()

    def wait_for(
        self, claim: Callable[[WatchEvent], bool], timeout_s: float = SOON_S
    ) -> bool:
        """Wait until an event, past or to come, fulfils *claim*."""
        with self._came:
            return self._came.wait_for(lambda: any(map(claim, self.events)), timeout_s)

    def wait_for_type(self, kind: type, timeout_s: float = SOON_S) -> bool:
        return self.wait_for(lambda event: isinstance(event, kind), timeout_s)

    def of(self, kind: type) -> list[WatchEvent]:
        return [event for event in self.events if isinstance(event, kind)]


def make_watcher(
    memory: FolderMemory,
    *,
    source: OpenSource = open_source,
    type_of: Callable[[str], str] = lambda _folder: "",
    lock: Path | None = None,
    settings: WatchSettings | None = None,
) -> Watcher:
    """Return a watcher with short times; its lock lies beside the folder."""
    lock = lock or memory.folder.parent / "index" / "leader.lock"
    detector = ChangeDetector(
        str(memory.folder),
        open_source=source,
        settings=ChangeDetectorSettings(poll_s=0.2, probe_s=0.3),
        type_of=type_of,
    )
    return Watcher(
        memory,
        detector,
        leadership=Leadership(str(lock), state_path=str(lock) + ".state"),
        settings=settings or WatchSettings(quiet_s=0.05),
        clock=time.monotonic,
    )


@contextmanager
def running(watcher: Watcher, stop: threading.Event | None = None) -> Iterator[Events]:
    """Run *watcher* in a thread; afterwards it has to end."""
    stop, events = stop or threading.Event(), Events()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            watcher.run(stop, events)
        except BaseException as error:  # noqa: BLE001 - told by the test
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield events
    finally:
        stop.set()
        watcher.interrupt()
        thread.join(SOON_S)
    assert not thread.is_alive(), "the watcher did not stop"
    assert not errors, errors
