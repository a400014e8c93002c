"""Lists the projects with their likely twins, and adopts repositories."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hivemind_memory.access.rules import check_owner
from hivemind_memory.curation.project_checks import missing_project
from hivemind_memory.curation.project_move import (
    ProjectMove,
    move_project,
    remove_folders,
    save_record,
)
from hivemind_memory.model.scope import FOLDERS, make_scope, scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.projects.folders import is_there
from hivemind_memory.projects.identity import SeenRepository, learn
from hivemind_memory.projects.known_project import project_folder
from hivemind_memory.projects.move_lock import moves_lock, records_lock
from hivemind_memory.projects.record_changes import without_repository
from hivemind_memory.projects.record_file import read_record, read_records
from hivemind_memory.projects.twins import is_orphan, twins_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hivemind_memory.curation.context import CurationContext

_ABOVE = FOLDERS["project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProject:
    """A project, as a list shows it."""

    name: str
    identities: tuple[str, ...]
    former: tuple[str, ...]
    folders: tuple[str, ...]
    """Git folders of its repositories that are still there."""

    notes: int
    updated_at: str
    """When the newest of its notes changed, ISO 8601; empty: there are none."""

    is_orphan: bool
    """No repository leads to it any more, as far as known."""

    twins: tuple[str, ...]
    """Projects that are likely the same one."""

    problem: str = ""
    """Why it cannot be read which repositories belong to it; empty: it can."""


class Projects:
    """The projects of a memory, for one caller."""

    def __init__(
        self, context: CurationContext, lock: AbstractContextManager[object]
    ) -> None:
        """Take the context, and the lock of the memory."""
        self._context = context
        self._lock = lock

    def list(self) -> tuple[ListedProject, ...]:
        """Return every project; see ``list_projects``."""
        with self._lock:
            return list_projects(self._context)

    def move(
        self, source: str, target: str, *, is_merge: bool, is_dry_run: bool = False
    ) -> ProjectMove:
        """Rename a project or merge it into another; see ``move_project``."""
        with moves_lock(self._context.places.shared_locks), self._lock:
            return move_project(
                self._context, source, target, is_merge=is_merge, is_dry_run=is_dry_run
            )

    def adopt(self, seen: SeenRepository, current: str, name: str) -> tuple[str, ...]:
        """Make a repository part of a project; see ``adopt_project``."""
        locks = self._context.places.shared_locks
        above = os.path.join(self._context.places.notes, _ABOVE)
        with (
            moves_lock(locks, "Nothing was changed"),
            self._lock,
            records_lock(above),
        ):
            return adopt_project(self._context, seen, current, name)


def list_projects(context: CurationContext) -> tuple[ListedProject, ...]:
    """Return every project, in the order of their names."""
    check_owner(context.caller, "hm project list")
    above = os.path.join(context.places.notes, _ABOVE)
    records = read_records(above)
    newest: dict[str, list[int]] = {}
    for path, signature in context.folder.signatures().items():
        scope = scope_of(path)
        if scope.startswith(f"{_ABOVE}/"):
            newest.setdefault(scope.partition("/")[2], []).append(signature[0])
    listed = []
    for record in records:
        times = newest.get(record.slug.casefold(), [])
        listed.append(
            ListedProject(
                name=record.slug,
                identities=record.identities,
                former=record.former,
                folders=tuple(
                    folder.path for folder in record.folders if is_there(folder)
                ),
                notes=len(times),
                updated_at=context.clocks.local_iso(max(times) / 1e9) if times else "",
                is_orphan=is_orphan(record),
                twins=tuple(twins_of(record, records)),
                problem=record.problem,
            )
        )
    return tuple(listed)


def adopt_project(
    context: CurationContext, seen: SeenRepository, current: str, name: str
) -> tuple[str, ...]:
    """Make a repository part of a project; return the projects that it leaves.

    Args:
        context: Of the owner.
        seen: The repository.
        current: Name of the project that it is in now.
        name: Name of the project; the current one: it is kept apart from its likely
            twins.

    Raises:
        UsageError: There is no such project.
        NotSavedError: The disk refused.
    """
    check_owner(context.caller, "hm project adopt")
    make_scope("project", name)
    above = os.path.join(context.places.notes, _ABOVE)
    if not os.path.isdir(project_folder(above, name)):
        names = os.listdir(above) if os.path.isdir(above) else []
        raise missing_project(name, names)
    left = []
    record = read_record(above, name)
    others = [candidate for candidate in read_records(above) if candidate.slug != name]
    if name == current:
        distinct = (*record.distinct, *(twin.slug for twin in others))
        record = replaced(record, distinct=tuple(dict.fromkeys(distinct)))
    # First what it belongs to from now on: killed here, it belongs to both.
    record = learn(replaced(record, maybe=()), seen, is_there)
    save_record(above, record)
    for other in others:
        rest = without_repository(other, seen)
        rest = replaced(rest, maybe=tuple(slug for slug in rest.maybe if slug != name))
        if rest != other:
            save_record(above, rest)
            left.append(other.slug)
            if not rest.identities:
                remove_folders(project_folder(above, other.slug))
    return tuple(left)
