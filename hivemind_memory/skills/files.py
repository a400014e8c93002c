"""Writes the ``SKILL.md`` of a skill into folders of agents, and removes it again.

A folder that was there before is never written into, no link is followed below the
worktree or home in which it lies, and what a person has changed is not overwritten
unless the caller has read it. Git does not see it: ``info/exclude`` names its folder.
The caller holds the lock of skills.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress

from hivemind_memory.errors import NotInjectedError, SkillNotWrittenError
from hivemind_memory.files import descriptors
from hivemind_memory.files.atomic import PARTIAL_FILE, PartialFile
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.files.marked_section import SectionMarks
from hivemind_memory.files.places import worktree_lock
from hivemind_memory.git.own_lines import EXCLUDE, OwnLines, exclude_pattern
from hivemind_memory.skills.package import SKILL_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.state.skills import SkillCopy

_MAX_BYTES = 64 * 1024 * 1024
"""Of a copy, as a person may have edited it; what cannot be read cannot be removed."""
_MARKS = SectionMarks(
    begin=b"# hivemind-skills:begin",
    end=b"# hivemind-skills:end",
    lookalikes=(b"# hivemind-skills:begin", b"# hivemind-skills:end"),
)
"""Apart from those of sections: each is removed without the other."""


def skill_file(copy: SkillCopy) -> str:
    """Return the path of the file of a copy."""
    return os.path.join(copy.folder, SKILL_FILE)


def is_root_there(copy: SkillCopy) -> bool:
    """Return whether the worktree of a copy is still there."""
    return os.path.isdir(copy.root)


def read_copy(copy: SkillCopy) -> bytes | None:
    """Return what the file of a copy holds; None: it is not there.

    Raises:
        SkillNotWrittenError: It cannot be read, or is not a file.
    """
    try:
        with _package(copy) as folder:
            fd = folder.open_file(SKILL_FILE, descriptors.READ)
            found = descriptors.read_regular(fd, _MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed(copy, "cannot be read", error) from error
    if found is None:
        raise SkillNotWrittenError(f"{skill_file(copy)} is too large to be a skill.")
    return found[0]


def top_made(root: str, folder: str, others: Iterable[SkillCopy]) -> str:
    """Return the highest folder above a new one that is, or was, made for skills.

    Empty: all of them were there before. It is removed with the last skill in it.

    Args:
        root: The worktree or home, links resolved.
        folder: The folder of the skill, which is not there yet.
        others: Copies that are there.
    """
    made = ""
    above = os.path.dirname(folder)
    while above != root and not os.path.lexists(above):
        made, above = above, os.path.dirname(above)
    inherited = [
        copy.made
        for copy in others
        if copy.root == root and copy.made and folder.startswith(copy.made + os.sep)
    ]
    return min([*inherited, *([made] if made else [])], key=len, default="")


def write_copy(
    copy: SkillCopy, data: bytes, *, before: bytes | None, locks: str
) -> None:
    """Write the file of a copy, whole or not at all.

    Args:
        copy: The copy; its row is saved already.
        data: All of the file.
        before: What it held when it was read; None: it was not there.
        locks: The folder of the locks of the home.

    Raises:
        SkillNotWrittenError: It was not written, and why.
    """
    hide_from_git(copy, locks)
    try:
        _make_folders(copy)
        with (
            _package(copy) as folder,
            PartialFile(folder, data) as partial,
        ):
            if before is None:
                is_written = partial.create(SKILL_FILE)
            else:
                _check_same(copy, folder, before)
                partial.replace(SKILL_FILE)
                is_written = True
    except OSError as error:
        raise _failed(copy, "cannot be written", error) from error
    if not is_written:
        raise SkillNotWrittenError(
            f"{skill_file(copy)} was created by another program meanwhile."
        )


def remove_copy(
    copy: SkillCopy, *, before: bytes | None, others: Iterable[SkillCopy], locks: str
) -> None:
    """Remove the file of a copy, and what was made for it if nothing else is there.

    Args:
        copy: The copy.
        before: What the file held when it was read; None: it was not there.
        others: All other copies, of this skill and of others.
        locks: The folder of the locks of the home.

    Raises:
        SkillNotWrittenError: It is still there, and why.
    """
    try:
        with _package(copy) as folder:
            if before is not None:
                _check_same(copy, folder, before)
                folder.unlink(SKILL_FILE)
            _sweep(folder)
            folder.sync()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _failed(copy, "cannot be removed", error) from error
    _remove_made(copy)
    show_to_git(copy, others, locks)


def other_files(copy: SkillCopy) -> list[str]:
    """Return the files in the folder of a copy that are not ours."""
    found = []
    for parent, _, files in os.walk(copy.folder):
        names = [name for name in files if not PARTIAL_FILE.fullmatch(name)]
        found += [os.path.join(parent, name) for name in names]
    return sorted(path for path in found if path != skill_file(copy))


def hide_from_git(copy: SkillCopy, locks: str) -> None:
    """Have git ignore the folder of a copy.

    Raises:
        SkillNotWrittenError: Git's settings cannot be changed.
    """
    if not copy.git_folder:
        return
    with _git_lines(copy, locks) as lines:
        lines.add(_pattern(copy))


def show_to_git(copy: SkillCopy, others: Iterable[SkillCopy], locks: str) -> None:
    """Have git see the folder of a copy again, unless another worktree needs that not.

    Raises:
        SkillNotWrittenError: Git's settings cannot be changed.
    """
    if not copy.git_folder or not os.path.isdir(copy.git_folder):
        return
    place = (copy.git_folder, _pattern(copy))
    for other in others:
        is_same = other.git_folder == copy.git_folder and other.is_placed
        if is_same and (other.git_folder, _pattern(other)) == place:
            return
    with _git_lines(copy, locks) as lines:
        lines.remove(_pattern(copy))


@contextmanager
def _git_lines(copy: SkillCopy, locks: str) -> Iterator[OwnLines]:
    """Hold the lock of a git folder; yield our lines in its list of ignored files."""
    lock = exclusive(
        worktree_lock(locks, copy.git_folder),
        wait_s=LOCK_WAIT_S,
        refused=lambda why, hint: SkillNotWrittenError(why, hint=hint),
    )
    try:
        with lock:
            yield OwnLines(copy.git_folder, EXCLUDE, _MARKS)
    except NotInjectedError as error:
        where = os.path.join(copy.git_folder, *EXCLUDE.split("/"))
        raise SkillNotWrittenError(
            f"{where}: {error.problem}", hint=error.hint
        ) from error
    except OSError as error:
        raise _failed(copy, "cannot be hidden from git", error) from error


def _pattern(copy: SkillCopy) -> str:
    """Return the line with which git ignores the folder of a copy."""
    within = os.path.relpath(copy.folder, copy.root).replace(os.sep, "/")
    return exclude_pattern(within) + "/"


@contextmanager
def _package(copy: SkillCopy) -> Iterator[OpenFolder]:
    """Open the folder of a copy; a link on the way from its root is an ``OSError``."""
    with OpenFolder.at(copy.root) as root:
        folder = root
        try:
            for name in os.path.relpath(copy.folder, copy.root).split(os.sep):
                child = folder.child(name)
                if folder is not root:
                    folder.close()
                folder = child
            yield folder
        finally:
            if folder is not root:
                folder.close()


def _remove_made(copy: SkillCopy) -> None:
    """Remove the folder of a copy and those that were made for it, if empty.

    A killed process may have removed some of them.
    """
    folder, top = copy.folder, copy.made or copy.folder
    with suppress(OSError):
        while (folder + os.sep).startswith(top + os.sep):
            with suppress(FileNotFoundError):
                os.rmdir(folder)
            folder = os.path.dirname(folder)


def _make_folders(copy: SkillCopy) -> None:
    """Make the folder of a copy and those above it that are missing."""
    with OpenFolder.at(copy.root) as root:
        folder = root
        try:
            for name in os.path.relpath(copy.folder, copy.root).split(os.sep):
                with suppress(FileExistsError):
                    folder.make_child(name)
                child = folder.child(name)
                if folder is not root:
                    folder.close()
                folder = child
        finally:
            if folder is not root:
                folder.close()


def _check_same(copy: SkillCopy, folder: OpenFolder, before: bytes) -> None:
    """Raise if the file of a copy does not hold what it held."""
    fd = folder.open_file(SKILL_FILE, descriptors.READ)
    found = descriptors.read_regular(fd, _MAX_BYTES)
    if found is None or found[0] != before:
        raise SkillNotWrittenError(
            f"{skill_file(copy)} changed while it was being edited.", hint="Try again."
        )


def _sweep(folder: OpenFolder) -> None:
    """Remove what a killed process left half-written."""
    with folder.scan() as entries:
        left = [entry.name for entry in entries if PARTIAL_FILE.fullmatch(entry.name)]
    for name in left:
        folder.unlink(name)


def _failed(copy: SkillCopy, what: str, error: OSError) -> SkillNotWrittenError:
    """Return the error for what the system refused."""
    if isinstance(error, NotADirectoryError) or error.errno == errno.ELOOP:
        return SkillNotWrittenError(
            f"{skill_file(copy)} {what}: part of its path is a link, or not a folder.",
            hint="Skills are only written through plain folders.",
        )
    return SkillNotWrittenError(f"{skill_file(copy)} {what}: {reason_of(error)}.")
