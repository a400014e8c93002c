"""Decides which project a git folder belongs to: one pure rule.

A project knows its origins, the places of repositories without one, and the git folders
that were seen in it. Only an origin that counts, or the very git folder that was seen
before, makes a repository part of a project. Everything else, such as a former origin,
is only reported: a copy, a fork and another repository of the same name are other
projects.
"""

from __future__ import annotations

from hivemind_memory.model.value import replaced, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAX_FOLDERS = 50
"""Git folders that a project keeps; scratch clones would fill its file otherwise."""

# Hosts that take a path in any case; on others, two cases may be two repositories.
_ANY_CASE = frozenset(
    {"bitbucket.org", "codeberg.org", "dev.azure.com", "gitea.com", "github.com"}
    | {"gitlab.com", "ssh.dev.azure.com"}
)
_OTHER_NAMES = {
    "altssh.bitbucket.org:443": "bitbucket.org",
    "altssh.gitlab.com:443": "gitlab.com",
    "ssh.github.com": "github.com",
    "ssh.github.com:443": "github.com",
    "www.github.com": "github.com",
}


@value
class SeenRepository:
    """What identifies the repository, or the plain folder, that a process is in."""

    folder: str
    """The worktree, or a plain folder."""

    git_folder: str = ""
    """The folder that all worktrees share; empty: no repository."""

    origin: str = ""
    """The normalized URL of ``origin``; empty: none."""

    mark: str = ""
    """Distinguishes the git folder from all others, copies included; empty: unknown."""

    @property
    def identity(self) -> str:
        """What is shown as its identity: the origin, else the place."""
        return self.origin or self.git_folder or self.folder

    @property
    def place(self) -> str:
        """The place of a plain folder; no origin ends in a slash, so none names it."""
        return f"{self.folder}/"


@value
class KnownFolder:
    """A git folder that was seen in a project."""

    mark: str
    path: str
    origin: str = ""
    """Its origin when it was last seen."""


@value
class ProjectRecord:
    """What a project's folder knows about the repositories that belong to it."""

    slug: str
    identities: tuple[str, ...] = ()
    """Origins, and places of repositories without one; the first is shown."""

    former: tuple[str, ...] = ()
    """Origins that its repositories had; they no longer count."""

    folders: tuple[KnownFolder, ...] = ()
    maybe: tuple[str, ...] = ()
    """Projects that had one of its git folders; a person decides what that means."""

    distinct: tuple[str, ...] = ()
    """Projects that a person said are others."""

    problem: str = ""
    """Why it is not known what the folder says, as a clause; empty: it is."""


@value
class Resolution:
    """Which project a repository belongs to."""

    record: ProjectRecord | None = None
    """What its project knows from now on; None: it has no project yet."""

    left: ProjectRecord | None = None
    """What the project that had its git folder knows without it; None: none had it."""

    why: str = ""
    likely: tuple[tuple[str, str], ...] = ()
    """Other projects that may be this one: name, and why, as a clause."""


def identity_key(identity: str) -> str:
    """Return an identity as it is compared.

    >>> identity_key("github.com/Acme/Shop") == identity_key("github.com/acme/shop")
    True
    """
    host, slash, path = identity.partition("/")
    host = _OTHER_NAMES.get(host, host)
    return f"{host}{slash}{path.casefold() if host in _ANY_CASE else path}"


def resolve(
    seen: SeenRepository,
    records: Sequence[ProjectRecord],
    is_there: Callable[[KnownFolder], bool],
) -> Resolution:
    """Return the project of a repository, and what that project learns from it.

    Args:
        seen: The repository.
        records: Of all projects.
        is_there: Whether a git folder is still where it was seen.
    """
    by_mark = next(
        (record for record in records if _folder_of(record, seen.mark)), None
    )
    if not seen.git_folder:
        found = _with_identity(records, seen.place)
        likely = tuple(_likely(seen, records, found, None))
        return Resolution(record=found, why=_BY_NAME if found else "", likely=likely)
    is_others = False
    if seen.origin:
        # First the git folder: who sees a clone of it first must not take its memory.
        found, why = _with_identity(records, seen.origin), _BY_IDENTITY
        is_own = found is not None and found is by_mark
        if (
            by_mark is not None
            and not is_own
            and _keeps_its_project(by_mark, seen, is_there)
        ):
            is_others = found is not None
            found, why = by_mark, "known by its git folder"
    elif by_mark is not None:
        found, why = by_mark, "known by its git folder"
    else:
        found, why = _at_place(records, seen)
    left = None
    if by_mark is not None and (found is None or by_mark.slug != found.slug):
        rest = (folder for folder in by_mark.folders if folder.mark != seen.mark)
        left = replaced(by_mark, folders=tuple(rest))
    if found is None:
        likely = tuple(_likely(seen, records, None, by_mark))
        return Resolution(left=left, likely=likely)
    if left is not None and found.slug in left.maybe:  # It came back.
        left = replaced(
            left, maybe=tuple(slug for slug in left.maybe if slug != found.slug)
        )
    elif left is not None and left.slug not in (*found.maybe, *found.distinct):
        found = replaced(found, maybe=(*found.maybe, left.slug))
    learned = learn(found, seen, is_there, is_others=is_others)
    likely = tuple(_likely(seen, records, learned, by_mark))
    return Resolution(record=learned, left=left, why=why, likely=likely)


