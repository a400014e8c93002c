"""Files and folders by descriptor, and what differs between operating systems.

A folder is held open and its children are named relative to it, so that no folder can
be swapped for a link between the check and the use. Where the system cannot do that
(Windows), paths are checked for links just before they are used. Locks are in
``locks``. Errors are those of ``os``; the caller translates them.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

if sys.platform == "darwin":
    import fcntl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Self

    from hivemind_memory.model.snapshot import FileSignature

FileIdentity = tuple[int, int]
"""Device and inode: the same while a file or folder is the same."""

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

# Absent on Windows, where descriptors are not inherited and links are rare.
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_SAFE = (
    _NO_LINKS
    | getattr(os, "O_NONBLOCK", 0)  # or opening a pipe would wait for its writer
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
READ = os.O_RDONLY | _SAFE
APPEND = os.O_RDWR | os.O_APPEND | _SAFE
CREATE = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _SAFE
_NEVER_WAIT = _SAFE & ~_NO_LINKS
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.scandir in os.supports_fd


SQLITE_FILES = ("", "-wal", "-shm", "-journal")
"""Endings of the files that SQLite opens with a database."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class FileInTheWayError(NotADirectoryError):
    """A file is where a folder belongs."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ENOTDIR, "it is not a folder", path)


class IrregularFileError(OSError):
    """A folder, a pipe, a socket or a device is where a file belongs; see its text."""

    def __init__(self, path: str, mode: int) -> None:
        self.kind = next((kind for is_kind, kind in _KINDS if is_kind(mode)), "odd")
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        super().__init__(code, f"it is {self.kind}, not a file", path)


def open_regular(path: str, flags: int) -> int:
    """Return a descriptor of the regular file at *path*, through links.

    All our files that lie where a person could have put something else are opened
    by this, as ``open(path, opener=open_regular)``: opening a pipe waits for its other
    end, and a device may have no end. A new file is 0600.

    Raises:
        IrregularFileError: Something else is there.
        OSError: What the system says.
    """
    try:
        fd = os.open(path, flags | _NEVER_WAIT, PRIVATE_FILE)
    except OSError:
        check_regular(path)  # a socket, or a folder to be written
        raise
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise IrregularFileError(path, mode)
    return fd


def check_regular(path: str, endings: Iterable[str] = ("",)) -> None:
    """Raise if something that is no regular file is at *path*.

    For files that a library opens, which would wait as well.

    Args:
        path: The file, which need not be there.
        endings: What is added to it, for files that belong together.

    Raises:
        IrregularFileError: Something else is there.
    """
    for ending in endings:
        try:
            mode = os.stat(path + ending).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            raise IrregularFileError(path + ending, mode)


class OpenFolder:
    """A folder that stays the same one whatever is renamed above it. Close it."""

    __slots__ = ("_fd", "_path")

    def __init__(self, path: str, fd: int | None) -> None:
        self._path = path
        self._fd = fd

    @classmethod
    def at(cls, path: str) -> OpenFolder:
        """Open the folder at *path*, through links where there are any."""
        if _HAS_DESCRIPTORS:
            return cls(path, os.open(path, _FOLDER))
        if not os.path.isdir(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return cls(path, None)

    def child(self, name: str) -> OpenFolder:
        """Open the folder *name* in this one.

        Raises:
            NotADirectoryError: It is a link or a file.
            FileNotFoundError: It is not there.
        """
        if self._fd is not None:
            fd = os.open(name, _FOLDER | _NO_LINKS, dir_fd=self._fd)
            return OpenFolder(f"{self._path}/{name}", fd)
        if not stat.S_ISDIR(self.status(name).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        return OpenFolder(self._name(name), None)

    def make_child(self, name: str) -> None:
        """Make the folder *name*, 0700 under any umask, and sync its entry."""
        os.mkdir(self._name(name), PRIVATE_FOLDER, dir_fd=self._fd)
        mode = stat.S_IMODE(self.status(name).st_mode)
        if mode != PRIVATE_FOLDER:
            os.chmod(self._name(name), PRIVATE_FOLDER, dir_fd=self._fd)
        self.sync()

    def open_file(self, name: str, flags: int) -> int:
        """Return a descriptor of the regular file *name*; a new one is 0600.

        Args:
            name: A name in this folder, without a separator.
            flags: ``READ``, ``APPEND`` or ``CREATE``.

        Raises:
            OSError: ``ELOOP`` for a link, ``EINVAL`` for anything else that is no
                regular file, or what the system says.
        """
        if not _NO_LINKS and not flags & os.O_CREAT:
            self._refuse_link(name)
        fd = os.open(self._name(name), flags, PRIVATE_FILE, dir_fd=self._fd)
        try:
            _refuse_irregular(fd, name)
            if flags & os.O_CREAT:
                set_mode(fd, PRIVATE_FILE)
        except OSError:
            os.close(fd)
            if flags & os.O_CREAT:  # ours: O_EXCL made sure of that
                self.unlink(name)
            raise
        return fd

    def status(self, name: str) -> os.stat_result:
        """Return what the system knows about *name* itself, links not followed."""
        return os.stat(self._name(name), dir_fd=self._fd, follow_symlinks=False)

    def own_status(self) -> os.stat_result:
        """Return what the system knows about the folder itself."""
        return os.stat(self._path if self._fd is None else self._fd)

    def link_target(self, name: str) -> str:
        """Return where the link *name* leads, as it is written; nothing is followed."""
        written = os.readlink(self._name(name), dir_fd=self._fd)
        return os.path.normpath(os.path.join(self._path, written))

    def scan(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """Return the entries of this folder, in no order; ``with`` closes them."""
        return os.scandir(self._path if self._fd is None else self._fd)

    def rename(self, old: str, new: str, folder: OpenFolder | None = None) -> None:
        """Give *old* the name *new*, in the place of what had it, in one step.

        Args:
            old: A name in this folder.
            new: Its new name.
            folder: Where it goes, on the same disk; None: it stays here.
        """
        source, source_fd = self.place_of(old)
        target, target_fd = (folder or self).place_of(new)
        os.replace(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)

    def place_of(self, name: str) -> tuple[str, int | None]:
        """Return *name* and the descriptor it is relative to, as ``os`` takes them."""
        return self._name(name), self._fd

    def link(self, old: str, new: str) -> None:
        """Give the file *old* the name *new* as well.

        Raises:
            FileExistsError: Something has that name.
        """
        source, target = self._name(old), self._name(new)
        os.link(source, target, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def unlink(self, name: str) -> None:
        """Take the file *name* away."""
        os.unlink(self._name(name), dir_fd=self._fd)

    def remove_child(self, name: str) -> None:
        """Take the empty folder *name* away."""
        os.rmdir(self._name(name), dir_fd=self._fd)

    def sync(self) -> None:
        """Wait until the names in this folder are on the disk."""
        if self._fd is not None:
            sync_folder(self._fd)

    def close(self) -> None:
        """Close the folder; a second call does nothing."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _name(self, name: str) -> str:
        """Return *name* as the calls below want it."""
        return name if self._fd is not None else os.path.join(self._path, name)

    def _refuse_link(self, name: str) -> None:
        """Raise if *name* is a link: the best that can be done without descriptors."""
        if stat.S_ISLNK(self.status(name).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)


