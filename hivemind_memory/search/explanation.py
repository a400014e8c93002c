"""Explains a score: parts that add up to it, and the figures behind them."""

from __future__ import annotations

from hivemind_memory.model.display import count_text
from hivemind_memory.model.query import ScorePart
from hivemind_memory.search.nearness import nearer
from hivemind_memory.search.ranking import score_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.search.hit_selection import SelectedHit
    from hivemind_memory.search.ranking import RankedChunk


def explain(chosen: SelectedHit) -> tuple[ScorePart, ...]:
    """Return the parts of a score, in the order of the steps; they add up to it.

    A score is a root of a sum, so each part is what the score won or lost by its
    step, given the steps before it.
    """
    ranked = chosen.ranked
    by_words = score_of(ranked.fused.words)
    by_both = score_of(ranked.fused.raw_score)
    parts = []
    if ranked.words is not None:
        words = ranked.words
        # Ranks and weighted shares are no sum of these parts: they have the first only.
        is_sum = ranked.fused.words >= words.total
        chunk = score_of(min(words.chunk, ranked.fused.words))
        passage = score_of(words.chunk + words.subchunk) if is_sum else by_words
        found = f"{count_text(ranked.words.found, 'word')} of the query found"
        if ranked.words.is_by_reason:
            found += ", not all in its text: see the reason"
        parts.append(ScorePart(name="words", value=chunk, note=found))
        parts.append(
            ScorePart(
                name="best passage",
                value=passage - chunk,
                note="the best bullet or paragraph by itself",
            )
        )
        if by_words != passage:
            parts.append(
                ScorePart(
                    name="whole note",
                    value=by_words - passage,
                    note="what the note holds in all",
                )
            )
    if ranked.cosine is not None:
        note = f"cosine {ranked.cosine:.2f}"
        parts.append(ScorePart(name="vectors", value=by_both - by_words, note=note))
    if ranked.relevance != by_both:
        note = "it contains all words of the query"
        parts.append(
            ScorePart(name="all words", value=ranked.relevance - by_both, note=note)
        )
    reranked = score_of(ranked.reranked_raw_score)
    if ranked.reranker:
        change = reranked - ranked.relevance
        parts.append(ScorePart(name="reranker", value=change, note=ranked.reranker))
    if ranked.age != 1:
        note = f"keeps {ranked.age:.3f} of its raw score"
        aged = score_of(ranked.reranked_raw_score * ranked.age)
        parts.append(ScorePart(name="age", value=aged - reranked, note=note))
    parts += _parts_of_a_memory(ranked)
    if chosen.moved:
        note = "of near copies the newest comes first, and older ones make room"
        parts.append(ScorePart(name="newest copy", value=chosen.moved, note=note))
    return tuple(parts)


def _parts_of_a_memory(ranked: RankedChunk) -> list[ScorePart]:
    """Return what its importance and what disputes it changed."""
    parts = []
    aged = ranked.reranked_raw_score * ranked.age
    before, weighed = score_of(aged), score_of(aged * ranked.importance)
    if ranked.importance != 1:
        note = f"a {ranked.place.type or 'note'} of importance {_shown(ranked)}"
        parts.append(ScorePart(name="importance", value=weighed - before, note=note))
    timed = score_of(ranked.timed_weight)
    if ranked.time != 1:
        note = "from a time that the query names, or the days after it"
        parts.append(ScorePart(name="time", value=timed - weighed, note=note))
    near = score_of(nearer(ranked.timed_weight, ranked.nearness))
    if ranked.nearness:
        parts.append(
            ScorePart(name="nearness", value=near - timed, note=_nearness_note(ranked))
        )
    if ranked.dispute != 1:
        note = f"disputed by {ranked.disputed_by}, which is newer"
        parts.append(ScorePart(name="dispute", value=ranked.score - near, note=note))
    return parts


def _nearness_note(ranked: RankedChunk) -> str:
    """Return why a memory is near to the caller."""
    place = ranked.place
    typed = f", an active {place.type}" if place.type else ""
    return f"kept for {place.scope}{typed}"


def _shown(ranked: RankedChunk) -> str:
    """Return an importance as a person reads it."""
    return f"{ranked.place.importance or 0:.2g}"
