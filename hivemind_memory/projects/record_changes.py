"""Changes the record of a project: merges another one, or removes a repository."""

from __future__ import annotations

from hivemind_memory.model.value import replaced
from hivemind_memory.projects.identity import MAX_FOLDERS, identity_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.projects.identity import ProjectRecord, SeenRepository


def merged(into: ProjectRecord, other: ProjectRecord) -> ProjectRecord:
    """Return what one project knows that takes over another."""
    identities = dict.fromkeys((*into.identities, *other.identities))
    former = dict.fromkeys((*into.former, *other.former))
    folders = {folder.mark: folder for folder in (*other.folders, *into.folders)}
    own = {into.slug, other.slug}
    maybe = dict.fromkeys((*into.maybe, *other.maybe))
    distinct = dict.fromkeys((*into.distinct, *other.distinct))
    return replaced(
        into,
        identities=tuple(identities),
        former=tuple(name for name in former if name not in identities),
        folders=tuple(folders.values())[:MAX_FOLDERS],
        maybe=tuple(name for name in maybe if name not in own),
        distinct=tuple(name for name in distinct if name not in own),
    )


def without_repository(record: ProjectRecord, seen: SeenRepository) -> ProjectRecord:
    """Return what a project knows when a repository is no longer part of it."""
    own = {identity_key(name) for name in (seen.identity, seen.git_folder, seen.place)}
    return replaced(
        record,
        identities=tuple(
            identity
            for identity in record.identities
            if identity_key(identity) not in own
        ),
        folders=tuple(folder for folder in record.folders if folder.mark != seen.mark),
    )
