"""One file of a worktree: found without leaving it, read, replaced whole or not at all.

A link within the worktree is followed and stays a link; one that leads out, and any way
into ``.git``, is refused. The new file is made in the git folder where that is on the
same disk, so that ``git status`` of somebody else never sees it half made.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from hivemind_memory.errors import NotInjectedError
from hivemind_memory.notes import os_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.snapshot import Stamp

_MOST_BYTES = 4 * 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OLDER_NS = 2_000_000_000
"""A written file is dated so far back: git compares whole seconds, some disks two."""


class UnfitFileError(NotInjectedError):
    """This file cannot hold a section; another one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeFile:
    """A file as it was when it was read."""

    root: str
    file: str
    """Relative to the worktree, links resolved, with forward slashes."""

    data: bytes | None
    """None: it is not there."""

    stamp: Stamp | None
    mode: int

    @property
    def path(self) -> str:
        """Where it lies."""
        return os.path.join(self.root, *self.file.split("/"))


def read_file(root: str, file: str, *, forbidden: tuple[str, ...] = ()) -> WorktreeFile:
    """Return a file of the worktree *root*, whether it is there or not.

    Args:
        root: The worktree, links resolved.
        file: Relative, with forward slashes.
        forbidden: Folders, links resolved, in which nothing may be written.

    Raises:
        UnfitFileError: It is no file of the worktree, or not a text.
    """
    named = os.path.join(root, *file.split("/"))
    if os.path.islink(named) and not os.path.exists(named):
        raise UnfitFileError(f"{file} is a link that leads nowhere")
    path = os.path.realpath(named)
    within = os.path.relpath(path, root).replace(os.sep, "/")
    parts = within.split("/")
    if parts[0] == ".." or os.path.isabs(within):
        raise UnfitFileError(f"{file} is a link that leads out of the worktree")
    is_gits = any(part.lower() == ".git" for part in parts) or any(
        os.path.commonpath([path, folder]) == folder
        for folder in forbidden
        if folder != root
    )
    if is_gits:
        raise UnfitFileError(f"{file} leads into git's own folder")
    try:
        fd = os.open(path, os_files.READ)
    except (FileNotFoundError, NotADirectoryError):
        return WorktreeFile(
            root=root, file=within, data=None, stamp=None, mode=os_files.PRIVATE_FILE
        )
    except OSError as error:
        raise UnfitFileError(f"{file} cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            raise UnfitFileError(f"{file} is not a text file of reasonable size")
        data = os_files.read_at(fd, 0, _MOST_BYTES + 1)
    finally:
        os.close(fd)
    if data.startswith(_UTF16):
        raise UnfitFileError(f"{file} is in UTF-16, and a section in UTF-8")
    stamp = os_files.stamp_of(status)
    mode = stat.S_IMODE(status.st_mode)
    return WorktreeFile(root=root, file=within, data=data, stamp=stamp, mode=mode)


def write_file(old: WorktreeFile, data: bytes, *, beside: str = "") -> None:
    """Put *data* in the place of a file, if it is still as it was read.

    Args:
        old: What was read.
        data: The whole new content.
        beside: Folder for the new file until it has its name; empty: that of the file.

    Raises:
        NotInjectedError: Nothing was written, and why.
    """
    folder = os.path.dirname(old.path)
    name = f".hm-{os.urandom(8).hex()}.tmp"
    made = os.path.join(beside or folder, name)
    try:
        os.makedirs(folder, exist_ok=True)
        _make(made, data, old.mode)
        try:
            _check_unchanged(old)
            _rename(made, old.path, name)
        except BaseException:
            _discard(made)
            raise
    except OSError as error:
        message = f"{old.file} could not be written: {error.strerror}"
        raise NotInjectedError(message) from error


def delete_file(old: WorktreeFile) -> None:
    """Take away a file that we made, and the folders that are empty without it."""
    _check_unchanged(old)
    try:
        os.unlink(old.path)
        folder = os.path.dirname(old.path)
        while folder != old.root and not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    except OSError as error:
        message = f"{old.file} could not be deleted: {error.strerror}"
        raise NotInjectedError(message) from error


def _make(path: str, data: bytes, mode: int) -> None:
    """Make a new file with exactly this content and mode, synced."""
    fd = os.open(path, os_files.CREATE, os_files.PRIVATE_FILE)
    try:
        os_files.write_all(fd, data)
        os_files.set_mode(fd, mode)
        # Of a file that is as young as its index git reads the content again, and an
        # agent that asks git with filters off (Claude Code does) would see a change.
        written = os.fstat(fd)
        os.utime(fd, ns=(written.st_atime_ns, written.st_mtime_ns - _OLDER_NS))
        os_files.sync_file(fd)
    finally:
        os.close(fd)


def _rename(made: str, path: str, name: str) -> None:
    """Give the new file its name; by way of its own folder if that is another disk."""
    try:
        os.replace(made, path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with open(made, "rb") as file:
            data = file.read()
        near = os.path.join(os.path.dirname(path), name)
        _make(near, data, stat.S_IMODE(os.stat(made).st_mode))
        try:
            os.replace(near, path)
        except BaseException:
            _discard(near)
            raise
        _discard(made)


def _check_unchanged(old: WorktreeFile) -> None:
    """Raise if somebody changed the file since it was read."""
    try:
        stamp = os_files.stamp_of(os.lstat(old.path))
    except FileNotFoundError:
        stamp = None
    if stamp != old.stamp:
        message = f"{old.file} was changed by somebody else meanwhile"
        raise NotInjectedError(message, hint="Try again.")


def _discard(path: str) -> None:
    """Take a file of ours away that never got its name."""
    try:
        os.unlink(path)
    except OSError:
        return
