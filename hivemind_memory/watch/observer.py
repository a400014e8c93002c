"""Native file events, through watchdog: the only module that imports it.

On Linux this uses watchdog's inotify reader and not its observer, for four reasons that
can be read in its source (7.1):

- the observer watches recursively, and so watches the index in its dot folder too:
  every write to the index would come back as a storm of events;
- it does not report that the kernel's queue overflowed;
- it does not report that a subfolder could not be watched (ENOSPC);
- it holds every event back for half a second after a file was moved out.

Elsewhere, or when a later watchdog has no such reader, it uses the observer; the rescan
that runs every minute finds what the observer misses.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

try:
    from watchdog.observers.inotify_c import (
        CallbackId,
        InotifyConstants,
        InotifyFD,
        Mask,
    )

    HAS_INOTIFY = True
except (ImportError, AttributeError):  # not Linux, no inotify in libc, another watchdog
    HAS_INOTIFY = False

from hivemind_memory.files.descriptors import FileIdentity, identity_of, open_regular

if TYPE_CHECKING:
    from watchdog.observers.inotify_c import InotifyEvent, WatchDescriptor

logger = logging.getLogger(__name__)


_STOP_S = 0.9
"""Longest wait for watchdog's threads to end."""


_EVENTS: list[type[FileSystemEvent]] = [
    events.DirCreatedEvent,
    events.DirDeletedEvent,
    events.DirMovedEvent,
    events.FileAttribEvent,
    events.FileClosedEvent,
    events.FileCreatedEvent,
    events.FileDeletedEvent,
    events.FileModifiedEvent,
    events.FileMovedEvent,
]
_WHOLE = (events.FileClosedEvent, events.FileMovedEvent, events.FileAttribEvent)
PROBE_NAME = ".hm-probe"
"""Name of the file that is made and removed at once to see whether events arrive.
Always the same, so that one left by a killed process goes with the next probe."""


def open_source(folder: str, listener: Listener) -> EventSource:
    """Return the best source of events that this system has, already watching.

    Args:
        folder: The notes folder; a link to one is followed.
        listener: Called from a thread of the source.

    Raises:
        OSError: ENOSPC, no watches left; EMFILE, no instances left; ENOENT, no folder;
            ENOSYS, no events on this system.
    """
    if HAS_INOTIFY:
        return InotifySource(folder, listener)
    return ObserverSource(folder, listener)


