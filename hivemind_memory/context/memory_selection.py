"""Selects the memories that a section shows: those always shown, then the best others.

Pure and deterministic: the same memories give the same selection in whatever order
they arrive.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache, partial

from hivemind_memory.model.injection import OVERLAP, LeftOut, Selection
from hivemind_memory.model.value import replaced
from hivemind_memory.search.similarity import (
    ChosenTexts,
    by_marginal_relevance,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from hivemind_memory.model.injection import Excerpt


DIVERSITY = 0.7
"""Lambda of maximal marginal relevance: the share of relevance against novelty."""

MAX_PER_SESSION = 5
"""Memories that one agent's session may have in a section."""

SESSION_SHARE = 0.25
"""Of the budget, for the memories of one agent's session."""

AGENT_SHARE = 0.5
"""Of the budget, and of the number of others, for what one agent wrote in all of its
sessions. What is beyond it waits until all other memories had their turn."""

AGENTS_SHARE = 0.75
"""The same for all agents together: they may go by many names."""

CUT = " … (cut here; the note has the rest)"
"""Ends a memory that is too long for the budget."""

ALWAYS_CAP = 50
"""Maximum number of memories that are always shown."""

PREFERENCE_SHARE = 0.5
"""Of what is left of the budget after what is always shown, as long as there is
anything else to show. So no number of lessons removes all preferences. Preferences
beyond it wait until all other memories had their turn."""


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
    What the session of one agent wrote is bounded in count and tokens. What one agent
    wrote in many sessions gets more than its share only of the room that is left when
    all others had their turn. So no agent fills the section.

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
    cost = cache(cost)  # it renders and masks the memory
    rivals = sorted(others, key=_order)
    builder = _SelectionBuilder(cost, budget_tokens)
    builder.keep_all([excerpt for excerpt in always if excerpt.is_kept])

    lessons: Counter[str] = Counter()

    def offer_lesson(excerpt: Excerpt) -> None:
        if lessons.total() >= ALWAYS_CAP:
            builder.leave_out(excerpt, "cap")
        elif builder.offer(excerpt, budget_tokens):
            lessons[excerpt.agent] += 1

    for excerpt in always:
        if not excerpt.is_kept:
            has_share = _has_share(excerpt.agent, lessons, ALWAYS_CAP)
            builder.take_turn(excerpt, offer_lesson, waits=has_share)
    share = PREFERENCE_SHARE if rivals and count else 1.0
    most = builder.spent + int((budget_tokens - builder.spent) * share)
    for excerpt in preferences:
        builder.take_turn(
            excerpt,
            lambda preference: builder.offer(preference, budget_tokens),
            waits=builder.spent + cost(excerpt) > most,
        )
    taken: Counter[str] = Counter()

    def offer_rival(excerpt: Excerpt) -> None:
        if taken.total() >= count:
            builder.leave_out(excerpt, "count")
        elif builder.offer(excerpt, budget_tokens):
            taken[excerpt.agent] += 1

    top = max((excerpt.score for excerpt in rivals), default=0.0) or 1.0
    for excerpt in by_marginal_relevance(
        rivals,
        relevance=lambda excerpt: excerpt.score / top,
        nearest=lambda excerpt: builder.texts.nearest(excerpt.text),
        share=DIVERSITY,
    ):
        has_share = _has_share(excerpt.agent, taken, count)
        builder.take_turn(excerpt, offer_rival, waits=has_share)
    builder.take_last_turns()
    return Selection(excerpts=builder.in_order(), left_out=tuple(builder.left_out))


def _has_share(agent: str, taken: Counter[str], count: int) -> bool:
    """Return whether an agent, or all agents, have their share of so many places.

    Args:
        agent: Who wrote a memory; empty: no agent did.
        taken: How many places each agent has; ``""``: people.
        count: All places.
    """
    if not agent:
        return False
    by_agents = taken.total() - taken[""]
    return taken[agent] >= math.ceil(count * AGENT_SHARE) or by_agents >= math.ceil(
        count * AGENTS_SHARE
    )


