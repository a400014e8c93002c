"""Finds the git folder around a folder by hand, without starting git.

For what must not wait for a process, and where git's own answer is not needed.
"""

from __future__ import annotations

import os

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.places import find_above

_MAX_POINTER_BYTES = 8 * 1024


def find_git_folder(folder: str) -> str:
    """Return the git folder that all worktrees of a repository share; empty: none.

    Args:
        folder: A folder in a worktree, links resolved.
    """
    top = find_above(folder, ".git")
    if not top:
        return ""
    git_folder = os.path.join(top, ".git")
    if not os.path.isdir(git_folder):
        pointer = _first_line(git_folder)
        if not pointer.startswith("gitdir:"):
            return ""
        git_folder = os.path.join(top, pointer.removeprefix("gitdir:").strip())
    shared = _first_line(os.path.join(git_folder, "commondir"))
    return os.path.realpath(os.path.join(git_folder, shared))


def git_folder_mark(git_folder: str) -> str:
    """Return what distinguishes a git folder from all others, and survives a move.

    Its inode, and the time at which the system last changed the file ``description``,
    which git makes with the folder and never touches. A copy has another inode, and
    none can be given that time. Empty: unknown.
    """
    try:
        folder = os.stat(git_folder)
        described = os.lstat(os.path.join(git_folder, "description"))
    except OSError:
        return ""
    return f"{folder.st_ino}-{described.st_ctime_ns}"


def _first_line(path: str) -> str:
    """Return the first line of a small file; empty if it cannot be read."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read(_MAX_POINTER_BYTES)
    except OSError:
        return ""
    return os.fsdecode(data.split(b"\n", 1)[0]).strip()