class _Probing:
    """Makes the probe, and remembers whether anything was ever heard."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._spoke = threading.Event()

    def probe(self) -> None:
        """Make and remove a hidden file, see ``EventSource.probe``."""
        path = os.path.join(self._folder, PROBE_NAME)
        # Not exclusive: a file left by a killed process is taken over and removed.
        flags = os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        os.close(open_regular(path, flags))
        os.unlink(path)

    def has_received_event(self) -> bool:
        """At least one event came through."""
        return self._spoke.is_set()


if HAS_INOTIFY:
    _MASK = Mask(
        InotifyConstants.IN_MODIFY
        | InotifyConstants.IN_ATTRIB
        | InotifyConstants.IN_CLOSE_WRITE
        | InotifyConstants.IN_MOVE
        | InotifyConstants.IN_CREATE
        | InotifyConstants.IN_DELETE
        | InotifyConstants.IN_DELETE_SELF
        | InotifyConstants.IN_MOVE_SELF
        | InotifyConstants.IN_ONLYDIR
        | InotifyConstants.IN_EXCL_UNLINK
    )
    """No IN_OPEN, no IN_CLOSE_NOWRITE: reading a note must not look like a change."""

    _CALLBACK_ID = CallbackId(1)


class InotifySource(_Probing):
    """One inotify watch for each folder that holds notes; none in dot folders.

    Events arrive on the reader's thread and only leave marks; the tree of watches is
    put right by ``refresh``, which the watcher calls before each scan of the folder.
    """

    def __init__(self, folder: str, listener: Listener) -> None:
        super().__init__(folder)
        self._listener = listener
        # Guards the two maps: the reader's thread forgets folders that are gone.
        self._lock = threading.Lock()
        self._watches: dict[FileIdentity, WatchDescriptor] = {}
        self._identities: dict[WatchDescriptor, FileIdentity] = {}
        self._has_new_tree = True
        self._reader = InotifyFD()
        self._reader.start()
        try:
            self.refresh()
        except OSError:
            self.close()
            raise

    def refresh(self, *, is_forced: bool = False) -> None:
        """Watch the folders that are there now, see ``EventSource.refresh``."""
        if not (self._has_new_tree or is_forced):
            return
        # Cleared first: what changes from here on asks for another round.
        self._has_new_tree = False
        seen: set[FileIdentity] = set()
        try:
            root = os.path.realpath(self._folder)
            self._watch_tree(root, identity_of(os.stat(root)), seen)
        except OSError:
            self._has_new_tree = True
            raise
        self._drop_all_but(seen)

    def is_current(self) -> bool:
        """It runs and watches the folder that bears the name now."""
        try:
            is_watched = identity_of(os.stat(self._folder)) in self._watches
        except OSError:
            return False
        return is_watched and self._reader.is_alive()

    def close(self) -> None:
        """Give all watches back and end the thread."""
        self._reader.stop()
        self._reader.join(_STOP_S)

    # What watchdog's reader calls, on its thread. An error here would end the thread.

    def on_event(self, event: InotifyEvent) -> None:
        """One change in one folder."""
        self._spoke.set()
        if not event.name:
            # About the folder itself. Attributes of one change with each probe.
            if event.is_delete_self or event.is_move_self:
                self._mark_tree()
        elif event.name.startswith(b"."):
            return
        elif event.is_directory:
            self._mark_tree()
        elif event.name[-3:].lower() == b".md":
            self._listener(
                is_complete=event.is_close_write or event.is_moved_to or event.is_attrib
            )

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """A watched folder is gone, or its file system was taken away."""
        with self._lock:
            identity = self._identities.pop(wd, None)
            if identity is not None:
                self._watches.pop(identity, None)

    def on_queue_overflow(self) -> None:
        """Events were lost: any folder may have come, any note may have changed."""
        logger.warning("the queue of file events overflowed; looking at all notes")
        self._spoke.set()
        self._mark_tree()

    def _mark_tree(self) -> None:
        """Folders came or went."""
        self._has_new_tree = True
        self._listener(is_complete=False)

    def _watch_tree(
        self, path: str, identity: FileIdentity, seen: set[FileIdentity]
    ) -> None:
        """Watch a folder and all below it that are not hidden."""
        todo = [(path, identity)]
        while todo:
            path, identity = todo.pop()
            if identity in seen:
                continue
            try:
                with os.scandir(path) as entries:
                    # Watched before its entries are read, so that a folder made in
                    # between is either read here or reported as an event.
                    self._watch(path, identity)
                    seen.add(identity)
                    todo += [
                        (entry.path, identity_of(os.stat(entry.path)))
                        for entry in entries
                        if not entry.name.startswith(".")
                        and entry.is_dir(follow_symlinks=False)
                    ]
            except OSError as error:
                if not seen or not _is_of_one_folder(error):
                    raise

    def _watch(self, path: str, identity: FileIdentity) -> None:
        """Add the watch of one folder unless it has one."""
        with self._lock:
            if identity in self._watches:
                return
            name = os.fsencode(path)
            wd = self._reader.add_callback(name, _MASK, self, _CALLBACK_ID)
            if wd < 0:  # the one error that the reader keeps to itself
                raise PermissionError(errno.EACCES, "cannot be watched", path)
            self._watches[identity] = wd
            self._identities[wd] = identity

    def _drop_all_but(self, seen: set[FileIdentity]) -> None:
        """Give back the watches of folders that left, or are hidden now."""
        with self._lock:
            gone = [identity for identity in self._watches if identity not in seen]
            wds = [self._watches.pop(identity) for identity in gone]
            for wd in wds:
                self._identities.pop(wd, None)
        self._reader.remove_callbacks([(wd, _CALLBACK_ID) for wd in wds])


def _is_of_one_folder(error: OSError) -> bool:
    """Whether an error concerns one folder only, so that others can be watched."""
    return error.errno in {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM}


class ObserverSource(_Probing, FileSystemEventHandler):
    """watchdog's own recursive observer: FSEvents, ReadDirectoryChangesW and others."""

    def __init__(self, folder: str, listener: Listener) -> None:
        super().__init__(folder)
        if Observer is PollingObserver:
            raise OSError(errno.ENOSYS, "no file events on this system")
        self._listener = listener
        # Resolved, because FSEvents speaks of resolved paths only.
        self._root = os.path.realpath(folder)
        self._identity = identity_of(os.stat(folder))
        self._observer = Observer()
        try:
            self._observer.schedule(
                self, self._root, recursive=True, event_filter=_EVENTS
            )
            self._observer.start()
        except OSError:
            self.close()
            raise

    def refresh(self, *, is_forced: bool = False) -> None:
        """The observer follows new folders by itself."""

    def is_current(self) -> bool:
        """It runs and watches the folder that bears the name now."""
        try:
            is_same = identity_of(os.stat(self._folder)) == self._identity
        except OSError:
            return False
        alive = [emitter.is_alive() for emitter in self._observer.emitters]
        return is_same and self._observer.is_alive() and bool(alive) and all(alive)

    def close(self) -> None:
        """Stop all threads of the observer."""
        self._observer.stop()
        if self._observer.is_alive():
            self._observer.join(_STOP_S)

    def on_any_event(self, event: FileSystemEvent) -> None:
        """One change anywhere below the folder, hidden places included."""
        self._spoke.set()
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path)]
        is_folder = event.is_directory
        if any(self._tells(path, is_folder=is_folder) for path in paths if path):
            self._listener(is_complete=isinstance(event, _WHOLE))

    def _tells(self, path: str, *, is_folder: bool) -> bool:
        """A path is that of a note, or of a folder that may hold notes."""
        names = os.path.relpath(path, self._root).split(os.sep)
        if names != ["."] and any(name.startswith(".") for name in names):
            return False
        return is_folder or names[-1].lower().endswith(".md")


