"""Writes the links that the language model finds, and proposes those that hide.

``related_to`` and ``contradicts`` hide nothing: they are written to the memory at which
they start, with their author. ``updates`` takes a memory out of searches, so a person
decides about it.
"""

from __future__ import annotations

from hivemind_memory.curation.links import link
from hivemind_memory.curation.read_version import check_text
from hivemind_memory.curation.refused_links import MODEL, is_refused
from hivemind_memory.errors import VersionChangedError
from hivemind_memory.markdown.entry import new_ulid
from hivemind_memory.model.memories import ACTIVE, UPDATES
from hivemind_memory.state.model_links import LinkProposal, ModelLinks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.model.relations import Comparison, Relation


def apply_relations(
    context: CurationContext, start: str, found: Comparison, *, model: str
) -> tuple[int, int]:
    """Write or propose the links of a memory; return how many of each.

    A memory that is no longer active, a link that is there and one that was removed
    before are passed over.

    Args:
        context: Of the model.
        start: Id of the memory at which they start.
        found: What the model says; each relation names a memory that it was given.
        model: Its name.

    Raises:
        NotSavedError: The disk refused; what was written before stays.
        StateUnusableError: The state cannot be used.
        VersionChangedError: A memory says something else than what the model was told;
            the other links are written.
    """
    written = proposed = 0
    changed: VersionChangedError | None = None
    for relation in found.relations:
        index = context.index.fresh(is_lookup=True)
        row, other = active_row(index, start), active_row(index, relation.ref)
        if row is None or other is None or row.path == other.path:
            continue
        if _is_linked(index, row, other, relation.kind) or is_refused(
            context, index, row, other, relation.kind
        ):
            continue
        try:
            if relation.kind == UPDATES:
                proposed += _propose(context, row, other, relation, found, model)
            else:
                written += _write(context, row, other, relation, found)
        except VersionChangedError as error:
            changed = error
    if changed is not None:
        raise changed
    return written, proposed


def active_row(index: MemoryIndex, ref: str) -> MemoryRow | None:
    """Return the active memory that has an id, or is at a path; None: there is none."""
    rows = index.memories(memory_id=ref, statuses=frozenset({ACTIVE}))
    rows = rows or index.memories(path=ref, statuses=frozenset({ACTIVE}))
    return rows[0] if rows else None


def _is_linked(index: MemoryIndex, row: MemoryRow, other: MemoryRow, kind: str) -> bool:
    """Return whether there is an edge of a kind between two memories."""
    ends = {row.path, other.path}
    return any(
        edge.kind == kind and {edge.from_path, edge.to_path} == ends
        for edge in index.edges_of(row.path, scopes=None)
    )


def _write(
    context: CurationContext,
    row: MemoryRow,
    other: MemoryRow,
    relation: Relation,
    found: Comparison,
) -> bool:
    """Write a link; return whether it is new."""
    linked = link(
        context,
        row.memory_id,
        other.memory_id or other.path,
        relation.kind,
        weight=relation.weight,
        by=MODEL,
        texts=found.texts,
    )
    context.update_index(linked.changed_paths)
    return linked.is_changed


def _propose(
    context: CurationContext,
    row: MemoryRow,
    other: MemoryRow,
    relation: Relation,
    found: Comparison,
    model: str,
) -> bool:
    """Keep a proposal; return whether it is new."""
    for end in (row, other):
        check_text(context, end, found.texts, "Nothing was proposed")
    now = context.clocks.now()
    from_hash, to_hash = (_hash_of(context, end, found) for end in (row, other))
    proposal = LinkProposal(
        id=new_ulid(now, context.clocks.randomness()),
        from_ref=row.memory_id,
        to_ref=other.memory_id or other.path,
        kind=relation.kind,
        weight=relation.weight,
        model=model,
        at=context.clocks.local_iso(now),
        from_hash=from_hash,
        to_hash=to_hash,
    )
    return ModelLinks(context.state()).propose(proposal)


def _hash_of(context: CurationContext, row: MemoryRow, found: Comparison) -> bytes:
    """Return the keyed hash of a memory's text as the model read it; empty: unknown."""
    version = found.texts.get(row.memory_id or row.path)
    return context.state().hash_of(version) if version else b""
