"""Finds the hits that repeat an earlier one.

A hit is a repetition only if nothing is lost when it is not shown: its text, its
headings and all that marks it are those of the other. Both are hits of one caller, so
what that caller may not read is never named.
"""

from __future__ import annotations

from hivemind_memory.model.trust import is_trusted, shown_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from hivemind_memory.index.port import Index
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.matches import ChunkLocation
    from hivemind_memory.search.hit_selection import SelectedHit


def same_texts(
    hits: Sequence[SelectedHit],
    texts: Mapping[int, tuple[str, str]],
    index: Index,
    access: Access,
) -> list[tuple[ChunkLocation, ChunkLocation]]:
    """Return the hits that repeat an earlier one, each with that one.

    Args:
        hits: Best first.
        texts: Chunk -> its text and its headings.
        index: Where the details of typed memories stand.
        access: What the caller may see.
    """
    alike: dict[Hashable, list[ChunkLocation]] = {}
    for hit in hits:
        place = hit.ranked.place
        text, headings = texts.get(place.chunk_id, ("", ""))
        said = shown_text(text).strip()
        if not said:
            continue
        marks = (
            place.type,
            place.key,
            place.status,
            is_trusted(shown_source(place.note_source, place.entry_source)),
            hit.ranked.disputed_by,
        )
        alike.setdefault((said, headings, marks), []).append(place)
    copies: list[tuple[ChunkLocation, ChunkLocation]] = []
    for places in alike.values():
        if len(places) > 1:
            copies += _repetitions(places, index, access)
    return copies


def _repetitions(
    places: list[ChunkLocation], index: Index, access: Access
) -> list[tuple[ChunkLocation, ChunkLocation]]:
    """Return the places that are replaced by, and made from, the same as another."""
    chunks = [place.chunk_id for place in places if place.type or place.entry_id]
    details = index.hit_source().hit_details(chunks) if chunks else {}
    has_edges = index.has_strong_edges()
    seen: dict[Hashable, ChunkLocation] = {}
    copies = []
    for place in places:
        successor = ""
        if has_edges and (place.type or place.memory_id or place.entry_id):
            from hivemind_memory.memory.successors import successor_of

            successor = successor_of(index, place.path, access)
        detail = details.get(place.chunk_id)
        origin = (detail.source_ref, detail.claim) if detail else ("", "")
        first = seen.setdefault((origin, successor), place)
        if first is not place:
            copies.append((place, first))
    return copies


def shown_text(text: str) -> str:
    """Return the lines of a chunk without the comment that says who wrote it."""
    if text.startswith("<!-- hm "):
        text = text.partition("\n")[2]
    return text.strip("\r\n")
