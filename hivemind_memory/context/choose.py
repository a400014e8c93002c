"""Which memories go into a section: what always does, then what matters here most.

Pure and deterministic: the same memories give the same section, whatever order they
come in.

What the type of a memory says about its place in a section.
"""

from __future__ import annotations

from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.injection import Excerpt, FacetScore, LeftOut, Selection
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.memory_types import (
    FIRST,
    LESSON,
    SEARCH_ONLY,
    find_type,
    types_of_config,
)
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.entry import parse_provenance
from hivemind_memory.notes.status import is_expired_or_done

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


def select_excerpts(
    preferences: Sequence[Excerpt],
    others: Iterable[Excerpt],
    *,
    count: int,
    budget_tokens: int,
    cost: Callable[[Excerpt], int],
    always: Sequence[Excerpt] = (),
) -> Selection:
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
    builder = _SelectionBuilder(cost)
    for excerpt in always:
        if excerpt.is_kept:
            builder.take(excerpt)
        elif len(builder.excerpts) >= ALWAYS_CAP:
            builder.leave(excerpt, "cap")
        else:
            builder.offer(excerpt, budget_tokens)
    share = PREFERENCE_SHARE if rivals and count else 1.0
    for excerpt in preferences:
        builder.offer(excerpt, int(budget_tokens * share))
    taken = len(builder.excerpts)
    top = max((excerpt.score for excerpt in rivals), default=0.0) or 1.0
    while rivals:
        best = max(
            range(len(rivals)),
            # The earliest of equals: max() keeps the first.
            key=lambda at: (
                DIVERSITY * rivals[at].score / top
                - (1 - DIVERSITY) * builder.nearest(rivals[at])
            ),
        )
        excerpt = rivals.pop(best)
        if len(builder.excerpts) - taken >= count:
            builder.leave(excerpt, "count")
        else:
            builder.offer(excerpt, budget_tokens)
    return Selection(excerpts=tuple(builder.excerpts), left_out=tuple(builder.left_out))


class _SelectionBuilder:
    """What has been chosen so far."""

    def __init__(self, cost: Callable[[Excerpt], int]) -> None:
        self.excerpts: list[Excerpt] = []
        self.left_out: list[LeftOut] = []
        self._cost = cost
        self._spent = 0
        self._words: dict[str, frozenset[str]] = {}

    def take(self, excerpt: Excerpt) -> None:
        """Take a memory whatever it costs."""
        self.excerpts.append(excerpt)
        self._spent += self._cost(excerpt)

    def offer(self, excerpt: Excerpt, budget_tokens: int) -> None:
        """Take a memory, or say why not."""
        tokens = self._cost(excerpt)
        if any(_overlap(excerpt, other) for other in self.excerpts):
            self.leave(excerpt, "overlap")
        elif self.nearest(excerpt) >= NEAR_COPY:
            self.leave(excerpt, "copy")
        elif self._spent + tokens > budget_tokens:
            self.leave(excerpt, "budget")
        else:
            self.excerpts.append(excerpt)
            self._spent += tokens

    def leave(self, excerpt: Excerpt, why: str) -> None:
        """Count a memory that is not taken."""
        self.left_out.append(LeftOut(excerpt=excerpt, why=why))

    def nearest(self, excerpt: Excerpt) -> float:
        """Return the Jaccard similarity to the nearest of those chosen, 0..1."""
        mine = self._words_of(excerpt.text)
        nearest = 0.0
        for other in self.excerpts:
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


def _order(excerpt: Excerpt) -> tuple[float, tuple[int, ...], str, int]:
    """Sort best first, the newest of equals first, then by place."""
    newest = tuple(-ord(character) for character in excerpt.date)
    return (-round(excerpt.score, 9), newest or (1,), excerpt.path, excerpt.start_line)


def _overlap(one: Excerpt, other: Excerpt) -> bool:
    """Whether two memories share a line."""
    return (
        one.path == other.path
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )


_KEPT = FacetScore(facet="always", value=1.0)
_LESSON = FacetScore(facet="lesson", value=1.0)


class TypedMemories:
    """The typed memories that a worktree's caller may see."""

    def __init__(self, memory: Memory, rows: Iterable[MemoryRow]) -> None:
        self._memory = memory
        self._rows = {row.path: row for row in rows}
        self._types = types_of_config(memory.settings.types)
        self._today = memory.today()

    def always(self) -> list[Excerpt]:
        """Return what no question has to find: pinned, identity, then lessons.

        Among lessons the most important comes first, of equals the newest.
        """
        rows = [row for row in self._rows.values() if self._may_be_injected(row)]
        pinned = [row for row in rows if row.is_pinned]
        rest = [row for row in rows if not row.is_pinned]
        identities = [row for row in rest if self._injected(row) == FIRST]
        lessons = [row for row in rest if self._injected(row) == LESSON]
        kept = [*_ordered(pinned), *_ordered(identities)]
        excerpts = [self._excerpt(row, _KEPT, is_kept=True) for row in kept]
        excerpts += [self._excerpt(row, _LESSON) for row in _ordered(lessons)]
        return [excerpt for excerpt in excerpts if excerpt is not None]

    def is_search_only(self, path: str) -> bool:
        """Return whether a note is found by a search and never told unasked."""
        row = self._rows.get(path)
        return row is not None and self._injected(row) == SEARCH_ONLY

    def is_untrusted(self, path: str) -> bool:
        """Return whether a note says of itself that it is from outside."""
        row = self._rows.get(path)
        return row is not None and not is_trusted(row.source)

    def is_expired_or_done(self, path: str) -> bool:
        """Return whether a memory is expired or done."""
        row = self._rows.get(path)
        return row is not None and self._is_expired_or_done(row)

    def _may_be_injected(self, row: MemoryRow) -> bool:
        """Whether a memory is in force, trusted and not over."""
        return (
            row.standing == ACTIVE
            and is_trusted(row.source)
            and not self._is_expired_or_done(row)
        )

    def _is_expired_or_done(self, row: MemoryRow) -> bool:
        """Whether a memory is expired or done."""
        return is_expired_or_done(row.expires_day, row.done_day, today=self._today)

    def _injected(self, row: MemoryRow) -> str:
        """Return how a memory of its type comes into a section."""
        kind = find_type(row.type, self._types) if row.type else None
        return kind.injected if kind else ""

    def _excerpt(
        self, row: MemoryRow, reason: FacetScore, *, is_kept: bool = False
    ) -> Excerpt | None:
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
        return Excerpt(
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
