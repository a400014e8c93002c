"""Finds the notes folder of a project from its repository, or claims a new one.

A folder has the short name that a person would give, ``projects/shop``. The file
``.project`` in it names its repositories, so that two of one name never share a folder
and a folder that is renamed by hand is found again. Which project a repository belongs
to is decided in ``identity``.
"""

from __future__ import annotations

import os
from contextlib import suppress

from hivemind_memory.errors import NotSavedError, ProjectUnknownError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.digests import sha256_hex
from hivemind_memory.model.display import escape_line
from hivemind_memory.model.scope import FOLDERS, NAME_CHARS, make_scope, slug_problem
from hivemind_memory.model.value import replaced, value
from hivemind_memory.projects.identity import (
    KnownFolder,
    ProjectRecord,
    SeenRepository,
    identity_key,
    learn,
    resolve,
)
from hivemind_memory.projects.known_project import (
    IDENTITY_FILE,
    is_linked,
    project_folder,
)
from hivemind_memory.projects.record_file import (
    has_file,
    read_record,
    read_records,
    render_record,
    write_record,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

NAMED_IN_CONFIG = "config.json names it"
"""Why a folder is a project's, as a clause."""

_LEARN_WAIT_S = 1.0
"""How long who only looks a project up waits for others that record what they saw."""

_SEPARATOR = "--"
_MAX_LONG_NAME = 80
_MAX_PART = 60


@value
class ProjectFolder:
    """Where the memory of a project is."""

    slug: str
    """Name of its folder in ``projects``; empty: there is no project."""

    identity: str
    why: str
    """Why this folder is the project's, as a clause."""

    likely: tuple[tuple[str, str], ...] = ()
    """Other projects that may be this one: name, and why, as a clause."""

    @property
    def scope(self) -> str:
        """Its scope, ``projects/shop``."""
        return make_scope("project", self.slug)

    @property
    def notice(self) -> str:
        """A sentence about a project that may be this one; empty: there is none."""
        if not self.likely:
            return ""
        from shlex import quote

        name, why = self.likely[0]
        return (
            f"The project {name} may be this one ({escape_line(why)[:200]}). A person"
            f" can run `hm project adopt {quote(name)}` to continue it here, or"
            f" `hm project adopt {quote(self.slug)}` to keep them apart."
        )


def find_project(
    seen: SeenRepository,
    notes: str,
    projects: Mapping[str, object],
    *,
    is_write: bool = False,
    is_look: bool = False,
) -> ProjectFolder:
    """Return the folder of a project, and record in it what was seen of the project.

    In this order: the one that ``config.json`` names, the one that knows the
    repository, one that has the repository's name and belongs to no other, a new one.

    Args:
        seen: The repository, or a plain folder.
        notes: The notes folder.
        projects: The option ``projects``.
        is_write: Something is about to be written, so the folder of the notes is made.
        is_look: Nothing is recorded, and no folder made.

    Raises:
        ProjectUnknownError: It belongs to none of the projects whose files can be read.
    """
    named = _in_config(seen, projects)
    if named:
        return ProjectFolder(slug=named, identity=seen.identity, why=NAMED_IN_CONFIG)
    above = os.path.join(notes, FOLDERS["project"])
    long = long_name(seen.identity)
    if not os.path.isdir(notes) and not (is_write and seen.git_folder):
        names = _short_names(seen.identity, long) if seen.git_folder else [long]
        return ProjectFolder(slug=names[0], identity=seen.identity, why="new")
    records = [*read_records(above), *_long_names(above, seen)]
    found = resolve(seen, records, is_there)
    if found.left is not None and not is_look:
        _learn(above, records, found.left)
    if found.record is not None:
        before = next(
            candidate for candidate in records if candidate.slug == found.record.slug
        )
        why = found.why
        if not has_file(above, found.record.slug) and seen.git_folder:
            why = "it was named so before"
        if (found.record != before or why != found.why) and not is_look:
            _learn(above, records, found.record)
        slug = found.record.slug
    elif seen.git_folder:
        _refuse_unknown(records)
        maybe = (found.left.slug,) if found.left is not None else ()
        record = learn(ProjectRecord(slug=long, maybe=maybe), seen, is_there)
        taken = {
            candidate.slug for candidate in records if has_file(above, candidate.slug)
        }
        slug, why = _claim_any(above, record, taken, seen.identity, is_look=is_look)
    else:
        slug, why = long, "named after the folder"
    return ProjectFolder(
        slug=slug,
        identity=seen.identity,
        why=why,
        likely=tuple(pair for pair in found.likely if pair[0] != slug),
    )


def _refuse_unknown(records: Iterable[ProjectRecord]) -> None:
    """Raise if it is unknown whether a repository belongs to a project.

    Raises:
        ProjectUnknownError: What a project knows cannot be read.
    """
    for record in records:
        if record.problem:
            # The name is not shown: another project's agent may be asking.
            raise ProjectUnknownError(
                f"The {IDENTITY_FILE} file of a project cannot be read, so it is not"
                " known whether this repository belongs to it.",
                hint="A person can run `hm project list` to see which file it is."
                " Repair it, or run `hm project adopt NAME` in the repository that"
                " it belongs to.",
            )


def long_name(identity: str) -> str:
    """Return the name of a folder that says the whole identity; no two share one.

    Args:
        identity: A normalized origin, or a folder on this machine; empty: no project.

    >>> long_name("github.com/Acme/Shop")
    'github.com--acme--shop'
    """
    if not identity:
        return ""
    parts = identity.casefold().split("/")
    if not identity.startswith("/") and all(map(_is_plain, parts)):
        name = _SEPARATOR.join(parts)
        if len(name) <= _MAX_LONG_NAME:
            return name
    # A path is this machine's own, and odd names could meet in one folder.
    last = identity.casefold().removesuffix("/.git").rstrip("/").rpartition("/")[2]
    return _with_digest(_plain(last)[:_MAX_LONG_NAME] or "project", identity)


def is_there(known: KnownFolder) -> bool:
    """Return whether a git folder is still where it was seen."""
    from hivemind_memory.git.git_folder import git_folder_mark

    return git_folder_mark(known.path) == known.mark


def _in_config(seen: SeenRepository, projects: Mapping[str, object]) -> str:
    """Return the project that ``config.json`` gives a repository; empty: none."""
    key = identity_key(seen.identity)
    for slug, project in projects.items():
        identity = project.get("identity") if isinstance(project, dict) else None
        if isinstance(identity, str) and identity_key(identity) == key:
            return slug
    return ""


def _long_names(above: str, seen: SeenRepository) -> Iterator[ProjectRecord]:
    """Yield the folders that are named after a whole identity and name no owner.

    So they were named by earlier versions, and plain folders still are.
    """
    main = f"{seen.folder}/.git" if not seen.git_folder else seen.git_folder
    identities = {seen.origin: seen.origin, seen.git_folder: seen.git_folder}
    if main == f"{seen.folder}/.git":
        identities[seen.folder] = seen.place
    for identity, line in identities.items():
        slug = long_name(identity)
        is_folder = bool(slug) and os.path.isdir(project_folder(above, slug))
        if is_folder and not has_file(above, slug):
            yield ProjectRecord(slug=slug, identities=(line,))


def _learn(
    above: str, records: Iterable[ProjectRecord], learned: ProjectRecord
) -> None:
    """Write down what a project knows by now, if its record still is what was read.

    What a person has changed meanwhile counts; what is left out is learned later.
    """
    from hivemind_memory.projects.move_lock import records_lock

    before = next(record for record in records if record.slug == learned.slug)
    with suppress(NotSavedError), records_lock(above, wait_s=_LEARN_WAIT_S):
        if read_record(above, learned.slug) == before:
            write_record(above, learned)


def _claim_any(
    above: str,
    record: ProjectRecord,
    taken: Container[str],
    identity: str,
    *,
    is_look: bool,
) -> tuple[str, str]:
    """Return the folder of a new project, and why it is this one.

    Args:
        above: The folder ``projects``.
        record: What the project knows, under a name that no other has.
        taken: Folders of other projects.
        identity: Gives it a shorter name.
        is_look: Only say which it would be.
    """
    for slug in _short_names(identity, record.slug):
        was_there = os.path.isdir(project_folder(above, slug))
        if slug in taken:
            continue
        if is_look or _claim(above, replaced(record, slug=slug)):
            return slug, "it has the repository's name" if was_there else "new"
    # A folder that cannot be written: the long name is shared with no other project.
    return record.slug, "named after the whole identity"


def _claim(above: str, record: ProjectRecord) -> bool:
    """Mark a folder as a project's own; return whether it is.

    Of two repositories that try at once, one gets the folder.
    """
    if is_linked(above, record.slug):
        return False
    folder = project_folder(above, record.slug)
    data = render_record(record).encode("utf-8", "surrogateescape")
    try:
        if not has_file(above, record.slug):
            make_private_folder(above)
            make_private_folder(folder)
            if write_file(os.path.join(folder, IDENTITY_FILE), data, is_new=True):
                return True
    except OSError:
        return False
    # Another process of this repository may have been faster.
    owner = read_record(above, record.slug)
    own = set(map(identity_key, record.identities))
    return bool(own & set(map(identity_key, owner.identities)))


def _short_names(identity: str, long: str) -> list[str]:
    """Return the names that a project's folder may take, the best first.

    The last part of the identity, that with the part before it, and the same with a
    few digits that no other project has.
    """
    path = identity.casefold().rstrip("/")
    folder, _, name = path.rpartition("/")
    if name.startswith(".") and folder:  # /code/shop/.git
        path = folder
    parts = [_plain(part)[:_MAX_PART] for part in path.removesuffix(".git").split("/")]
    parts = [part for part in parts if part]
    last = parts[-1] if parts else "project"
    names = [last, "-".join(parts[-2:]), _with_digest(last, identity), long]
    return [name for name in dict.fromkeys(names) if not slug_problem(name)]


def _with_digest(readable: str, identity: str) -> str:
    """Return a name for people to read, with digits that no other project has."""
    digest = sha256_hex(identity.encode("utf-8", "surrogatepass"))[:8]
    return f"{readable}-{digest}"


def _plain(part: str) -> str:
    """Return a part of an identity as a part of a name."""
    return "".join(letter if letter in NAME_CHARS else "-" for letter in part).strip(
        ".-_"
    )


def _is_plain(part: str) -> bool:
    """Whether no other part would become the same text."""
    is_safe = bool(part) and NAME_CHARS.issuperset(part)
    return is_safe and _SEPARATOR not in part and part == part.strip(".-")
