"""Which memories go into a section: what always does, then what matters here most.

Pure and deterministic: the same memories give the same section, whatever order they
come in.
"""

from __future__ import annotations

from hivemind_memory.inject.outcomes import Choice, LeftOut, Quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DIVERSITY = 0.7
"""Lambda of maximal marginal relevance: the share of relevance against novelty."""

NEAR_COPY = 0.8
"""Jaccard similarity of words from which a memory says nothing new."""

ALWAYS_CAP = 50
"""Entries that no question has to find, together."""

PREFERENCE_SHARE = 0.5
"""Of the budget, as long as there is anything else to say."""


def choose(
    preferences: Sequence[Quote],
    others: Iterable[Quote],
    *,
    count: int,
    budget_tokens: int,
    cost: Callable[[Quote], int],
    always: Sequence[Quote] = (),
) -> Choice:
    """Return the memories that fit, in the order in which they are shown.

    A memory that does not fit is left out, and a shorter one after it may still fit.

    Args:
        preferences: In the order of their note.
        others: In any order; only their score, date and place count.
        count: Others at most, from 0.
        budget_tokens: For all of them together.
        cost: Tokens of one memory as the section shows it.
        always: Those that no question has to find, in order: what is kept whatever it
            costs, then lessons; ``ALWAYS_CAP`` of them at most, the kept ones apart.

    Source:
        Carbonell, Goldstein: The use of MMR, SIGIR 1998.
    """
    rivals = sorted(others, key=_order)
    shelf = _Shelf(cost)
    for quote in always:
        if quote.is_kept:
            shelf.take(quote)
        elif len(shelf.quotes) >= ALWAYS_CAP:
            shelf.leave(quote, "cap")
        else:
            shelf.offer(quote, budget_tokens)
    share = PREFERENCE_SHARE if rivals and count else 1.0
    for quote in preferences:
        shelf.offer(quote, int(budget_tokens * share))
    taken = len(shelf.quotes)
    top = max((quote.score for quote in rivals), default=0.0) or 1.0
    while rivals:
        best = max(
            range(len(rivals)),
            # The earliest of equals: max() keeps the first.
            key=lambda at: (
                DIVERSITY * rivals[at].score / top
                - (1 - DIVERSITY) * shelf.nearest(rivals[at])
            ),
        )
        quote = rivals.pop(best)
        if len(shelf.quotes) - taken >= count:
            shelf.leave(quote, "count")
        else:
            shelf.offer(quote, budget_tokens)
    return Choice(quotes=tuple(shelf.quotes), left_out=tuple(shelf.left_out))


class _Shelf:
    """What has been chosen so far."""

    def __init__(self, cost: Callable[[Quote], int]) -> None:
        self.quotes: list[Quote] = []
        self.left_out: list[LeftOut] = []
        self._cost = cost
        self._spent = 0
        self._words: dict[str, frozenset[str]] = {}

    def take(self, quote: Quote) -> None:
        """Take a memory whatever it costs."""
        self.quotes.append(quote)
        self._spent += self._cost(quote)

    def offer(self, quote: Quote, budget_tokens: int) -> None:
        """Take a memory, or say why not."""
        tokens = self._cost(quote)
        if any(_overlap(quote, other) for other in self.quotes):
            self.leave(quote, "overlap")
        elif self.nearest(quote) >= NEAR_COPY:
            self.leave(quote, "copy")
        elif self._spent + tokens > budget_tokens:
            self.leave(quote, "budget")
        else:
            self.quotes.append(quote)
            self._spent += tokens

    def leave(self, quote: Quote, why: str) -> None:
        """Count a memory that is not taken."""
        self.left_out.append(LeftOut(quote=quote, why=why))

    def nearest(self, quote: Quote) -> float:
        """Return the Jaccard similarity to the nearest of those chosen, 0..1."""
        mine = self._words_of(quote.text)
        nearest = 0.0
        for other in self.quotes:
            theirs = self._words_of(other.text)
            both = len(mine & theirs)
            nearest = max(nearest, both / max(1, len(mine) + len(theirs) - both))
        return nearest

    def _words_of(self, text: str) -> frozenset[str]:
        """Return a text's words; pairs of characters where it has no spaces."""
        known = self._words.get(text)
        if known is None:
            words = text.casefold().split()
            if len(text) > 20 * max(1, len(words)):
                words = [text[at : at + 2] for at in range(len(text) - 1)]
            known = self._words[text] = frozenset(words)
        return known


def _order(quote: Quote) -> tuple[float, tuple[int, ...], str, int]:
    """Sort best first, the newest of equals first, then by place."""
    newest = tuple(-ord(character) for character in quote.date)
    return (-round(quote.score, 9), newest or (1,), quote.path, quote.first_line)


def _overlap(one: Quote, other: Quote) -> bool:
    """Whether two memories share a line."""
    return (
        one.path == other.path
        and one.first_line <= other.last_line
        and other.first_line <= one.last_line
    )