def signature_of(status: os.stat_result) -> FileSignature:
    """Return the part of a file's status that changes when the file does."""
    # Windows does not say the inode when it lists a folder, so it never counts there.
    inode = 0 if sys.platform == "win32" else status.st_ino
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, inode)


def signature_at(path: str, *, follows_link: bool) -> FileSignature | None:
    """Return the signature of the file at *path*; None: there is none."""
    try:
        return signature_of(os.stat(path, follow_symlinks=follows_link))
    except FileNotFoundError:
        return None


def is_there(path: str) -> bool:
    """Return whether anything is at *path*, links followed; if in doubt, it is.

    ``os.path.exists`` also says no when the system gives no answer.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def identity_of(status: os.stat_result) -> FileIdentity:
    """Return what distinguishes a file from a later one of the same name."""
    return (status.st_dev, status.st_ino)


def identity_at(path: str) -> FileIdentity | None:
    """Return the identity of what is at *path*, links followed; None: nothing is."""
    try:
        return identity_of(os.stat(path))
    except OSError:
        return None


def set_mode(fd: int, mode: int) -> None:
    """Give an open file exactly *mode*, whatever the umask took from it."""
    if sys.platform != "win32" and stat.S_IMODE(os.fstat(fd).st_mode) != mode:
        os.fchmod(fd, mode)


def read_at(fd: int, offset: int, size: int) -> bytes:
    """Return up to *size* bytes of an open file from *offset*; less only at its end."""
    os.lseek(fd, offset, os.SEEK_SET)
    parts = []
    while size > 0:
        part = os.read(fd, size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_regular(fd: int, max_bytes: int) -> tuple[bytes, os.stat_result] | None:
    """Return what a file holds and its status, and close it.

    None: it is not a regular file, or larger than *max_bytes*.
    """
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            return None
        return read_at(fd, 0, max_bytes + 1), status
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write all of *data* to an open file, in one call where the system allows it."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def sync_file(fd: int) -> None:
    """Wait until the bytes of an open file are on the disk, not only in its cache."""
    if sys.platform == "darwin":
        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError:  # network and foreign file systems do not know it
            os.fsync(fd)
    else:
        os.fsync(fd)


def sync_folder(fd: int) -> None:
    """Wait until the names in an open folder are on the disk."""
    try:
        os.fsync(fd)
    except OSError as error:
        # Some network file systems cannot sync a folder, and need not.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def make_private_folder(path: str) -> None:
    """Make the folder at *path* and those above it that are missing, all 0700.

    A folder that is there already keeps its mode.

    Raises:
        FileInTheWayError: Something else is where one of them must be.
    """
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return
    above, name = os.path.split(path)
    if not name:  # not even the root: the system doesn't say what is there
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)
    make_private_folder(above)
    with OpenFolder.at(above) as folder:
        try:
            folder.make_child(name)
        except FileExistsError:
            if not os.path.isdir(path):
                raise FileInTheWayError(path) from None


def _refuse_irregular(fd: int, name: str) -> None:
    """Raise if an open file is a folder, a pipe or a device."""
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        raise IrregularFileError(name, mode)
