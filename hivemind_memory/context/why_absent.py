"""Says why a memory is not in an injected section. Reads only."""

from __future__ import annotations

from hivemind_memory.curation.copies import copied_paths
from hivemind_memory.errors import ScopeError
from hivemind_memory.model.memories import ACTIVE, STATUSES
from hivemind_memory.model.memory_types import SEARCH_ONLY, find_type
from hivemind_memory.model.scope import GLOBAL, scope_of
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.memory_header import is_expired_or_done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory


def why_absent(memory: Memory, path: str, *, is_newer: bool = False) -> str:
    """Return why a note cannot be in a section of this folder, as a clause.

    If no rule excludes it, the clause says that no query here found it.

    Args:
        memory: Of the caller.
        path: Of the note.
        is_newer: It was saved after the section was made.
    """
    memories = memory.memories()
    copies = copied_paths(memories)
    for row in (row for row in memories if row.path == path):
        kind = find_type(row.type, memory.types) if row.type else None
        if row.status != ACTIVE:
            return f"it is {STATUSES[row.status]}"
        if row.path in copies:
            return f"it is a copy: another memory has the key {row.key}"
        if not is_trusted(row.source):
            return f"its source is {row.source}, which is never injected"
        if is_expired_or_done(
            row.expires_day, row.done_day, today=memory.clocks.today()
        ):
            return "it is expired or done"
        if kind is not None and kind.injected == SEARCH_ONLY:
            return f"type {kind.name} is never injected; a search finds it"
    return _why_unmatched(scope_of(path), _project_here(memory), is_newer=is_newer)


def _project_here(memory: Memory) -> str:
    """Return the scope of the project that the caller is in; global: it is in none."""
    try:
        return memory.find_scope("project")
    except ScopeError:
        return GLOBAL


def _why_unmatched(scope: str, project: str, *, is_newer: bool) -> str:
    """Return why what no rule excludes was not found in a scope."""
    if is_newer and scope in (GLOBAL, project):
        return "it was saved after the last injection; `hm inject` updates the section"
    if scope == GLOBAL:
        return "it matches neither the project's name nor its branch, commits and files"
    if scope == project:
        return "others in its project are newer, or match the branch and commits better"
    return f"it belongs to {scope}, which agents here can't see"