class Listener(Protocol):
    """Hears, on a thread of the source, that a note may have changed."""

    def __call__(self, *, is_complete: bool) -> None:
        """Take a hint; must be quick and never raise.

        Args:
            is_complete: The change is not half done: closed after writing, renamed into
                place.
        """
        ...


class EventSource(Protocol):
    """Reports changes below a folder: the system's, or a fake in tests."""

    def refresh(self, *, is_forced: bool = False) -> None:
        """Watch the folders that are there now; cheap unless some came or went.

        Args:
            is_forced: Look at every folder, whatever events said.

        Raises:
            OSError: A folder cannot be watched (ENOSPC: no watches left), or the notes
                folder is not there.
        """
        ...

    def is_current(self) -> bool:
        """It still runs, and what it watches is the folder that bears the name now."""
        ...

    def probe(self) -> None:
        """Make and remove a hidden file, so that a working source reports an event.

        Raises:
            OSError: The folder cannot be written to, so the probe says nothing.
        """
        ...

    def has_received_event(self) -> bool:
        """At least one event came through since it was opened."""
        ...

    def close(self) -> None:
        """Stop and leave no thread behind."""
        ...


OpenSource = Callable[[str, Listener], EventSource]
"""(folder, listener) -> a source that already watches.

Raises OSError: ENOSPC (no watches left), EMFILE (no instances left), ENOENT (no
folder), ENOSYS (this system has no such events)."""
