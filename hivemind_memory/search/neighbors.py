"""Joins hits with what stands directly above and below them in the note.

A section that was cut for its length, or short sections below one another, answer
together: one hit shows their lines, and the places of the others go to what else was
found. Pure.
"""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.matches import ChunkLocation
from hivemind_memory.search.hit_selection import CLOSE_RAW_SCORE, SelectedHit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from hivemind_memory.search.hit_selection import HitSelection
    from hivemind_memory.search.ranking import RankedChunk

    Texts: TypeAlias = Mapping[int, tuple[str, str]]

CONSIDERED = 25
"""Candidates that may be a part of a hit: always as many, so that a hit shows the same
lines however many are wanted."""


_AFTER_LINES = ChunkLocation._fields.index("end_line") + 1
"""What follows is said of a chunk besides its lines: day, type, key, origin."""


class JoinedHits(NamedTuple):
    """Hits, of which some show the lines of several chunks."""

    hits: list[SelectedHit]
    texts: Texts
    """Chunk that a joined hit is known by -> the text of all its lines, and the
    headings that stand above all of them."""

    joined: int
    """How many hits are a part of another."""

    added: int
    """How many candidates are a part of a hit that were none themselves."""


def join_neighbors(
    choice: HitSelection,
    ranked: Sequence[RankedChunk],
    texts: Callable[[Sequence[int]], Texts],
    *,
    limit_chars: int,
) -> JoinedHits:
    """Return the hits, best first, each with its neighbors.

    A neighbor stands directly above or below, matches about as well, and both together
    are no longer than a chunk may be: so no hit becomes longer than others. A hit whose
    text stands in several places stays alone.

    Args:
        choice: The hits.
        ranked: All candidates, best first.
        texts: Takes chunks, and returns their texts and headings.
        limit_chars: Characters of a joined hit at most.
    """
    hits = choice.hits
    near = _in_a_row([*(hit.ranked for hit in hits), *ranked[:CONSIDERED]])
    if not near:
        return JoinedHits(hits, {}, 0, 0)
    kept: list[SelectedHit] = []
    joined: dict[int, tuple[str, str]] = {}
    borders: dict[tuple[str, int], int] = {}  # by first line, and by -next
    added = 0
    for number, hit in enumerate((*hits, *_others(choice, near))):
        chunk, path, first, last = hit.ranked.place[:4]
        beside = (borders.get((path, -first)), borders.get((path, last + 1)))
        for at in sorted(at for at in beside if at is not None):
            better = kept[at]
            main = better.ranked.place.chunk_id
            if {main, chunk} & choice.also.keys() or not _may_join(better, hit):
                continue
            said = texts([main, chunk])
            if main not in said or chunk not in said:  # it went while we looked
                continue
            text, more = joined.get(main) or said[main], said[chunk]
            if len(text[0]) + len(more[0]) < limit_chars:  # a newline comes between
                kept[at], joined[main] = _join(better, text, hit, more)
                added += number >= len(hits)
                break
        else:
            if number >= len(hits):
                continue
            at = len(kept)
            kept.append(hit)
        place = kept[at].ranked.place
        borders[path, -place.end_line - 1] = borders[path, place.start_line] = at
    return JoinedHits(kept, joined, len(hits) - len(kept), added)


def likely_joined(ranked: Sequence[RankedChunk]) -> int:
    """Return how many of the candidates are likely to be a part of another's hit.

    It saves choosing twice; ``join_neighbors`` decides.
    """
    near = _in_a_row(ranked)
    ends = {(each.place.path, each.place.end_line + 1): each for each in near}
    return sum(
        min(each.raw_score, above.raw_score)
        >= CLOSE_RAW_SCORE * max(each.raw_score, above.raw_score)
        > 0
        for each in near
        if (above := ends.get((each.place.path, each.place.start_line)))
    )


def _others(choice: HitSelection, near: Sequence[RankedChunk]) -> list[SelectedHit]:
    """Return the candidates that are not shown, and share no line with a hit."""
    hits = [hit.ranked.place for hit in choice.hits]
    shown = {place.chunk_id for place in hits}
    shown.update(copy.chunk_id for copies in choice.also.values() for copy in copies)
    others = []
    for candidate in near:
        place = candidate.place
        if place.chunk_id not in shown and not any(
            place.path == hit.path
            and place.start_line <= hit.end_line
            and hit.start_line <= place.end_line
            for hit in hits
        ):
            shown.add(place.chunk_id)
            others.append(SelectedHit(candidate, 0.0, candidate.score))
    return others


def _in_a_row(ranked: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Return those that directly follow another, or are followed by one."""
    places = [each.place for each in ranked]
    starts = {(place.path, place.start_line) for place in places}
    both = starts.intersection([(place.path, place.end_line + 1) for place in places])
    if not both:  # as in most answers
        return []
    return [
        each
        for each, place in zip(ranked, places, strict=True)
        if (place.path, place.start_line) in both
        or (place.path, place.end_line + 1) in both
    ]


def _may_join(better: SelectedHit, other: SelectedHit) -> bool:
    """Return whether two neighbors match alike, and differ in no mark.

    A list has no scores, and its order is that of time.
    """
    mine, theirs = better.ranked, other.ranked
    return (
        theirs.raw_score >= CLOSE_RAW_SCORE * mine.raw_score > 0
        and theirs.place[_AFTER_LINES:] == mine.place[_AFTER_LINES:]
        and theirs.disputed_by == mine.disputed_by
    )


def _join(
    better: SelectedHit,
    said: tuple[str, str],
    other: SelectedHit,
    more: tuple[str, str],
) -> tuple[SelectedHit, tuple[str, str]]:
    """Return the better hit with the lines of both, and their text and headings."""
    place, added = better.ranked.place, other.ranked.place
    first, last = (said, more) if place.end_line < added.start_line else (more, said)
    lines = place._replace(
        start_line=min(place.start_line, added.start_line),
        end_line=max(place.end_line, added.end_line),
    )
    hit = better._replace(ranked=better.ranked._replace(place=lines))
    text = f"{first[0]}\n{last[0]}"
    return hit, (text, _common_headings(said[1], more[1]))


def _common_headings(one: str, other: str) -> str:
    r"""Return the headings, a line each, that stand above both.

    >>> _common_headings("Ports\nWeb", "Ports\nDatabase")
    'Ports'
    """
    common = []
    for mine, theirs in zip(one.split("\n"), other.split("\n"), strict=False):
        if mine != theirs:
            break
        common.append(mine)
    return "\n".join(common)
