"""Finds notes that claim to be a memory: copies by a person or a sync tool."""

from __future__ import annotations

from hivemind_memory.model.display import lines_text
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.notes.slug import rank_of_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.model.curation import SimilarMemory
    from hivemind_memory.model.memories import MemoryRow


def copies_of(rows: Iterable[MemoryRow], path: str) -> list[str]:
    """Return the paths of other active memories with the key or the id of a memory.

    Args:
        rows: The memories that the caller sees.
        path: Of the memory; one that is not active has no copies.
    """
    active = [row for row in rows if row.status == ACTIVE]
    own = next((row for row in active if row.path == path), None)
    if own is None:
        return []
    return sorted(
        row.path
        for row in active
        if row.path != path
        and row.scope == own.scope
        and (
            (row.key == own.key and bool(row.key))
            or (row.memory_id == own.memory_id and bool(row.memory_id))
        )
    )


def copied_paths(rows: Iterable[MemoryRow]) -> frozenset[str]:
    """Return the paths of active memories whose key another one in their scope has.

    Of several, the one that is named after the key is the memory.
    """
    named: dict[tuple[str, str], list[str]] = {}
    active = [row for row in rows if row.status == ACTIVE and row.key]
    # Hardly any memory has a copy, and a set is made much faster than lists.
    if len({(row.scope, row.key) for row in active}) == len(active):
        return frozenset()
    for row in active:
        named.setdefault((row.scope, row.key), []).append(row.path)
    found: set[str] = set()
    for (_, key), paths in named.items():
        if len(paths) > 1:
            own = min(paths, key=lambda path: (rank_of_name(path, key), path))
            found.update(path for path in paths if path != own)
    return frozenset(found)


def copy_notice(path: str) -> str:
    """Return what to say of a copy."""
    return (
        f"{path} is another active memory with this key: delete it, or give it a key of"
        " its own"
    )


def similar_notice(similar: SimilarMemory) -> str:
    """Return the warning that a memory says nearly the same."""
    named = f'"{similar.key}"' if similar.key else "a note"
    place = lines_text(similar.path, similar.start_line, similar.end_line)
    return f"nearly the same as {named}, in {place}"
