"""Selects the memories that a section shows: those always shown, then the best others.

Pure and deterministic: the same memories give the same selection in whatever order
they arrive.
"""

from __future__ import annotations

from hivemind_memory.model.injection import LeftOut, Selection
from hivemind_memory.search.similarity import ChosenTexts, by_marginal_relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hivemind_memory.model.injection import Excerpt

DIVERSITY = 0.7
"""Lambda of maximal marginal relevance: the share of relevance against novelty."""

NEAR_COPY = 0.8
"""Jaccard similarity of words from which a memory adds nothing new."""

ALWAYS_CAP = 50
"""Most entries that are shown without being searched for."""

PREFERENCE_SHARE = 0.5
"""Of the budget, as long as there is anything else to show."""


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
        always: In order: those that are kept whatever they cost, then lessons;
            ``ALWAYS_CAP`` of them at most, not counting the kept ones.

    Source:
        Carbonell, Goldstein: The use of MMR, SIGIR 1998.
    """
    rivals = sorted(others, key=_order)
    builder = _SelectionBuilder(cost)
    for excerpt in always:
        if excerpt.is_kept:
            builder.take(excerpt)
        elif len(builder.excerpts) >= ALWAYS_CAP:
            builder.leave_out(excerpt, "cap")
        else:
            builder.offer(excerpt, budget_tokens)
    share = PREFERENCE_SHARE if rivals and count else 1.0
    for excerpt in preferences:
        builder.offer(excerpt, int(budget_tokens * share))
    taken = len(builder.excerpts)
    top = max((excerpt.score for excerpt in rivals), default=0.0) or 1.0
    for excerpt in by_marginal_relevance(
        rivals,
        relevance=lambda one: one.score / top,
        nearest=lambda one: builder.texts.nearest(one.text),
        share=DIVERSITY,
    ):
        if len(builder.excerpts) - taken >= count:
            builder.leave_out(excerpt, "count")
        else:
            builder.offer(excerpt, budget_tokens)
    return Selection(excerpts=tuple(builder.excerpts), left_out=tuple(builder.left_out))


class _SelectionBuilder:
    """What has been selected so far."""

    def __init__(self, cost: Callable[[Excerpt], int]) -> None:
        self.excerpts: list[Excerpt] = []
        self.left_out: list[LeftOut] = []
        self._cost = cost
        self._spent = 0
        self.texts = ChosenTexts()

    def take(self, excerpt: Excerpt) -> None:
        """Take a memory whatever it costs."""
        self.excerpts.append(excerpt)
        self.texts.add(excerpt.text)
        self._spent += self._cost(excerpt)

    def offer(self, excerpt: Excerpt, budget_tokens: int) -> None:
        """Take a memory, or leave it out and record why."""
        if any(_overlap(excerpt, other) for other in self.excerpts):
            self.leave_out(excerpt, "overlap")
        elif self.texts.nearest(excerpt.text) >= NEAR_COPY:
            self.leave_out(excerpt, "copy")
        elif self._spent + self._cost(excerpt) > budget_tokens:
            self.leave_out(excerpt, "budget")
        else:
            self.take(excerpt)

    def leave_out(self, excerpt: Excerpt, why: str) -> None:
        """Record a memory that is not shown."""
        self.left_out.append(LeftOut(excerpt=excerpt, why=why))


def _order(excerpt: Excerpt) -> tuple[float, tuple[int, ...], str, int]:
    """Sort best first, the newest of equals first, then by place."""
    newest = tuple(-ord(character) for character in excerpt.date)
    return (-round(excerpt.score, 9), newest or (1,), excerpt.path, excerpt.start_line)


def _overlap(one: Excerpt, other: Excerpt) -> bool:
    """Return whether two memories share a line."""
    return (
        one.path == other.path
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )
