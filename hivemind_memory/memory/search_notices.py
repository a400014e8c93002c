"""Writes the notices of a search report: why it is empty, what is missing.

Loaded only when there is something to say.
"""

from __future__ import annotations

from hivemind_memory.model.display import count_text, not_indexed_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.memory.freshness_result import Freshness
    from hivemind_memory.memory.retrieve import RetrievedCandidates
    from hivemind_memory.model.filters import Access, SearchFilter
    from hivemind_memory.search.ranking import Ranking


def freshness_notices(freshness: Freshness, access: Access) -> tuple[str, ...]:
    """Return a notice for each entry that came back, and for notes still to be indexed.

    Only of notes that the caller may see.
    """
    return (
        *(
            entry.notice
            for entry in freshness.recovered
            if access.readable([entry.target])
        ),
        *_large_note_notices(freshness, access),
        *_outdated_notices(freshness, access),
    )


def why_empty(
    retrieved: RetrievedCandidates, ranking: Ranking, search_filter: SearchFilter
) -> str:
    """Return why nothing was found, in one sentence."""
    below = ranking.below_min_score
    if below:
        found = count_text(below, "chunk was", "chunks were")
        return f"{found} found, none relevant enough; a lower min_score shows more"
    if not retrieved.words.asked:
        if search_filter.is_narrow:
            return "nothing matches the filters"
        return "the query contains no word to search for, and no filter to list by"
    if search_filter.is_narrow:
        return "no note that matches the filters contains a word of the query"
    return "no note contains a word of the query"


def _large_note_notices(freshness: Freshness, access: Access) -> Iterator[str]:
    """Yield which large notes the answer does not know yet, if a caller may see any."""
    seen = access.readable(freshness.left)
    if seen:
        lack = "the answer may lack {} text"
        yield not_indexed_text(seen, lack.format("its"), lack.format("their"))


def _outdated_notices(freshness: Freshness, access: Access) -> Iterator[str]:
    """Yield how many notes have to be read again, if a caller may see any."""
    count = len(access.readable(freshness.outdated))
    if count:
        notes = count_text(count, "note is", "notes are")
        yield (
            f"{notes} being indexed again because the rules or settings have changed,"
            " so the answer may lack a hit; `hm sync` finishes it"
        )
