"""Which blocks fit into a budget. Pure: costs and order come in.

Critical blocks are always in. Then, best first, each block of high priority that keeps
the sum within 80 % of the budget, of medium priority within 90 %, of low within 95 %.
A block that does not fit is passed over, and a smaller one after it may still fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hivemind_memory.errors import UsageError
from hivemind_memory.model.value import replaced
from hivemind_memory.working.blocks import MemoryBlock, Priority

SHARES = {Priority.HIGH: 80, Priority.MEDIUM: 90, Priority.LOW: 95}
"""Percent of the budget that blocks of a priority may fill."""

Cost = Callable[[MemoryBlock], int]
"""What a block costs, in tokens, as it would be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedBlock:
    """A block that is in the context."""

    block: MemoryBlock
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLeftOut:
    """A block that is not."""

    block: MemoryBlock
    why: str
    tokens: int | None = None
    """What it would have cost; None: not even the smallest block fitted any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is in the context, what is not, and what it costs."""

    selected: tuple[SelectedBlock, ...]
    """Critical blocks first, then in the order in which they were taken."""

    left_out: tuple[BlockLeftOut, ...]
    used_tokens: int
    max_tokens: int
    over_budget: bool
    """The critical blocks alone cost more than the budget; nothing else is in."""

    @property
    def blocks(self) -> list[MemoryBlock]:
        """The blocks alone."""
        return [chosen.block for chosen in self.selected]


def as_filler(block: MemoryBlock, why: str, confidence: float) -> MemoryBlock:
    """Return a block as one that only fills what the others leave, and why it does."""
    return replaced(
        block,
        priority=Priority.LOW,
        confidence=round(confidence, 4),
        metadata={**block.metadata, "why": why},
    )


def select_blocks(
    blocks: Iterable[MemoryBlock],
    *,
    max_tokens: int,
    cost: Cost,
    order: Callable[[MemoryBlock], Any],
    least_tokens: int = 0,
) -> Selection:
    """Return which blocks fit.

    Args:
        blocks: In any order; the answer does not depend on it.
        max_tokens: The budget, at least 1.
        cost: Asked once for each block for which there may be room.
        order: Sort key, different for each block.
        least_tokens: What the cheapest block costs; without room for it no further
            block is asked for its cost, which may mean to load it.

    Raises:
        UsageError: The budget is too small to be one.
    """
    check_budget(max_tokens)
    by_priority: dict[Priority, list[MemoryBlock]] = {
        priority: [] for priority in Priority
    }
    for block in blocks:
        by_priority[block.rank].append(block)
    for some in by_priority.values():
        some.sort(key=order)
    selected = [
        SelectedBlock(block=block, tokens=cost(block))
        for block in by_priority.pop(Priority.CRITICAL)
    ]
    used = sum(chosen.tokens for chosen in selected)
    is_over = used > max_tokens
    left_out: list[BlockLeftOut] = []
    for priority, some in by_priority.items():
        share = SHARES[priority]
        room = -1 if is_over else max_tokens * share // 100
        no_room = (
            "the critical blocks alone exceed the budget"
            if is_over
            else f"{priority.name.lower()} priority stops at {share} % of the budget"
        )
        for block in some:
            if used + least_tokens > room:
                left_out.append(BlockLeftOut(block=block, why=no_room))
                continue
            tokens = cost(block)
            if used + tokens <= room:
                selected.append(SelectedBlock(block=block, tokens=tokens))
                used += tokens
            else:
                why = f"costs {tokens:,} tokens; only {room - used:,} are left"
                left_out.append(BlockLeftOut(block=block, why=why, tokens=tokens))
    return Selection(
        selected=tuple(selected),
        left_out=tuple(left_out),
        used_tokens=used,
        max_tokens=max_tokens,
        over_budget=is_over,
    )


def check_budget(max_tokens: object) -> None:
    """Raise unless a number is a budget."""
    is_number = isinstance(max_tokens, int) and not isinstance(max_tokens, bool)
    if not is_number or int(str(max_tokens)) < 1:
        message = f"max_tokens must be a whole number above 0, not {max_tokens!r}."
        raise UsageError(message)
