"""Selects the memories that a section shows: those always shown, then the best others.

Pure and deterministic: the same memories give the same selection in whatever order
they arrive.
"""

from __future__ import annotations

from collections import Counter

from hivemind_memory.model.injection import OVERLAP, LeftOut, Selection
from hivemind_memory.model.value import replaced
from hivemind_memory.search.similarity import (
    NEAR_DUPLICATE,
    ChosenTexts,
    by_marginal_relevance,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hivemind_memory.model.injection import Excerpt


DIVERSITY = 0.7
"""Lambda of maximal marginal relevance: the share of relevance against novelty."""

MAX_PER_SESSION = 5
"""Memories that one agent's session may have in a section."""

SESSION_SHARE = 0.25
"""Of the budget, for the memories of one agent's session."""

CUT = " … (cut here; the note has the rest)"
"""Ends a memory that is too long for the budget."""

ALWAYS_CAP = 50
"""Maximum number of memories that are always shown."""

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
    What the session of one agent wrote is bounded in count and tokens, so that no
    agent fills the section.

    Args:
        preferences: In the order of their note.
        others: In any order; only their score, date and place count.
        count: Others at most, from 0.
        budget_tokens: For all of them together.
        cost: Tokens of one memory as the section shows it.
        always: In order: those that are kept, cut if they take too much, then
            lessons; ``ALWAYS_CAP`` of them at most, not counting the kept ones.

    Source:
        Carbonell, Goldstein: The use of MMR, SIGIR 1998.
    """
    rivals = sorted(others, key=_order)
    builder = _SelectionBuilder(cost, int(budget_tokens * SESSION_SHARE))
    kept = sum(excerpt.is_kept for excerpt in always)
    for excerpt in always:
        if excerpt.is_kept:
            builder.keep(excerpt, budget_tokens, rest=kept)
            kept -= 1
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
        relevance=lambda excerpt: excerpt.score / top,
        nearest=lambda excerpt: builder.texts.nearest(excerpt.text),
        share=DIVERSITY,
    ):
        if len(builder.excerpts) - taken >= count:
            builder.leave_out(excerpt, "count")
        else:
            builder.offer(excerpt, budget_tokens)
    return Selection(excerpts=tuple(builder.excerpts), left_out=tuple(builder.left_out))


class _SelectionBuilder:
    """What has been selected so far."""

    def __init__(self, cost: Callable[[Excerpt], int], session_tokens: int) -> None:
        self.excerpts: list[Excerpt] = []
        self.left_out: list[LeftOut] = []
        self._cost = cost
        self._spent = 0
        self._session_tokens = session_tokens
        self._session_spent: Counter[str] = Counter()
        self._session_count: Counter[str] = Counter()
        self.texts = ChosenTexts()

    def keep(self, excerpt: Excerpt, budget_tokens: int, *, rest: int) -> None:
        """Take a memory, cut to an equal share of the remaining budget.

        Args:
            excerpt: Pinned, or an identity.
            budget_tokens: For the whole section.
            rest: How many are to be kept from here on, this one included.
        """
        tokens = (budget_tokens - self._spent) // rest
        if excerpt.session:
            left_tokens = self._left_for(excerpt.session)
            if not left_tokens:
                self.leave_out(excerpt, "session")
                return
            tokens = min(tokens, left_tokens)
        fitting = _cut(excerpt, tokens, self._cost)
        if fitting is None:
            self.leave_out(excerpt, "budget")
        else:
            self.take(fitting)

    def take(self, excerpt: Excerpt) -> None:
        """Take a memory."""
        tokens = self._cost(excerpt)
        self.excerpts.append(excerpt)
        self.texts.add(excerpt.text)
        self._spent += tokens
        self._session_spent[excerpt.session] += tokens
        self._session_count[excerpt.session] += 1

    def offer(self, excerpt: Excerpt, budget_tokens: int) -> None:
        """Take a memory, or leave it out and record why."""
        if any(_overlap(excerpt, other) for other in self.excerpts):
            self.leave_out(excerpt, OVERLAP)
        elif self.texts.nearest(excerpt.text) >= NEAR_DUPLICATE:
            self.leave_out(excerpt, "copy")
        elif self._spent + self._cost(excerpt) > budget_tokens:
            self.leave_out(excerpt, "budget")
        elif excerpt.session and self._cost(excerpt) > self._left_for(excerpt.session):
            self.leave_out(excerpt, "session")
        else:
            self.take(excerpt)

    def _left_for(self, session: str) -> int:
        """Return how many tokens a session may still use; 0: it has used its share."""
        if self._session_count[session] >= MAX_PER_SESSION:
            return 0
        return max(0, self._session_tokens - self._session_spent[session])

    def leave_out(self, excerpt: Excerpt, why: str) -> None:
        """Record a memory that is not shown."""
        self.left_out.append(LeftOut(excerpt=excerpt, why=why))


def _cut(
    excerpt: Excerpt, tokens: int, cost: Callable[[Excerpt], int]
) -> Excerpt | None:
    """Return a memory within *tokens*, cut if necessary; None: it does not fit."""
    if cost(excerpt) <= tokens:
        return excerpt
    low, high = 0, len(excerpt.text)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        shorter = replaced(excerpt, text=excerpt.text[:middle].rstrip() + CUT)
        low, high = (middle, high) if cost(shorter) <= tokens else (low, middle - 1)
    text = excerpt.text[:low]
    whole_words = text.rstrip().rpartition(" ")[0] or text
    return replaced(excerpt, text=whole_words.rstrip() + CUT) if text.strip() else None


def _order(excerpt: Excerpt) -> tuple[object, ...]:
    """Sort best first, the newest of equals first, then by place."""
    newest = (_descending(excerpt.date), _descending(excerpt.id))
    return (-round(excerpt.score, 9), *newest, excerpt.path, excerpt.start_line)


def _descending(text: str) -> tuple[int, ...]:
    """Return what sorts the other way than a text; that of an empty one is last.

    Dates and ULIDs sort by time.
    """
    return tuple(-ord(character) for character in text) or (1,)


def _overlap(one: Excerpt, other: Excerpt) -> bool:
    """Return whether two memories share a line."""
    return (
        one.path == other.path
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )
