"""Reads and replaces one file of a worktree, whole or not at all.

A link within the worktree is followed and stays a link; one that leads out, and any way
into ``.git``, is refused. The new file is written inside the git folder if that is on
the same disk, so that a concurrent ``git status`` never sees it half written.
"""

from __future__ import annotations

import errno
import os
import stat

from hivemind_memory.errors import GitError, NotInjectedError
from hivemind_memory.files import descriptors
from hivemind_memory.files.atomic import PartialFile, remove_free_partial_files
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.files.errors import reason_of
from hivemind_memory.git.index_copy import clear_index_copies
from hivemind_memory.inject.agent_files import KNOWN_FILES
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.git.repository import Repository
    from hivemind_memory.model.snapshot import FileSignature

_MAX_BYTES = 4 * 1024 * 1024
_GIT_FOLDERS = ("info", "hooks")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OLDER_NS = 2_000_000_000
"""How far a written file is backdated: git compares seconds, some disks two of them."""


class UnusableFileError(NotInjectedError):
    """This file cannot hold a section; another one may."""


@value
class WorktreeFile:
    """A file as it was when it was read."""

    root: str
    file: str
    """Relative to the worktree, links resolved, with forward slashes."""

    data: bytes | None
    """None: it does not exist."""

    signature: FileSignature | None
    mode: int

    @property
    def path(self) -> str:
        """Its absolute path."""
        return os.path.join(self.root, *self.file.split("/"))


def read_file(root: str, file: str, *, forbidden: tuple[str, ...] = ()) -> WorktreeFile:
    """Return a file of the worktree *root*, whether it exists or not.

    Args:
        root: The worktree, links resolved.
        file: Relative, with forward slashes.
        forbidden: Folders, links resolved, in which nothing may be written.

    Raises:
        UnusableFileError: It is not a text file of the worktree.
    """
    named = os.path.join(root, *file.split("/"))
    if os.path.islink(named) and not os.path.exists(named):
        raise UnusableFileError(f"{file} is a broken link")
    path = os.path.realpath(named)
    within = os.path.relpath(path, root).replace(os.sep, "/")
    parts = within.split("/")
    if parts[0] == ".." or os.path.isabs(within):
        raise UnusableFileError(f"{file} is a link that leads out of the worktree")
    is_in_git = any(part.lower() == ".git" for part in parts) or any(
        os.path.commonpath([path, folder]) == folder
        for folder in forbidden
        if folder != root
    )
    if is_in_git:
        raise UnusableFileError(f"{file} leads into the git folder")
    try:
        fd = os.open(path, descriptors.READ)
    except (FileNotFoundError, NotADirectoryError):
        return WorktreeFile(
            root=root,
            file=within,
            data=None,
            signature=None,
            mode=descriptors.PRIVATE_FILE,
        )
    except OSError as error:
        raise UnusableFileError(f"{file} cannot be read: {reason_of(error)}") from error
    found = descriptors.read_regular(fd, _MAX_BYTES)
    if found is None:
        raise UnusableFileError(f"{file} is not a text file of reasonable size")
    data, status = found
    if data.startswith(_UTF16):
        raise UnusableFileError(f"{file} is in UTF-16, and a section in UTF-8")
    signature = descriptors.signature_of(status)
    mode = stat.S_IMODE(status.st_mode)
    return WorktreeFile(
        root=root, file=within, data=data, signature=signature, mode=mode
    )


def folders_written(
    root: str, repository: Repository | None, *more: str
) -> frozenset[str]:
    """Return every folder in which an injection writes a temporary file.

    Args:
        root: The worktree, links resolved.
        repository: None: the folder is in no repository.
        more: Files of the worktree beside those that agents read.
    """
    files = (os.path.join(root, *file.split("/")) for file in (*KNOWN_FILES, *more))
    inside = os.path.join(root, "")
    folders = {os.path.dirname(os.path.realpath(path)) for path in files}
    folders = {folder for folder in folders if f"{folder}/".startswith(inside)}
    if repository is not None:
        folders |= {repository.git_dir, *git_folders_written(repository.common_dir)}
    return frozenset(folders)


def sweep_written(root: str, repository: Repository | None, *more: str) -> None:
    """Remove what killed injections left where an injection writes.

    The caller holds the lock of the worktree. See ``folders_written``.
    """
    sweep_folders(folders_written(root, repository, *more), repository)
    if repository is not None:
        clear_index_copies(repository.git_dir)


def sweep_folders(folders: Iterable[str], repository: Repository | None) -> None:
    """Remove what killed injections left in folders; what is committed is a person's.

    The caller holds the lock of the worktree.
    """

    def is_tracked(path: str) -> bool:
        inside = os.path.join(repository.top, "") if repository else ""
        if repository is None or not path.startswith(inside):
            return False
        try:
            return repository.entry(path.removeprefix(inside)).is_tracked
        except GitError:
            return True  # it may be

    remove_free_partial_files(folders, is_kept=is_tracked)


def git_folders_written(common_dir: str) -> tuple[str, ...]:
    """Return the folders in a git folder in which an injection writes."""
    return (common_dir, *(os.path.join(common_dir, name) for name in _GIT_FOLDERS))


def write_file(old: WorktreeFile, data: bytes, *, beside: str = "") -> None:
    """Replace a file with *data*, if it has not changed since it was read.

    Args:
        old: What was read.
        data: The whole new content.
        beside: Folder for the temporary file; empty: the folder of the file.

    Raises:
        NotInjectedError: Nothing was written, and why.
    """
    folder = os.path.dirname(old.path)
    try:
        os.makedirs(folder, exist_ok=True)
        try:
            _write_by_way_of(beside or folder, old, data)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _write_by_way_of(folder, old, data)
    except OSError as error:
        message = f"{old.file} cannot be written: {reason_of(error)}"
        raise NotInjectedError(message) from error


def delete_file(old: WorktreeFile) -> None:
    """Delete a file, and the folders that are empty without it."""
    _check_unchanged(old)
    try:
        os.unlink(old.path)
        folder = os.path.dirname(old.path)
        while folder != old.root and not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    except OSError as error:
        message = f"{old.file} cannot be deleted: {reason_of(error)}"
        raise NotInjectedError(message) from error


def _write_by_way_of(beside: str, old: WorktreeFile, data: bytes) -> None:
    """Write the new file in the folder *beside* and move it into place."""
    folder, name = os.path.split(old.path)
    with (
        OpenFolder.at(folder) as target,
        OpenFolder.at(beside) as near,
        PartialFile(near, data, mode=old.mode, prepare=_backdate) as partial,
    ):
        _check_unchanged(old)
        partial.replace(name, target)


def _backdate(fd: int) -> None:
    """Date an open file back a little.

    Git reads a file again if it is as young as the index, and an agent that runs git
    with filters off (Claude Code does) would see a change.
    """
    written = os.fstat(fd)
    os.utime(fd, ns=(written.st_atime_ns, written.st_mtime_ns - _OLDER_NS))


def _check_unchanged(old: WorktreeFile) -> None:
    """Raise if the file has changed since it was read."""
    if descriptors.signature_at(old.path, follows_link=False) != old.signature:
        message = f"{old.file} changed while it was being edited"
        raise NotInjectedError(message, hint="Try again.")