class _SelectionBuilder:
    """What has been selected so far."""

    def __init__(self, cost: Callable[[Excerpt], int], budget_tokens: int) -> None:
        self.left_out: list[LeftOut] = []
        self._cost = cost
        self._budget_tokens = budget_tokens
        self.spent = 0
        """Tokens of what was taken."""
        self._session_spent: Counter[str] = Counter()
        self._session_count: Counter[str] = Counter()
        self._agent_spent: Counter[str] = Counter()
        self._turns = itertools.count()
        self._turn = 0
        self._places: dict[int, Excerpt] = {}
        """Turn -> what was taken then; in the order in which it was taken."""
        self._waiting: list[tuple[int, Excerpt, Callable[[Excerpt], object]]] = []
        self._is_last = False
        """All others had their turn; what is over its share gets what is left."""
        self.texts = ChosenTexts()

    @property
    def excerpts(self) -> Collection[Excerpt]:
        """What was taken."""
        return self._places.values()

    def in_order(self) -> tuple[Excerpt, ...]:
        """Return what was taken, in the order of the turns."""
        return tuple(self._places[turn] for turn in sorted(self._places))

    def take_turn(
        self,
        excerpt: Excerpt,
        offer: Callable[[Excerpt], object],
        *,
        waits: bool = False,
    ) -> None:
        """Offer a memory now, or at the end if it or its agent has its share.

        Args:
            excerpt: The memory.
            offer: Takes it or leaves it out.
            waits: It is offered at the end, whatever its agent has.
        """
        self._turn = next(self._turns)
        if waits or (excerpt.agent and self._is_beyond_share(excerpt)):
            self._waiting.append((self._turn, excerpt, offer))
        else:
            offer(excerpt)

    def take_last_turns(self) -> None:
        """Offer what was beyond a share, in the order of the turns."""
        self._is_last = True
        for turn, excerpt, offer in self._waiting:
            self._turn = turn
            offer(excerpt)

    def keep_all(self, kept: Sequence[Excerpt]) -> None:
        """Take what is pinned and the identities, each within an equal share.

        What people keep comes first, and what agents keep counts for no more shares
        than that: an agent may pin as much as it likes.
        """
        rest = sum(bool(excerpt.agent) for excerpt in kept)
        others = len(kept) - rest
        shares = others + min(rest, max(others, 1))
        turns = [(next(self._turns), excerpt) for excerpt in kept]
        for self._turn, excerpt in turns:
            if not excerpt.agent:
                self.keep(excerpt, rest=shares)
                shares -= 1
        for self._turn, excerpt in turns:
            if not excerpt.agent:
                continue
            if self._is_beyond_share(excerpt):
                keep = partial(self.keep, rest=rest)
                self._waiting.append((self._turn, excerpt, keep))
            else:
                self.keep(excerpt, rest=rest)
            rest -= 1

    def _is_beyond_share(self, excerpt: Excerpt) -> bool:
        """Return whether the agent of a memory would have more than its share."""
        tokens, spent = self._cost(excerpt), self._agent_spent
        own, of_all = spent[excerpt.agent], spent.total()
        return (
            own + tokens > self._budget_tokens * AGENT_SHARE
            or of_all + tokens > self._budget_tokens * AGENTS_SHARE
        )

    def keep(self, excerpt: Excerpt, *, rest: int) -> None:
        """Take a memory, cut to an equal share of the remaining budget.

        Args:
            excerpt: Pinned, or an identity.
            rest: How many are to be kept from here on, this one included.
        """
        tokens = (self._budget_tokens - self.spent) // rest
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
        self._places[self._turn] = excerpt
        self.texts.add(excerpt.text)
        self.spent += tokens
        self._session_spent[excerpt.session] += tokens
        self._session_count[excerpt.session] += 1
        if excerpt.agent:
            self._agent_spent[excerpt.agent] += tokens

    def offer(self, excerpt: Excerpt, budget_tokens: int) -> bool:
        """Take a memory, or leave it out and record why; return whether it is taken."""
        if any(_overlap(excerpt, other) for other in self.excerpts):
            self.leave_out(excerpt, OVERLAP)
        elif self.texts.has(excerpt.text):
            self.leave_out(excerpt, "copy")
        elif self.spent + self._cost(excerpt) > budget_tokens:
            self.leave_out(excerpt, "budget")
        elif excerpt.session and self._cost(excerpt) > self._left_for(excerpt.session):
            self.leave_out(excerpt, "session")
        else:
            self.take(excerpt)
            return True
        return False

    def _left_for(self, session: str) -> int:
        """Return how many tokens a session may still use; 0: it has used its share."""
        if self._session_count[session] >= MAX_PER_SESSION:
            return 0
        share = int(self._budget_tokens * SESSION_SHARE)
        return max(0, share - self._session_spent[session])

    def leave_out(self, excerpt: Excerpt, why: str) -> None:
        """Record a memory that is not shown."""
        is_crowded = excerpt.agent and any(
            other.agent != excerpt.agent for other in self.excerpts
        )
        if self._is_last and is_crowded and why in {"budget", "count", "cap"}:
            why = "agent"
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
