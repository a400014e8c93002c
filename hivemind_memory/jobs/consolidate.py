"""Applies what a person accepted of a consolidation, one part after the other.

Each part is a save and, for every other memory that it replaces, a link that says so.
All of it is one session, so ``hm forget --session`` undoes it.
"""

from __future__ import annotations

from hivemind_memory.access.visibility import PRIVATE
from hivemind_memory.curation.read_version import version_of_text
from hivemind_memory.errors import HivemindError
from hivemind_memory.jobs.consolidation import hash_of
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memories import ACTIVE, UPDATES
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.jobs.consolidation import Merge
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.memories import MemoryRow

REASON = "consolidated"


@value
class AppliedPart:
    """What became of one part."""

    number: int
    key: str
    id: str = ""
    """Of the new memory; empty: nothing was changed."""

    problem: str = ""
    """Why it was refused, or what of it is missing."""


def apply_merges(
    memory: Memory, merges: Iterable[tuple[int, Merge]]
) -> tuple[str, list[AppliedPart]]:
    """Apply some parts; return the name of the session, and what became of each.

    Args:
        memory: As its owner sees it.
        merges: Number of a part -> the part, its scope as it is shown.
    """
    session = f"consolidate-{memory.clocks.randomness()[:4].hex()}"
    done = []
    for number, merge in merges:
        try:
            done.append(_apply(memory, number, merge, session))
        except HivemindError as error:
            problem = f"{error} {error.hint}".strip()
            done.append(AppliedPart(number=number, key=merge.key, problem=problem))
    return session, done


def _visibility_of(memory: Memory, found: Iterable[StoredMemory]) -> str:
    """Return private if one of some memories is; empty: as that which is replaced."""
    find = memory.settings.visibility_of
    is_private = any(find(m.scope, m.visibility) == PRIVATE for m in found)
    return PRIVATE if is_private else ""


def _is_applied(memory: Memory, merge: Merge, rows: Iterable[MemoryRow]) -> bool:
    """Return whether the memory that a part would save is there, in their place."""
    sources = {ref for ref, _ in merge.sources}
    for row in rows:
        is_new = row.key == merge.key and row.memory_id not in sources
        if is_new and row.status == ACTIVE:
            stored = memory.curation.stored.load(row.path)
            if stored is not None and stored.text.strip() == merge.content.strip():
                return True
    return False


def _apply(memory: Memory, number: int, merge: Merge, session: str) -> AppliedPart:
    """Apply a part, unless one of its memories has changed.

    Raises:
        HivemindError: Nothing was changed.
    """
    scope = memory.find_scope(merge.scope)
    rows = [row for row in memory.memories() if row.scope == scope]
    paths = {row.memory_id: row.path for row in rows}
    if _is_applied(memory, merge, rows):
        problem = "it was applied before: nothing was changed"
        return AppliedPart(number=number, key=merge.key, problem=problem)
    found: list[StoredMemory] = []
    for ref, digest in merge.sources:
        stored = memory.curation.stored.load(paths[ref]) if ref in paths else None
        if stored is None or hash_of(stored, memory.state()) != digest:
            name = stored.key if stored is not None and stored.key else ref
            problem = f"{name} has changed since, or is not active: nothing was changed"
            return AppliedPart(number=number, key=merge.key, problem=problem)
        found.append(stored)
    replaced = next((each for each in found if each.key == merge.key), None)
    if replaced is None:
        problem = "none of its memories has that key: nothing was changed"
        return AppliedPart(number=number, key=merge.key, problem=problem)
    saved = memory.save(
        NewMemory(
            key=merge.key,
            content=merge.content,
            type=merge.type,
            scope=scope,
            reason=REASON,
            replaces=replaced.id,
            replaces_text=version_of_text(replaced),
            visibility=_visibility_of(memory, found),
            importance=max(each.importance for each in found),
            session=session,
            source="human",
        )
    )
    problems = []
    for each in found:
        if each is not replaced:
            try:
                memory.curation.link(
                    saved.id, each.id, UPDATES, texts={each.id: version_of_text(each)}
                )
            except HivemindError as error:
                problems.append(f"{each.key} is still active: {error}")
    return AppliedPart(
        number=number, key=merge.key, id=saved.id, problem="; ".join(problems)
    )
