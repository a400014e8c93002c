"""Finds the folder of a scope in whatever letter case a person has spelled it.

Scopes that differ only in case are one scope, as on disks that do not distinguish
``Shop`` from ``shop``. So a scope gets no second folder beside the one that is there.
"""

from __future__ import annotations

import os

from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of

PROJECT_RECORD = ".project"
"""The file in a project's folder that names its repositories; ``projects.record_file``
has its format."""

SEEN_FOLDER = "folder"
"""The first field of a line on a git folder there; its mark is the second."""


def spelled_name(above: str, name: str, *, first: str = "") -> str:
    """Return the name of a folder as it is spelled on the disk.

    Args:
        above: The folder that it is in.
        name: In small letters, as scopes are written; returned if there is no such
            folder.
        first: The spelling that is meant if there are several; else that in small
            letters.
    """
    try:
        with os.scandir(above) as entries:
            found = [
                entry.name
                for entry in entries
                if entry.name.casefold() == name and entry.is_dir()
            ]
    except OSError:
        return name
    return min(found, key=lambda other: (other != first, other != name), default=name)


def spelled_path(notes: str, path: NotePath) -> NotePath:
    """Return the path of a note with the folders of its scope as they are spelled.

    Of several folders, a note that is there is meant as it is named, and a new one goes
    into that in small letters.

    Args:
        notes: The notes folder.
        path: Below it.
    """
    scope = scope_of(path)
    if not scope:
        return path
    kind, slug = scope.split("/")
    named_kind, named_slug, rest = path.split("/", 2)
    is_there = os.path.lexists(os.path.join(notes, path))
    first_kind, first_slug = (named_kind, named_slug) if is_there else (kind, slug)
    above = kind
    if first_kind != kind or not os.path.isdir(os.path.join(notes, kind)):
        above = spelled_name(notes, kind, first=first_kind)
    folder = spelled_name(os.path.join(notes, above), slug, first=first_slug)
    return NotePath(f"{above}/{folder}/{rest}")
