"""Puts a section into one file of a worktree, so that git sees nothing of it.

Settings first, then a trial with git's own eyes, then the file, then the index: at no
moment does the worktree look changed, and a process that dies leaves settings at most,
which do nothing by themselves. The caller holds the lock.
"""

from __future__ import annotations

import os
import time

from hivemind_memory.errors import NotInjectedError
from hivemind_memory.inject.gitclean import FILTER, Settings
from hivemind_memory.inject.outcomes import Placed
from hivemind_memory.inject.section import CREATED
from hivemind_memory.inject.splice import (
    SECTION,
    body_of,
    put_section,
    remove_section,
)
from hivemind_memory.inject.targets import IMPORT, head_of
from hivemind_memory.inject.worktree_file import (
    UnfitFileError,
    WorktreeFile,
    delete_file,
    read_file,
    write_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.inject.git import Repository

_TRIES, _PAUSE_S = 20, 0.1
"""Git does not wait for its index; two seconds are more than a commit takes."""


def place(
    root: str,
    file: str,
    repository: Repository | None,
    body: Callable[[bool], str],
) -> Placed:
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
    return Placed(file=old.file, outcome=outcome, is_ours=is_ours, warnings=warnings)


def take_away(root: str, file: str, repository: Repository | None) -> Placed | None:
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
    return Placed(file=old.file, outcome="removed", is_ours=is_ours, warnings=warnings)


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
    file, settings = old.file, Settings(repository)
    entry = repository.entry(file)
    is_tracked = entry.is_tracked
    bare = remove_section(old.data or b"")
    if old.data != bare and repository.holds(entry, SECTION.begin):
        # Of another program, or of one that runs no filters: without it git, and the
        # person, would see a change.
        message = f"{file} has a section that is committed"
        hint = f"`hm eject` takes it out of {file}; commit that."
        raise NotInjectedError(message, hint=hint)
    if is_ours and is_tracked:
        message = f"{file} is tracked by git, but not there"
        raise UnfitFileError(message, hint=f"`git restore {file}` brings it back.")
    if is_ours and not repository.is_ignored(file):
        settings.exclude(file)
        if not repository.is_ignored(file):
            raise UnfitFileError(f"{file} cannot be hidden from git status")
    other = repository.filter_of(file)
    if other not in ("", FILTER):
        if is_ours:
            return ()  # hidden it is, and the person's own filter stays
        raise UnfitFileError(f"{file} has a filter of its own: {other}")
    if not is_ours and bare == old.data and _lacks_newline(bare):
        # The filter cannot take back the line end that the section needs before it.
        raise UnfitFileError(f"{file} has no last newline, so git would see a change")
    is_new = settings.filter(file)
    if is_ours or new == old.data:
        return ()
    # What git would store must be the same with the section as without it.
    if repository.stored_id(file, new) != repository.stored_id(file, bare):
        if is_new:
            settings.unfilter(file)
        raise UnfitFileError(f"git would see a change in {file}: the filter fails")
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
