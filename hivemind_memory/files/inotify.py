"""Proves, more cheaply than a scan of every note, that nothing in a folder has changed.

The kernel queues what happens to watched folders in order. Touching a file of our own
and finding that event in the queue, alone, proves that nothing else happened before.
Any other event names what may have changed, and without an answer the caller looks at
the folder itself. What happened is taken off the queue then, so the watching goes on:
to end it makes the kernel wait 8 ms, as long as an answer takes.

Linux only. Where it does not work (other systems, network and shared file systems, no
watches left) there is no probe, and every query looks at the folder.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

from hivemind_memory.files.descriptors import identity_at
from hivemind_memory.files.own_files import open_own

_NONBLOCK = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
# linux/inotify.h. All that changes a note, its name, or the folders above it.
_ATTRIB = 0x004
_CHANGES = (
    0x002  # IN_MODIFY
    | _ATTRIB
    | 0x008  # IN_CLOSE_WRITE
    | 0x0C0  # IN_MOVED_FROM | IN_MOVED_TO
    | 0x100  # IN_CREATE
    | 0x200  # IN_DELETE
    | 0xC00  # IN_DELETE_SELF | IN_MOVE_SELF
)
# What a watch for each folder there was may not see the end of: IN_Q_OVERFLOW,
# IN_UNMOUNT, a folder that was made, moved or removed (IN_ISDIR), a watch that is gone.
_LOSSES = 0x4000 | 0x2000 | 0x4000_0000 | 0x8000 | 0xC00
_NAME_LOST = 0x040 | 0x200  # IN_MOVED_FROM | IN_DELETE
_EVENT = struct.Struct("iIII")
_READ_BYTES = 65_536
_MAX_EVENT_BYTES = _EVENT.size + 256  # the longest name, with a zero


class InotifyProbe:
    """Watches one notes folder and the folders in it."""

    def __init__(self, folder: str, cookie: str) -> None:
        """Begin to watch.

        Args:
            folder: The notes; dot folders in it are not watched.
            cookie: A file outside the watched folders, made if it is missing.

        Raises:
            OSError: The system has no inotify, or too few watches for these folders.
        """
        self._fd = -1
        self.is_complete = True
        """Whether every folder is still watched; else throw it away."""

        self.changed: set[str] = set()
        """Paths below the folder that have changed since, up to the last call of
        ``is_quiet``; the caller removes those it has read."""

        self.has_lost_name = False
        """Whether something has lost its name since; the caller sets it back. Dot files
        are not counted: a note is saved under such a name first."""

        self._cookie = cookie
        self._folder = folder
        self._identity = identity_at(folder)
        self._folders: dict[int, str] = {}
        self._libc = _libc()
        self._fd = self._checked(self._libc.inotify_init1(_NONBLOCK))
        try:
            self._watch_below(folder, "")
            os.close(open_own(cookie, os.O_CREAT | os.O_WRONLY))
            self._cookie_watch = self._add(cookie, _ATTRIB)
        except OSError:
            self.close()
            raise

    def __del__(self) -> None:
        """Give the watch back: a user has a hundred or so, and some forget to close."""
        self.close()

    def close(self) -> None:
        """Stop watching."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def is_quiet(self) -> bool:
        """Return whether nothing has changed since this was last asked.

        A change is reported only once: after False, scan the folder.
        """
        is_quiet, is_answered, is_full = True, False, False
        try:
            if identity_at(self._folder) != self._identity:
                # A folder above was renamed: there is no event for that.
                self.is_complete = False
                return False
            os.utime(self._cookie)
            # A touch by another process looks like ours. So what was read has to end
            # before its buffer does: then nothing that was queued is left.
            while is_full or not is_answered:
                events = os.read(self._fd, _READ_BYTES)
                is_full = len(events) > _READ_BYTES - _MAX_EVENT_BYTES
                at = 0
                while at < len(events):
                    watch, mask, _, name_bytes = _EVENT.unpack_from(events, at)
                    name = events[at + _EVENT.size : at + _EVENT.size + name_bytes]
                    at += _EVENT.size + name_bytes
                    if watch == self._cookie_watch and mask == _ATTRIB:
                        is_answered = True
                    else:
                        is_quiet = False
                        self.is_complete = self.is_complete and not mask & _LOSSES
                        self._record(watch, mask, name.rstrip(b"\0"))
        except OSError:
            # EAGAIN: that was all.
            self.is_complete = self.is_complete and is_answered
        return is_quiet and is_answered

    def _record(self, watch: int, mask: int, name: bytes) -> None:
        """Record what an event is about."""
        if mask & _NAME_LOST and not name.startswith(b"."):
            self.has_lost_name = True
        if watch in self._folders:
            self.changed.add(self._folders[watch] + os.fsdecode(name))
        else:
            self.is_complete = False

    def _watch_below(self, folder: str, prefix: str) -> None:
        """Watch *folder* before listing it, so that nothing slips in between."""
        self._folders[self._add(folder, _CHANGES)] = prefix
        with os.scandir(folder) as entries:
            below = [
                entry.name
                for entry in entries
                if entry.name[0] != "." and entry.is_dir(follow_symlinks=False)
            ]
        for name in below:
            self._watch_below(os.path.join(folder, name), f"{prefix}{name}/")

    def _add(self, path: str, mask: int) -> int:
        """Watch one path; return the number of the watch."""
        return self._checked(
            self._libc.inotify_add_watch(self._fd, os.fsencode(path), mask)
        )

    def _checked(self, result: int) -> int:
        """Return what a call returned, or raise what went wrong."""
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result


def _libc() -> ctypes.CDLL:
    """Return the C library, if it knows inotify."""
    if not sys.platform.startswith("linux"):
        message = "only Linux reports what happened in order"
        raise OSError(message)
    return ctypes.CDLL(None, use_errno=True)
