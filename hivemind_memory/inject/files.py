"""Puts a section into one file of a worktree, so that git sees nothing of it.

Settings first, then a trial with git's own eyes, then the file, then the index: at no
moment does the worktree look changed, and a process that dies leaves settings at most,
which do nothing by themselves. The caller holds the lock.

One file of a worktree: found without leaving it, read, replaced whole or not at all.

A link within the worktree is followed and stays a link; one that leads out, and any way
into ``.git``, is refused. The new file is made in the git folder where that is on the
same disk, so that ``git status`` of somebody else never sees it half made.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import dataclass

from hivemind_memory.errors import NotInjectedError
from hivemind_memory.files import descriptors
from hivemind_memory.inject.marked_section import (
    SECTION_MARKS,
    body_of,
    put_section,
    remove_section,
)
from hivemind_memory.inject.section import CREATED
from hivemind_memory.inject.targets import IMPORT, head_of
from hivemind_memory.inject.zero_diff import FILTER, GitSettings
from hivemind_memory.model.injection import FileOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.inject.git import Repository
    from hivemind_memory.model.snapshot import FileSignature


_TRIES, _PAUSE_S = 20, 0.1
"""Git does not wait for its index; two seconds are more than a commit takes."""


def write_section(
    root: str,
    file: str,
    repository: Repository | None,
    body: Callable[[bool], str],
) -> FileOutcome:
    """Write a section into *file* unless it is there already, byte for byte.

    Args:
        root: The worktree, links resolved.
        file: Relative, with forward slashes; made if it is not there.
        repository: None: a folder that no git knows.
        body: Whether the file is ours -> the lines between the marks.

    Raises:
        UnfitFileError: This file cannot hold a section.
        NotInjectedError: Nothing was written. Settings may have been.
    """
    old = open_file(root, file, repository)
    rest, is_ours = _rest_of(old)
    if is_ours:
        rest = head_of(old.file, lambda name: _exists(root, name))
    data = rest if is_ours else old.data or b""
    new = put_section(data, body(is_ours))
    warnings: tuple[str, ...] = ()
    if repository is not None:
        warnings = _prepare(repository, old, new, is_ours=is_ours)
    if new == old.data:
        outcome = "unchanged"
    else:
        outcome = "written"
        write_file(old, new, beside=repository.git_dir if repository else "")
    if repository is not None and not is_ours:
        warnings += _refresh(repository, old.file, new)
    return FileOutcome(
        file=old.file, outcome=outcome, is_ours=is_ours, warnings=warnings
    )


def erase_section(
    root: str, file: str, repository: Repository | None
) -> FileOutcome | None:
    """Take the section out of *file*; None when it has none.

    Raises:
        NotInjectedError: Nothing was written.
    """
    old = open_file(root, file, repository)
    if old.data is None:
        return None
    rest, is_ours = _rest_of(old)
    if rest == old.data:
        return None
    warnings: tuple[str, ...] = ()
    if is_ours:
        delete_file(old)
    else:
        write_file(old, rest, beside=repository.git_dir if repository else "")
        if repository is not None:
            warnings = _refresh(repository, old.file, rest)
    return FileOutcome(
        file=old.file, outcome="removed", is_ours=is_ours, warnings=warnings
    )


def open_file(root: str, file: str, repository: Repository | None) -> WorktreeFile:
    """Return a file of the worktree, not one of git's."""
    forbidden = (repository.git_dir, repository.common_dir) if repository else ()
    return read_file(root, file, forbidden=forbidden)


def _rest_of(old: WorktreeFile) -> tuple[bytes, bool]:
    """Return a file without its section, and whether all of the file is ours."""
    if old.data is None:
        return b"", True
    rest = remove_section(old.data)
    is_ours = body_of(old.data).startswith(CREATED) and rest in (b"", IMPORT)
    return rest, is_ours