_BY_IDENTITY = "identified by its .project file"
_BY_NAME = "named after the folder"


def learn(
    record: ProjectRecord,
    seen: SeenRepository,
    is_there: Callable[[KnownFolder], bool],
    *,
    is_others: bool = False,
) -> ProjectRecord:
    """Return what a project knows once a repository was seen in it.

    Args:
        record: What it knows.
        seen: The repository.
        is_there: Whether a git folder is still where it was seen.
        is_others: The origin is another project's: a new clone belongs to that one.
    """
    known = _folder_of(record, seen.mark)
    old_origin = known.origin if known else ""
    former = record.former
    if old_origin and not seen.origin:
        # The origin was taken away; it still names the project.
        gone, new = _old_places(seen, known), ""
    elif not seen.origin:
        gone, new = _old_places(seen, known), seen.git_folder or seen.place
    elif not old_origin:
        # Its first origin: where it lies no longer counts.
        gone, new = {known.path, seen.place} if known else set(), seen.origin
    elif _is_given_up(record, seen, old_origin, is_there):
        key = identity_key(old_origin)
        gone = {
            known_name
            for known_name in record.identities
            if identity_key(known_name) == key
        }
        former, new = (*former, old_origin), seen.origin
    else:
        gone, new = set(), seen.origin
    identities = [
        known_name for known_name in record.identities if known_name not in gone
    ]
    if (
        new
        and not is_others
        and identity_key(new) not in map(identity_key, record.identities)
    ):
        # The first is shown: an origin, if there is one.
        has_origin = not all(known_name.startswith("/") for known_name in identities)
        identities = [*identities, new] if has_origin else [new, *identities]
    return replaced(
        record,
        identities=tuple(dict.fromkeys(identities)),
        former=tuple(name for name in dict.fromkeys(former) if name not in identities),
        folders=_with_folder(record.folders, seen, known),
    )


def _old_places(seen: SeenRepository, known: KnownFolder | None) -> set[str]:
    """Return the places that no longer name a repository without an origin."""
    if not seen.git_folder:
        return set()
    has_moved = known is not None and known.path != seen.git_folder
    return {seen.place, known.path} if known and has_moved else {seen.place}


def _is_given_up(
    record: ProjectRecord,
    seen: SeenRepository,
    origin: str,
    is_there: Callable[[KnownFolder], bool],
) -> bool:
    """Return whether a repository left an origin that no other clone still has."""
    key = identity_key(origin)
    return key != identity_key(seen.origin) and not any(
        seen_folder.mark != seen.mark
        and identity_key(seen_folder.origin) == key
        and is_there(seen_folder)
        for seen_folder in record.folders
    )


def _with_folder(
    folders: tuple[KnownFolder, ...], seen: SeenRepository, known: KnownFolder | None
) -> tuple[KnownFolder, ...]:
    """Return the git folders of a project, the one that was seen first."""
    if not (seen.mark and seen.git_folder):
        return folders
    origin = seen.origin or (known.origin if known else "")
    newest = KnownFolder(mark=seen.mark, path=seen.git_folder, origin=origin)
    if newest == known:
        return folders
    others = (
        folder
        for folder in folders
        if folder.mark != seen.mark and folder.path != seen.git_folder
    )
    return (newest, *others)[:MAX_FOLDERS]


def _with_identity(
    records: Sequence[ProjectRecord], identity: str
) -> ProjectRecord | None:
    """Return the project whose identities name one; the first by name."""
    key = identity_key(identity)
    return next(
        (record for record in records if key in map(identity_key, record.identities)),
        None,
    )


