"""Which memories go into a section: what always does, then what matters here most.

Pure and deterministic: the same memories give the same section, whatever order they
come in.

What the type of a memory says about its place in a section.
"""

from __future__ import annotations

from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.injection import Choice, LeftOut, Quote, Reason
from hivemind_memory.model.memory_types import (
    FIRST,
    LESSON,
    SEARCH_ONLY,
    find_type,
    types_of_config,
)
from hivemind_memory.notes.entry import parse_provenance
from hivemind_memory.notes.status import ACTIVE, UNTRUSTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow


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
    return (-round(quote.score, 9), newest or (1,), quote.path, quote.start_line)


def _overlap(one: Quote, other: Quote) -> bool:
    """Whether two memories share a line."""
    return (
        one.path == other.path
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )


_KEPT = Reason(facet="always", value=1.0)
_LESSON = Reason(facet="lesson", value=1.0)


class Typed:
    """The typed memories that a worktree's caller may see."""

    def __init__(self, memory: Memory, rows: Iterable[MemoryRow]) -> None:
        self._memory = memory
        self._rows = {row.path: row for row in rows}
        self._types = types_of_config(memory.settings.types)
        self._today = memory.today()

    def always(self) -> list[Quote]:
        """Return what no question has to find: pinned, identity, then lessons.

        Among lessons the most important comes first, of equals the newest.
        """
        rows = [row for row in self._rows.values() if self._may_be_told(row)]
        pinned = [row for row in rows if row.is_pinned]
        rest = [row for row in rows if not row.is_pinned]
        identities = [row for row in rest if self._injected(row) == FIRST]
        lessons = [row for row in rest if self._injected(row) == LESSON]
        kept = [*_ordered(pinned), *_ordered(identities)]
        quotes = [self._quote(row, _KEPT, is_kept=True) for row in kept]
        quotes += [self._quote(row, _LESSON) for row in _ordered(lessons)]
        return [quote for quote in quotes if quote is not None]

    def is_search_only(self, path: str) -> bool:
        """Return whether a note is found by a search and never told unasked."""
        row = self._rows.get(path)
        return row is not None and self._injected(row) == SEARCH_ONLY

    def is_untrusted(self, path: str) -> bool:
        """Return whether a note says of itself that it is from outside."""
        row = self._rows.get(path)
        return row is not None and is_untrusted(row.source)

    def is_over(self, path: str) -> bool:
        """Return whether a memory is expired or done."""
        row = self._rows.get(path)
        return row is not None and self._is_over(row)

    def _may_be_told(self, row: MemoryRow) -> bool:
        """Whether a memory is in force, trusted and not over."""
        is_trusted = not is_untrusted(row.source)
        return row.standing == ACTIVE and is_trusted and not self._is_over(row)

    def _is_over(self, row: MemoryRow) -> bool:
        """Whether a memory is expired or done."""
        days = (row.expires_day, row.done_day)
        return any(day is not None and day <= self._today for day in days)

    def _injected(self, row: MemoryRow) -> str:
        """Return how a memory of its type comes into a section."""
        kind = find_type(row.type, self._types) if row.type else None
        return kind.injected if kind else ""

    def _quote(
        self, row: MemoryRow, reason: Reason, *, is_kept: bool = False
    ) -> Quote | None:
        """Return a memory whole; None: it says nothing, or went meanwhile."""
        try:
            text = self._memory.read(row.path).text
        except (NoteNotFoundError, NoteUnreadableError):
            return None
        lines = text.split("\n")
        first = split_front_matter(text).line_count
        while first < len(lines) and not lines[first].strip():
            first += 1
        last = _last_own_line(lines, first)
        if first > last:
            return None
        return Quote(
            path=row.path,
            start_line=first + 1,
            end_line=last + 1,
            text="\n".join(lines[first : last + 1]),
            date=row.created[:10],
            score=reason.value,
            reasons=(reason,),
            type=row.type,
            key=row.key,
            is_kept=is_kept,
        )


def is_untrusted(source: object) -> bool:
    """Return whether a front matter's word for its source means the outside."""
    if not isinstance(source, str):
        return False
    # A web clipper writes the address of the page there.
    return source.strip().casefold() in UNTRUSTED or "://" in source


def _last_own_line(lines: list[str], first: int) -> int:
    """Return the last line of a memory's own text, before what was appended to it.

    An entry in its file has a source of its own, be it from outside.
    """
    ends = range(first, len(lines))
    last = next((at for at in ends if parse_provenance(lines[at])), len(lines)) - 1
    while last >= first and not lines[last].strip():
        last -= 1
    return last


def _ordered(rows: list[MemoryRow]) -> list[MemoryRow]:
    """Return memories, the most important first, of equals the newest."""
    newest = sorted(rows, key=lambda row: (row.created, row.path), reverse=True)
    return sorted(newest, key=lambda row: -row.importance)