def _prepare(
    repository: Repository, old: WorktreeFile, new: bytes, *, is_ours: bool
) -> tuple[str, ...]:
    """Make the settings, and make sure that they work; return what to warn of.

    Raises:
        UnfitFileError: Git would see the section.
        NotInjectedError: Git has one already.
    """
    file, settings = old.file, GitSettings(repository)
    entry = repository.entry(file)
    is_tracked = entry.is_tracked
    bare = remove_section(old.data or b"")
    if old.data != bare and repository.holds(entry, SECTION_MARKS.begin):
        # Of another program, or of one that runs no filters: without it git, and the
        # person, would see a change.
        message = f"{file} has a section that is committed"
        hint = f"`hm eject` takes it out of {file}; commit that."
        raise NotInjectedError(message, hint=hint)
    if is_ours and is_tracked:
        message = f"{file} is tracked by git, but not there"
        raise UnusableFileError(message, hint=f"`git restore {file}` brings it back.")
    if is_ours and not repository.is_ignored(file):
        settings.exclude(file)
        if not repository.is_ignored(file):
            raise UnusableFileError(f"{file} cannot be hidden from git status")
    other = repository.filter_of(file)
    if other not in ("", FILTER):
        if is_ours:
            return ()  # hidden it is, and the person's own filter stays
        raise UnusableFileError(f"{file} has a filter of its own: {other}")
    if not is_ours and bare == old.data and _lacks_newline(bare):
        # The filter cannot take back the line end that the section needs before it.
        raise UnusableFileError(
            f"{file} has no last newline, so git would see a change"
        )
    is_new = settings.filter(file)
    if is_ours or new == old.data:
        return ()
    # What git would store must be the same with the section as without it.
    if repository.stored_id(file, new) != repository.stored_id(file, bare):
        if is_new:
            settings.unfilter(file)
        raise UnusableFileError(f"git would see a change in {file}: the filter fails")
    if not is_tracked and settings.is_excluding(file):
        return (f"git passes over {file}; `git add -f {file}` tracks it",)
    return ()


def _refresh(repository: Repository, file: str, data: bytes) -> tuple[str, ...]:
    """Tell the index the file's new size, if the content that it stores is the same.

    Without this git believes the size and shows a change that ``git diff`` denies.
    """
    entry = repository.entry(file)
    if not entry.object_id or repository.stored_id(file, data) != entry.object_id:
        return ()  # not tracked, or with edits of the person's own, which stay visible
    if repository.run("diff-files", "--quiet", "--", file).returncode == 0:
        return ()
    for _ in range(_TRIES):
        done = repository.run("update-index", "--", file)
        if done.returncode == 0:
            return ()
        if b"index.lock" not in done.stderr:
            break
        time.sleep(_PAUSE_S)  # another git is at work: an agent's, as a rule
    return (f"git status may show {file} as changed; `git add {file}` ends that",)


def _lacks_newline(data: bytes) -> bool:
    """Whether a file's last line does not end."""
    return bool(data) and not data.endswith(b"\n")


def _exists(root: str, name: str) -> bool:
    """Whether the worktree holds a file."""
    return os.path.lexists(os.path.join(root, *name.split("/")))


_MAX_BYTES = 4 * 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OLDER_NS = 2_000_000_000
"""A written file is dated so far back: git compares whole seconds, some disks two."""


class UnusableFileError(NotInjectedError):
    """This file cannot hold a section; another one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeFile:
    """A file as it was when it was read."""

    root: str
    file: str
    """Relative to the worktree, links resolved, with forward slashes."""

    data: bytes | None
    """None: it is not there."""

    stamp: FileSignature | None
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
        raise UnusableFileError(f"{file} is a link that leads nowhere")
    path = os.path.realpath(named)
    within = os.path.relpath(path, root).replace(os.sep, "/")
    parts = within.split("/")
    if parts[0] == ".." or os.path.isabs(within):
        raise UnusableFileError(f"{file} is a link that leads out of the worktree")
    is_gits = any(part.lower() == ".git" for part in parts) or any(
        os.path.commonpath([path, folder]) == folder
        for folder in forbidden
        if folder != root
    )
    if is_gits:
        raise UnusableFileError(f"{file} leads into git's own folder")
    try:
        fd = os.open(path, descriptors.READ)
    except (FileNotFoundError, NotADirectoryError):
        return WorktreeFile(
            root=root, file=within, data=None, stamp=None, mode=descriptors.PRIVATE_FILE
        )
    except OSError as error:
        raise UnusableFileError(f"{file} cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
            raise UnusableFileError(f"{file} is not a text file of reasonable size")
        data = descriptors.read_at(fd, 0, _MAX_BYTES + 1)
    finally:
        os.close(fd)
    if data.startswith(_UTF16):
        raise UnusableFileError(f"{file} is in UTF-16, and a section in UTF-8")
    stamp = descriptors.stamp_of(status)
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
    fd = os.open(path, descriptors.CREATE, descriptors.PRIVATE_FILE)
    try:
        descriptors.write_all(fd, data)
        descriptors.set_mode(fd, mode)
        # Of a file that is as young as its index git reads the content again, and an
        # agent that asks git with filters off (Claude Code does) would see a change.
        written = os.fstat(fd)
        os.utime(fd, ns=(written.st_atime_ns, written.st_mtime_ns - _OLDER_NS))
        descriptors.sync_file(fd)
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
        stamp = descriptors.stamp_of(os.lstat(old.path))
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
