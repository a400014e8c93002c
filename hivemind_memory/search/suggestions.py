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
        limit: Typing errors at most; None: two in a long word, one in a short one.

    Returns:
        At most three, the nearest first, among equals the most common.
    """
    if limit is None:
        limit = 1 if len(word) < 6 else 2
    # A slip is rarely in the first letter; with these two, a fifteenth is left to
    # compare of what would take a tenth of a second.
    first_letters = word[:2]
    near = []
    for known, count in vocabulary:
        if known[0] not in first_letters:
            continue
        if abs(len(known) - len(word)) > limit or known == word:
            continue
        distance = _distance(word, known, limit)
        if distance <= limit and is_seen(known):
            near.append((distance, -count, known))
    return [known for _, _, known in sorted(near)[:MAX_SUGGESTIONS]]


def _distance(one: str, other: str, limit: int) -> int:
    """Return the edit distance with swaps of neighbors; above *limit* it stops.

    Source:
        Damerau: A technique for computer detection and correction of spelling errors,
        CACM 1964 (optimal string alignment).
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, mine in enumerate(one, start=1):
        older, before, row = before, row, [at]
        for to, theirs in enumerate(other, start=1):
            cost = min(
                before[to] + 1, row[to - 1] + 1, before[to - 1] + (mine != theirs)
            )
            if at > 1 and to > 1 and mine == other[to - 2] and one[at - 2] == theirs:
                cost = min(cost, older[to - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
