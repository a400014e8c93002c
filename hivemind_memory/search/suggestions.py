"""Suggests words of the notes for a misspelled word of a query."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_SUGGESTIONS = 3


def nearest_words(
    word: str,
    vocabulary: Iterable[tuple[str, int]],
    is_seen: Callable[[str], bool] = lambda _: True,
    *,
    limit: int | None = None,
) -> list[str]:
    """Return the words that are one or two typing errors away from *word*, best first.

    Args:
        word: A word that no note holds, in lower case.
        vocabulary: Words of the memory and in how many chunks they stand.
        is_seen: Whether the caller may see a word.
        limit: Typing errors at most; None: as ``slips_in`` says.

    Returns:
        At most three, the nearest first, among equals the most common.
    """
    if limit is None:
        limit = slips_in(word)
    # A slip is rarely in the first letter; with these two, a fifteenth is left to
    # compare of what would take a tenth of a second.
    first_letters = word[:2]
    shortest, longest = len(word) - limit, len(word) + limit
    parts = parts_left(word, limit)
    near = []
    for known, count in vocabulary:
        if known[0] not in first_letters or not shortest <= len(known) <= longest:
            continue
        for part in parts:
            if part in known:
                break
        else:
            continue
        if known == word:
            continue
        distance = _distance(word, known, limit)
        if distance <= limit and is_seen(known):
            near.append((distance, -count, known))
    return [known for _, _, known in sorted(near)[:MAX_SUGGESTIONS]]


def slips_in(word: str) -> int:
    """Return how many typing errors a suggestion may be away from a word."""
    return 1 if len(word) < 6 else 2


def parts_left(word: str, limit: int) -> list[str]:
    """Return parts of a word of which *limit* typing errors leave one as it is.

    A letter lies between two parts, so that swapped neighbors are never in both.
    """
    count = limit + 1
    chars = max(0, (len(word) - count + 1) // count)
    return [word[at * (chars + 1) :][:chars] for at in range(count)]


def _distance(one: str, other: str, limit: int) -> int:
    """Return the edit distance with swaps of neighbors; above *limit* it stops.

    What both begin with is passed over, then each kind of error is tried: for one or
    two errors that is a few comparisons, where a table would have a hundred.

    Source:
        Damerau: A technique for computer detection and correction of spelling errors,
        CACM 1964 (optimal string alignment).
    """
    if one == other:
        return 0
    if not limit:
        return 1
    at = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        at += 1
    one, other = one[at:], other[at:]
    if not (one and other):
        return min(len(one or other), limit + 1)
    rest, other_rest = one[1:], other[1:]
    least = min(
        _distance(rest, other_rest, limit - 1),
        _distance(rest, other, limit - 1),
        _distance(one, other_rest, limit - 1),
    )
    if one[0] == other[1:2] and one[1:2] == other[0]:
        least = min(least, _distance(one[2:], other[2:], limit - 1))
    return least + 1
