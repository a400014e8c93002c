"""Tells which project a repository is known to belong to, without starting git.

What a search puts first depends on it, and a search waits for no process. Nothing is
recorded or decided here: a repository that no project has seen yet has none.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import ProjectUnknownError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.scope_folders import (
    PROJECT_RECORD,
    SEEN_FOLDER,
    spelled_name,
)
from hivemind_memory.git.git_folder import find_git_folder, git_folder_mark
from hivemind_memory.model.scope import FOLDERS

IDENTITY_FILE = PROJECT_RECORD
"""The record of a project; ``projects.record_file`` has its format."""

MAX_RECORD_BYTES = 64 * 1024


def known_scope(folder: str, notes: str) -> str:
    """Return the scope of the project that has seen the git folder around a folder.

    Args:
        folder: Any folder, links resolved.
        notes: The notes folder.

    Returns:
        Empty: it is in no repository, or in one that no project knows.
    """
    git_folder = find_git_folder(folder)
    mark = git_folder_mark(git_folder) if git_folder else ""
    if not mark:
        return ""
    above = os.path.join(notes, FOLDERS["project"])
    try:
        slugs = listed_projects(above)
    except ProjectUnknownError:
        return ""  # a search says nothing of projects; it only orders its hits
    for slug in slugs:
        if _has_seen(record_path(above, slug), mark):
            return f"{FOLDERS['project']}/{slug}"
    return ""


def listed_projects(above: str) -> list[str]:
    """Return the names of all folders of projects, in small letters.

    Raises:
        ProjectUnknownError: The system does not say which there are. An empty answer
            would make a known project a new one.
    """
    try:
        with os.scandir(above) as entries:
            names = {entry.name.casefold() for entry in entries if entry.is_dir()}
            return sorted(names)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        from hivemind_memory.files.errors import cause_of

        cause, hint = cause_of(error)
        message = f"The folder {above} cannot be listed: {cause}."
        raise ProjectUnknownError(message, hint=hint) from error


def project_folder(above: str, slug: str) -> str:
    """Return the folder of a project, in whatever case a person has spelled it."""
    folder = os.path.join(above, slug)
    if os.path.isdir(folder):
        return folder
    return os.path.join(above, spelled_name(above, slug))


def is_linked(above: str, slug: str) -> bool:
    """Return whether a project's folder is another's, by a link: nothing is put there.

    Notes are not written through links either.
    """
    return os.path.islink(above) or os.path.islink(project_folder(above, slug))


def record_path(above: str, slug: str) -> str:
    """Return where the record of a project is."""
    return os.path.join(project_folder(above, slug), IDENTITY_FILE)


def read_record_bytes(path: str) -> bytes:
    """Return the bytes of a record, one more than are allowed at most.

    Raises:
        OSError: It is missing, cannot be read, or is not a regular file.
    """
    with open(path, "rb", opener=open_regular) as file:
        return file.read(MAX_RECORD_BYTES + 1)


def _has_seen(path: str, mark: str) -> bool:
    """Return whether a record names a git folder with a mark."""
    try:
        data = read_record_bytes(path)
    except OSError:
        return False
    line = f"{SEEN_FOLDER}\t{mark}\t".encode()
    return data.startswith(line) or b"\n" + line in data
