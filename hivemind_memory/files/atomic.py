"""The one way to write a file: write a temporary file, sync, rename, sync the folder.

A reader sees the old file or the new one, never half of either, and a power cut leaves
one of the two. What a killed process leaves has a name of its own, so that ``sync`` and
``doctor`` can clear it. Who may write where, and what must not have changed meanwhile,
is the caller's to check, between writing and naming.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import suppress

from hivemind_memory.files import descriptors
from hivemind_memory.files.descriptors import PRIVATE_FILE, OpenFolder
from hivemind_memory.files.paths import PARTIAL_PREFIX
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self


if sys.platform != "win32":
    import fcntl

PARTIAL_FILE = lazy_re(re.escape(PARTIAL_PREFIX) + r"[0-9a-f]{16}\.tmp")
"""The name of a file that does not have its own name yet."""

_STATE_COPY = "state.db"
"""Prefix of the files that a backup writes to its temporary folder."""

ABANDONED_S = 60.0
"""No write takes so long between a file's last byte and its name. Clocks may jump, so a
file is locked as well until it has its name."""

# What file systems without a second name for a file say.
NO_LINKS = frozenset(
    {errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP}
    | {errno.ENOTSUP}
)


class PartialFile:
    """A complete temporary file that does not have its final name yet.

    Leaving the ``with`` block removes it unless it was given one.
    """

    __slots__ = (
        "_data",
        "_fd",
        "_folder",
        "_is_durable",
        "_mode",
        "_prepare",
        "name",
        "was_named",
    )

    def __init__(
        self,
        folder: OpenFolder,
        data: bytes | Iterable[bytes],
        *,
        mode: int = PRIVATE_FILE,
        prepare: Callable[[int], None] | None = None,
        is_durable: bool = True,
    ) -> None:
        """Describe the file; entering the ``with`` block writes it.

        Args:
            folder: Where it is written.
            data: All of its bytes, or these a piece at a time.
            mode: Exactly its mode, whatever the umask is.
            prepare: Called with its descriptor before it is synced.
            is_durable: Sync to disk. False only for files that a restart makes useless.
        """
        self._folder = folder
        self._data = (data,) if isinstance(data, bytes) else data
        self._mode = mode
        self._prepare = prepare
        self._is_durable = is_durable
        self.was_named = False
        """Whether readers see the new file; the disk may not have it yet."""

        self.name = f"{PARTIAL_PREFIX}{os.urandom(8).hex()}.tmp"
        self._fd = -1

    def __enter__(self) -> Self:
        fd = self._folder.open_file(self.name, descriptors.CREATE)
        is_held = _hold(fd)
        try:
            try:
                for piece in self._data:
                    descriptors.write_all(fd, piece)
                descriptors.set_mode(fd, self._mode)
                if self._prepare is not None:
                    self._prepare(fd)
                if self._is_durable:
                    descriptors.sync_file(fd)
            except BaseException:
                is_held = False
                raise
            finally:
                if is_held:
                    self._fd = fd
                else:
                    os.close(fd)
        except BaseException:
            self._discard()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if not self.was_named:
                self._discard()
        finally:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)

    def replace(self, name: str, folder: OpenFolder | None = None) -> None:
        """Give the file its name, in the place of what has it.

        Args:
            name: The name.
            folder: Where, on the same disk; None: where it was written.

        Raises:
            OSError: ``was_named`` says whether it was done all the same.
        """
        target = folder or self._folder
        self._folder.rename(self.name, name, target)
        self._named(target)

    def create(self, name: str) -> bool:
        """Give the file its name only if nothing has it; return whether it was free.

        A rename would overwrite what another program has put there in the last instant.
        """
        try:
            self._folder.link(self.name, name)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            self.replace(name)
            return True
        self._discard()
        self._named(self._folder)
        return True

    def _named(self, folder: OpenFolder) -> None:
        """Wait until the name is on the disk."""
        self.was_named = True
        if self._is_durable:
            folder.sync()

    def _discard(self) -> None:
        """Remove the file, or what there is of it."""
        try:
            self._folder.unlink(self.name)
        except OSError:
            return  # a dot file, which no search sees; `hm doctor` clears it


def write_file(
    path: str,
    data: bytes | Iterable[bytes],
    *,
    mode: int = PRIVATE_FILE,
    is_new: bool = False,
    is_durable: bool = True,
) -> bool:
    """Put *data* in the place of the file *path*, whole or not at all.

    Args:
        path: Its folder is there; a link at *path* itself is replaced, not followed.
        data: All of its bytes, or these a piece at a time.
        mode: Exactly its mode.
        is_new: Only if nothing is there.
        is_durable: See ``PartialFile``.

    Returns:
        Whether it was written: false only when *is_new* and something was there.

    Raises:
        OSError: The system refused.
    """
    folder, name = os.path.split(path)
    with (
        OpenFolder.at(folder or os.curdir) as parent,
        PartialFile(parent, data, mode=mode, is_durable=is_durable) as partial,
    ):
        if is_new:
            return partial.create(name)
        partial.replace(name)
        return True


def partial_files(folder: str) -> list[str]:
    """Return the paths of the partial files below a folder, its dot folders apart."""
    found = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            os.path.join(parent, name) for name in files if PARTIAL_FILE.fullmatch(name)
        ]
    return sorted(found)


def partial_copies(*folders: str) -> list[str]:
    """Return the files that a killed backup, restore or write left directly in folders.

    A backup copies ``state.db`` to a folder of its own in the home.
    """
    found: list[str] = []
    for entry in _partial_entries(folders):
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                found += (os.path.join(entry, name) for name in os.listdir(entry))
            else:
                found.append(entry.path)
    return sorted(found)


def remove_partial_copies(folders: Iterable[str], now_s: float) -> int:
    """Remove what ``partial_copies`` finds, if ours; return how many files.

    Args:
        folders: See ``partial_copies``.
        now_s: See ``remove_partial_files``.
    """
    removed = 0
    for entry in _partial_entries(folders):
        if not entry.is_dir(follow_symlinks=False):
            removed += remove_partial_files("", [entry.path], now_s)
            continue
        with suppress(OSError):  # not empty: a backup is at work, or it is not ours
            made_s = os.stat(entry).st_mtime
            removed += sum(
                _remove_abandoned(os.path.join(entry, name), now_s)
                for name in os.listdir(entry)
                if name.startswith(_STATE_COPY)
            )
            if abs(now_s - made_s) >= ABANDONED_S:
                os.rmdir(entry)
    return removed


def remove_partial_files(folder: str, paths: Iterable[str], now_s: float) -> int:
    """Remove what killed processes left; return how many files that were.

    Args:
        folder: Where they are.
        paths: Paths in it, or below it; other files are left alone.
        now_s: The time; a file younger than ``ABANDONED_S`` may still get its name.
    """
    return sum(
        _remove_abandoned(os.path.join(folder, path), now_s)
        for path in paths
        if PARTIAL_FILE.fullmatch(os.path.basename(path))
    )


def remove_free_partial_files(
    folders: Iterable[str], *, is_kept: Callable[[str], bool] = lambda _: False
) -> None:
    """Remove the partial files directly in folders that no process is writing.

    However young they are: the caller holds the lock under which they are written.

    Args:
        folders: Where they are.
        is_kept: Asked about the path of each: whether it has to stay.
    """
    for entry in _partial_entries(folders):
        with suppress(OSError):  # gone, or not ours to remove
            is_ours = PARTIAL_FILE.fullmatch(entry.name) and entry.is_file(
                follow_symlinks=False
            )
            if is_ours and not (_is_being_written(entry.path) or is_kept(entry.path)):
                os.unlink(entry.path)


def _remove_abandoned(path: str, now_s: float) -> bool:
    """Remove a file that no process can be writing any more; return whether."""
    try:
        if abs(now_s - os.lstat(path).st_mtime) < ABANDONED_S or _is_being_written(
            path
        ):
            return False
        os.unlink(path)
    except OSError:
        return False  # gone, or not ours to remove
    return True


def _hold(fd: int) -> bool:
    """Lock a file until it has its name; return whether its descriptor stays open.

    Windows renames no open file, and some network drives know no locks.
    """
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_being_written(path: str) -> bool:
    """Return whether a process has not given a file its name yet.

    Raises:
        OSError: It cannot be opened.
    """
    # Of a database nothing but SQLite opens a file: to close it drops SQLite's locks.
    if sys.platform == "win32" or not PARTIAL_FILE.fullmatch(os.path.basename(path)):
        return False
    fd = os.open(path, descriptors.READ)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # no locks there: its age decides
    finally:
        os.close(fd)
    return False


def _partial_entries(folders: Iterable[str]) -> Iterator[os.DirEntry[str]]:
    """Yield the partial files directly in some folders."""
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            yield from [e for e in entries if e.name.startswith(PARTIAL_PREFIX)]
