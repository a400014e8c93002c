"""Says why a memory is not in an injected section. Reads only."""

from __future__ import annotations

from hivemind_memory.context.told_memories import ToldMemories
from hivemind_memory.curation.replaced import is_over
from hivemind_memory.errors import ScopeError
from hivemind_memory.model.memories import ACTIVE, STATUSES
from hivemind_memory.model.memory_types import SEARCH_ONLY, find_type
from hivemind_memory.model.scope import GLOBAL, scope_of
from hivemind_memory.model.trust import is_trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow


def why_absent(memory: Memory, path: str, *, is_newer: bool = False) -> str:
    """Return why a note cannot be in a section of this folder, as a clause.

    If no rule excludes it, the clause says that no query here found it.

    Args:
        memory: Of the caller.
        path: Of the note.
        is_newer: It was saved after the section was made.
    """
    known = ToldMemories(memory, memory.caller.scopes, memory.clocks.today())
    row = known.rows.get(path)
    if row is not None and (why := _why_excluded(memory, known, row)):
        return why
    return _why_unmatched(scope_of(path), _project_here(memory), is_newer=is_newer)


def _why_excluded(memory: Memory, known: ToldMemories, row: MemoryRow) -> str:
    """Return by which rule no section has a memory; empty: by none."""
    kind = find_type(row.type, memory.types) if row.type else None
    why = ""
    if row.status != ACTIVE:
        why = f"it is {STATUSES[row.status]}"
    elif row.path in known.copies:
        why = f"it is a copy: another memory has the key {row.key}"
    elif newer := known.replaced.get(row.path):
        why = f"{known.rows[newer].key or newer} has replaced it"
    elif not is_trusted(row.source):
        why = f"its source is {row.source}, which is never injected"
    elif is_over(row, memory.clocks.today()):
        why = "it is expired or done"
    elif kind is not None and kind.injected == SEARCH_ONLY:
        why = f"type {kind.name} is never injected; a search finds it"
    return why


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
