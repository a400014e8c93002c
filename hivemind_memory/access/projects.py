"""Finds the folder of a project from its identity, and keeps the identity in it.

A folder has the short name that a person would give, ``projects/shop``. The file
``.project`` in it names the repository, so that two repositories of one name never
share a folder and a folder that is renamed by hand is found again.
"""

from __future__ import annotations

import os

from hivemind_memory.access.callers import slug_of_identity
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.model.scope import FOLDERS, slug_problem
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

IDENTITY_FILE = ".project"
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_MAX_BYTES = 4096


@value
class ProjectFolder:
    """Where the memory of a project is."""

    slug: str
    """Name of its folder in ``projects``; empty: there is no project."""

    identity: str
    why: str
    """Why this folder is the project's, as a clause."""


def find_project(
    identity: str, notes: str, projects: Mapping[str, object]
) -> ProjectFolder:
    """Return the folder of a project, and mark it as the project's own.

    In this order: the one that ``config.json`` names, the one that names the identity,
    one that is called like the repository and belongs to no other, a new one.

    Args:
        identity: A normalised origin, or a folder on this machine; empty: no project.
        notes: The notes folder.
        projects: The option ``projects``.
    """
    for slug, project in projects.items():
        if isinstance(project, dict) and project.get("identity") == identity:
            return ProjectFolder(
                slug=slug, identity=identity, why="config.json names it"
            )
    long = slug_of_identity(identity, {})
    if not _is_repository(identity) or not os.path.isdir(notes):
        return ProjectFolder(slug=long, identity=identity, why="named after the folder")
    above = os.path.join(notes, FOLDERS["project"])
    names = _short_names(identity, long)
    for slug in (long, *names, *_listed(above)):
        if _owner(above, slug) == identity:
            return ProjectFolder(
                slug=slug, identity=identity, why=f"its {IDENTITY_FILE} names it"
            )
    if os.path.isdir(os.path.join(above, long)) and _claim(above, long, identity):
        return ProjectFolder(slug=long, identity=identity, why="it was named so before")
    for slug in names:
        is_there = os.path.isdir(os.path.join(above, slug))
        if _claim(above, slug, identity):
            why = "it has the repository's name" if is_there else "new"
            return ProjectFolder(slug=slug, identity=identity, why=why)
    # A folder that cannot be written: the long name is shared with no other project.
    return ProjectFolder(
        slug=long, identity=identity, why="named after the whole identity"
    )


def _is_repository(identity: str) -> bool:
    """Return whether an identity is a remote or a git folder, not a plain folder."""
    if not identity.startswith("/"):
        return bool(identity)
    # A remote on this machine is known without the end of its name.
    return any(os.path.exists(f"{identity}{end}/HEAD") for end in ("", ".git", "/.git"))


def _short_names(identity: str, long: str) -> list[str]:
    """Return the names that a project's folder may take, the best first.

    The last part of the identity, that with the part before it, and the same with a
    few digits that no other project has.
    """
    from hashlib import sha256

    path = identity.casefold().rstrip("/")
    folder, _, name = path.rpartition("/")
    if name.startswith(".") and folder:  # /code/shop/.git
        path = folder
    parts = [_plain(part) for part in path.removesuffix(".git").split("/")]
    parts = [part for part in parts if part]
    digest = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    last = parts[-1] if parts else "project"
    names = [last, "-".join(parts[-2:]), f"{last}-{digest}", long]
    return [name for name in dict.fromkeys(names) if not slug_problem(name)]


def _plain(part: str) -> str:
    """Return a part of an identity as a part of a name."""
    return "".join(one if one in _SAFE else "-" for one in part).strip(".-_")[:60]


def _listed(above: str) -> Iterator[str]:
    """Yield the folders of all projects."""
    try:
        yield from sorted(os.listdir(above))
    except OSError:
        return


def _owner(above: str, slug: str) -> str:
    """Return the identity that a project's folder names; empty: none."""
    try:
        with open(os.path.join(above, slug, IDENTITY_FILE), "rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""


def _claim(above: str, slug: str, identity: str) -> bool:
    """Mark a folder as a project's own; return whether it is.

    Of two repositories that try at once, one gets the folder.
    """
    if _owner(above, slug):
        return _owner(above, slug) == identity
    folder = os.path.join(above, slug)
    data = f"{identity}\n".encode("utf-8", "surrogateescape")
    try:
        make_private_folder(above)
        make_private_folder(folder)
        if write_file(os.path.join(folder, IDENTITY_FILE), data, is_new=True):
            return True
    except OSError:
        return False
    return _owner(above, slug) == identity
