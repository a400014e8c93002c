"""Tells cheaply whether a folder may have become that of another project.

The project of a folder follows from its repository, and the place of its memory from
the folders of all projects. Both can change while a server runs. What is compared here
costs a few looks at the disk; git is asked only when something differs.
"""

from __future__ import annotations

import os

from hivemind_memory.access.projects import IDENTITY_FILE
from hivemind_memory.files.places import find_above
from hivemind_memory.model.scope import FOLDERS

Signature = tuple[object, ...]


def folder_signature(folder: str, notes: str, scope: str) -> Signature:
    """Return what the project of a folder depends on; equal: it is still the same.

    Args:
        folder: A folder in the project's repository.
        notes: The notes folder.
        scope: Scope of the project as it was found, ``projects/NAME``; empty: none.
    """
    real = os.path.realpath(folder)
    top = find_above(real, ".git")
    git = _git_folder(os.path.join(top, ".git")) if top else ""
    return (
        real,
        top,
        _look(os.path.join(git, "config")) if git else None,
        _look(os.path.join(notes, FOLDERS["project"])),
        _look(os.path.join(notes, scope, IDENTITY_FILE)) if scope else None,
    )


def _git_folder(place: str) -> str:
    """Return the git folder that all worktrees share; empty if it is not known."""
    if os.path.isdir(place):
        return place
    own = os.path.join(os.path.dirname(place), _line(place).removeprefix("gitdir: "))
    shared = _line(os.path.join(own, "commondir"))
    return os.path.join(own, shared) if shared else own


def _line(file: str) -> str:
    """Return the first line of a small file; empty if there is none."""
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            return opened.readline(4096).strip()
    except OSError:
        return ""


def _look(path: str) -> tuple[int, int, int] | None:
    """Return what changes with a file or a folder; None: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
