"""Chooses the hits of an answer from the ranked candidates, and reads their texts."""

from __future__ import annotations

from hivemind_memory.memory.same_text import same_texts
from hivemind_memory.search.hit_selection import choose
from hivemind_memory.search.neighbors import join_neighbors, likely_joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.port import Index
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.matches import ChunkLocation
    from hivemind_memory.model.query import Query, SearchSettings
    from hivemind_memory.search.hit_selection import HitSelection, SelectedHit
    from hivemind_memory.search.ranking import RankedChunk, Ranking


def choose_active(
    index: Index,
    ranking: Ranking,
    query: Query,
    settings: SearchSettings,
    access: Access,
) -> tuple[HitSelection, dict[int, tuple[str, str]], int]:
    """Return what is shown, its texts and headings, and how many others were replaced.

    A memory leaves only for one that is shown. So where the limit, or a copy, keeps the
    newer one out of the answer, the choice is made again without what it replaces.
    """
    ranked = ranking.ranked
    if len(ranked) < 2 or not index.has_strong_edges():
        return *_choose(index, ranked, query, settings, access), 0
    from hivemind_memory.search.supersession import supersede

    edges = index.strong_edges({chunk.place.path for chunk in ranked}, access)
    hidden: set[str] = set()
    while True:
        left = supersede(ranked, edges, hidden)
        choice, texts = _choose(index, left.kept, query, settings, access)
        shown = {chosen.ranked.place.path for chosen in choice.hits}
        shown.update(copy.path for copies in choice.also.values() for copy in copies)
        unseen = left.by - shown
        if not unseen:
            return choice, texts, left.left_out
        hidden |= unseen


def _choose(
    index: Index,
    ranked: Sequence[RankedChunk],
    query: Query,
    settings: SearchSettings,
    access: Access,
) -> tuple[HitSelection, dict[int, tuple[str, str]]]:
    """Return what is shown, and its texts and headings."""
    texts: dict[int, tuple[str, str]] = {}

    def read(chunks: Sequence[int]) -> dict[int, str]:
        return {chunk: text for chunk, (text, _) in with_headings(chunks).items()}

    def with_headings(chunks: Sequence[int]) -> dict[int, tuple[str, str]]:
        missing = [chunk for chunk in chunks if chunk not in texts]
        if missing:
            texts.update(index.texts(missing))
        return texts

    def same_text(
        hits: Sequence[SelectedHit],
    ) -> list[tuple[ChunkLocation, ChunkLocation]]:
        read([hit.ranked.place.chunk_id for hit in hits])
        return same_texts(hits, texts, index, access)

    limit = wanted = max(1, query.max_results)
    if not query.keeps_repetitions:
        wanted += likely_joined(ranked[:limit])
    while True:
        choice = choose(
            ranked,
            read,
            limit=wanted,
            diversity=settings.diversity_lambda if settings.diversity else None,
            same_text=None if query.keeps_repetitions else same_text,
        )
        read([hit.ranked.place.chunk_id for hit in choice.hits])
        if query.keeps_repetitions:  # a program that wants each chunk
            return choice, texts
        shown = join_neighbors(
            choice, ranked, with_headings, limit_chars=settings.chunk_chars
        )
        lacking = limit - len(shown.hits)
        if lacking <= 0 or len(choice.hits) < wanted:
            break
        wanted += lacking  # their places go to what else was found
    hits = shown.hits[:limit]
    over = choice.over_limit + len(shown.hits) - len(hits) - shown.added
    choice = choice._replace(hits=hits, joined=shown.joined, over_limit=over)
    return choice, {**texts, **shown.texts}
