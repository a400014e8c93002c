"""Makes the hits of an answer from the chunks that were chosen."""

from __future__ import annotations

from hivemind_memory.memory.same_text import shown_text
from hivemind_memory.model.clocks import iso_day
from hivemind_memory.model.display import lines_text
from hivemind_memory.model.matches import HitDetails
from hivemind_memory.model.memories import STATUSES, claim_of
from hivemind_memory.model.query import Hit
from hivemind_memory.model.trust import is_untrusted, shown_source
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.port import Index
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.query import Query, ScorePart
    from hivemind_memory.search.hit_selection import HitSelection

_NOTHING_SAID = HitDetails("", "", "")


def make_hits(
    index: Index,
    choice: HitSelection,
    texts: dict[int, tuple[str, str]],
    query: Query,
    confidences: Sequence[float],
) -> tuple[Hit, ...]:
    """Return what the caller gets.

    Args:
        index: Where the details of typed memories stand.
        choice: The chunks that are shown.
        texts: Chunk -> its text and its headings.
        query: What was asked.
        confidences: Of each hit.
    """
    hits = []
    places = [chosen.ranked.place for chosen in choice.hits]
    said_by = [place.chunk_id for place in places if place.type or place.entry_id]
    details = index.hit_source().hit_details(said_by) if said_by else {}
    for chosen, confidence in zip(choice.hits, confidences, strict=True):
        place = chosen.ranked.place
        text, headings = texts.get(place.chunk_id, ("", ""))
        parts: tuple[ScorePart, ...] = ()
        if query.should_explain:
            from hivemind_memory.search.explanation import explain

            parts = explain(chosen)
        detail = details.get(place.chunk_id, _NOTHING_SAID)
        status = STATUSES[place.status]
        source = shown_source(place.note_source, place.entry_source)
        words = chosen.ranked.words
        found_by = (("words", words), ("vectors", chosen.ranked.cosine))
        hits.append(
            Hit(
                path=place.path,
                start_line=place.start_line,
                end_line=place.end_line,
                score=chosen.score,
                relevance=chosen.ranked.relevance,
                snippet=shown_text(text),
                headings=tuple(headings.split("\n")) if headings else (),
                date=iso_day(place.day),
                retrievers=tuple(name for name, found in found_by if found is not None),
                id=place.memory_id or place.entry_id or "",
                type=place.type or "",
                key=place.key or "",
                scope=place.scope,
                status=status,
                source=source,
                untrusted=is_untrusted(status, source),
                disputed_by=chosen.ranked.disputed_by,
                reason=detail.reason
                if words is not None and words.is_by_reason
                else "",
                source_ref=detail.source_ref,
                claim=claim_of(detail.claim) if detail.claim else {},
                confidence=confidence,
                also_in=tuple(
                    lines_text(copy.path, copy.start_line, copy.end_line)
                    for copy in choice.also.get(place.chunk_id, ())
                ),
                parts=parts,
            )
        )
    return tuple(hits)


def with_successors(
    index: Index, hits: tuple[Hit, ...], access: Access
) -> tuple[Hit, ...]:
    """Return the hits, each that was replaced with what replaced it."""
    if not hits or not index.has_strong_edges():
        return hits
    from hivemind_memory.memory.successors import successor_of

    return tuple(
        replaced(hit, superseded_by=successor_of(index, hit.path, access))
        if hit.type or hit.id
        else hit
        for hit in hits
    )