def _folder_of(record: ProjectRecord, mark: str) -> KnownFolder | None:
    """Return the git folder of a mark as a project knows it."""
    if not mark:
        return None
    return next((folder for folder in record.folders if folder.mark == mark), None)


def _keeps_its_project(
    record: ProjectRecord,
    seen: SeenRepository,
    is_there: Callable[[KnownFolder], bool],
) -> bool:
    """Return whether a known git folder stays in its project with the origin it has.

    With its first one, or when no other git folder of the project is left: with two
    clones of a template, a new origin of one makes it another project. An origin that
    the project has given up, because the other clone went on without it, opens nothing.
    """
    known = _folder_of(record, seen.mark)
    if known is None or not known.origin:
        return known is not None
    key = identity_key(seen.origin)
    if identity_key(known.origin) == key:
        return key not in map(identity_key, record.former)
    return not any(
        folder.mark != seen.mark and is_there(folder) for folder in record.folders
    )


def _at_place(
    records: Sequence[ProjectRecord], seen: SeenRepository
) -> tuple[ProjectRecord | None, str]:
    """Return the project of a repository without an origin, from where it is."""
    # Another git folder that was made in the same place is another repository.
    same = [record for record in records if not _was_replaced(record, seen)]
    found = _with_identity(same, seen.git_folder)
    if found is not None:
        return found, _BY_IDENTITY
    is_main = seen.git_folder == f"{seen.folder}/.git"
    found = _with_identity(same, seen.place) if is_main else None
    return found, "its folder became a repository" if found else ""


def _was_replaced(record: ProjectRecord, seen: SeenRepository) -> bool:
    """Return whether the git folder that a project knows in a place is not there.

    A change of owner or mode changes the mark too, but not its first part, the inode.
    """
    inode = seen.mark.partition("-")[0]
    return bool(inode) and any(
        seen_folder.path == seen.git_folder
        and seen_folder.mark.partition("-")[0] != inode
        for seen_folder in record.folders
    )


def _likely(
    seen: SeenRepository,
    records: Sequence[ProjectRecord],
    found: ProjectRecord | None,
    by_mark: ProjectRecord | None,
) -> Iterator[tuple[str, str]]:
    """Yield the other projects that may be this one, and why."""
    key = identity_key(seen.origin) if seen.origin else ""
    places = {seen.git_folder or f"{seen.folder}/.git", seen.place}
    for record in records:
        is_settled = found is not None and record.slug in found.distinct
        if is_settled or (found is not None and record.slug == found.slug):
            continue
        had_it = by_mark is not None and record.slug == by_mark.slug
        if had_it or (found is not None and record.slug in found.maybe):
            yield record.slug, "this git folder belonged to it"
        elif key and key in map(identity_key, record.former):
            yield record.slug, f"its origin used to be {seen.origin}"
        elif key and key in _origins(record):
            yield record.slug, f"it also uses {seen.origin}"
        elif other := _other_name(record, key):
            yield record.slug, f"{seen.origin} may be another name of {other}"
        elif places & {*record.identities, *(known.path for known in record.folders)}:
            # A place that another repository has now, or that was cloned again.
            yield record.slug, f"it was in {seen.folder}"
        elif seen.origin.startswith("/") and _is_origin(record, seen.origin):
            yield record.slug, f"this is a clone of {seen.origin}"


def _origins(record: ProjectRecord) -> set[str]:
    """Return the origins that a project and its git folders have."""
    own = (*record.identities, *(folder.origin for folder in record.folders))
    return set(map(identity_key, own))


def _other_name(record: ProjectRecord, key: str) -> str:
    """Return an origin of the same path on a host that has an alias, or is one.

    An alias of the configuration of ssh has no dot, as a rule; where it leads is known
    to ssh alone, and may change, so it is only shown.
    """
    host, _, path = key.partition("/")
    for origin in sorted(_origins(record)):
        other, _, same = origin.partition("/")
        is_alias = "." not in other or "." not in host
        if path and host and other and path == same and other != host and is_alias:
            return origin
    return ""


def _is_origin(record: ProjectRecord, path: str) -> bool:
    """Return whether a local path is that of a project's git folder."""
    paths = {path, f"{path}/.git", f"{path}.git"}
    return bool(
        paths & {*record.identities, *(folder.path for folder in record.folders)}
    )
