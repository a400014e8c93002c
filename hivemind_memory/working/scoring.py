"""How relevant a block is to the current task. Pure: the time comes in.

The score is the block's confidence, raised for files in use and for knowledge about
the task, and lowered with age: ``min(1, confidence * boosts / (1 + age in hours))``.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from functools import lru_cache

from hivemind_memory.errors import UsageError
from hivemind_memory.model.terms import query_terms
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    utc_now,
)

BALANCED, RECENT, RELEVANT = "balanced", "recent", "relevant"
STRATEGIES = (BALANCED, RECENT, RELEVANT)
"""By score; by age alone; by score without age."""

RECENT_FILES = 20
"""Files that count as in use: the last ones that were named."""

_IN_USE = 1.5
_PER_WORD = 0.2
_HOUR_S = 3600.0


class RelevanceScorer:
    """Scores blocks for one task, and remembers the files in use."""

    def __init__(self, task: str = "") -> None:
        self.task_keywords: set[str] = set()
        """The words of the task, as a search cuts them."""

        self._recent: OrderedDict[str, None] = OrderedDict()
        self.set_task(task)

    @property
    def recent_files(self) -> tuple[str, ...]:
        """The last twenty files that were named, the newest last."""
        return tuple(self._recent)

    def set_task(self, task: str) -> None:
        """Take the words of a task; empty: there is none."""
        self.task_keywords = set(words_of_task(task))

    def add_recent_file(self, location: str) -> None:
        """Note that a file is in use; beyond twenty the one least lately used goes."""
        self._recent[location] = None
        self._recent.move_to_end(location)
        while len(self._recent) > RECENT_FILES:
            self._recent.popitem(last=False)

    def score_memory(
        self, memory: MemoryBlock, now: datetime | None = None, strategy: str = BALANCED
    ) -> float:
        """Return how relevant a block is, 0..1; larger is better.

        Args:
            memory: The block.
            now: The time; None: that of the system.
            strategy: ``balanced`` or ``relevant``.
        """
        score = memory.confidence
        if isinstance(memory, FileMemoryBlock):
            if memory.location in self._recent:
                score *= _IN_USE
        elif isinstance(memory, KnowledgeMemoryBlock) and self.task_keywords:
            shared = len(self.task_keywords & words_of_task(memory.topic))
            score *= 1 + _PER_WORD * shared
        if strategy != RELEVANT:
            score /= 1 + age_s(memory, now or utc_now()) / _HOUR_S
        return min(score, 1.0)


def sort_key(scorer: RelevanceScorer, strategy: str, now: datetime) -> OrderOfBlocks:
    """Return what sorts blocks of one priority, best first.

    Raises:
        UsageError: There is no such strategy.
    """
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise UsageError(f"strategy must be one of {known}, not {strategy!r}.")
    return OrderOfBlocks(scorer, strategy, now)


class OrderOfBlocks:
    """Sorts blocks: by score, the newer of equals first, then by id."""

    def __init__(self, scorer: RelevanceScorer, strategy: str, now: datetime) -> None:
        self._scorer, self._strategy, self._now = scorer, strategy, now

    def score(self, block: MemoryBlock) -> float:
        """Return what counts; 0 where only the age does."""
        if self._strategy == RECENT:
            return 0.0
        return self._scorer.score_memory(block, self._now, self._strategy)

    def __call__(self, block: MemoryBlock) -> tuple[float, float, str]:
        """Return the sort key of a block."""
        return (-self.score(block), -block.timestamp.timestamp(), block.id)


def age_s(block: MemoryBlock, now: datetime) -> float:
    """Return how old a block is; one from the future is new."""
    return max(0.0, (now - block.timestamp).total_seconds())


@lru_cache(maxsize=4096)
def words_of_task(text: str) -> frozenset[str]:
    """Return the words of a text as a search cuts them, in any script.

    >>> sorted(words_of_task("Fix the user_id in Übersicht"))
    ['fix', 'id', 'ubersicht', 'user']
    """
    return frozenset(
        term.text for term in query_terms(text).terms if not term.is_phrase
    )
