"""Removes blocks that no longer count. Never a critical one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from hivemind_memory.working.blocks import HistoryMemoryBlock, MemoryBlock, Priority
from hivemind_memory.working.scoring import age_s

HISTORY_S = 3600.0
"""Age up to which what was done is kept, unless it is of high priority."""

MIN_CONFIDENCE = 0.1
"""Of a block of low priority that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedBlock:
    """A block that was removed, and why."""

    block: MemoryBlock
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """What was kept and what was removed."""

    kept: tuple[MemoryBlock, ...]
    removed: tuple[RemovedBlock, ...]


def clean_up(blocks: Iterable[MemoryBlock], now: datetime) -> Cleanup:
    """Return which blocks still count, in their order."""
    kept: list[MemoryBlock] = []
    removed: list[RemovedBlock] = []
    for block in blocks:
        if why := _why_over(block, now):
            removed.append(RemovedBlock(block=block, why=why))
        else:
            kept.append(block)
    return Cleanup(kept=tuple(kept), removed=tuple(removed))


def _why_over(block: MemoryBlock, now: datetime) -> str:
    """Return why a block no longer counts; empty: it does."""
    if block.rank is Priority.CRITICAL:
        return ""
    if block.expiry is not None and block.expiry <= now:
        return f"expired at {block.expiry.isoformat()}"
    if block.rank is Priority.LOW and block.confidence < MIN_CONFIDENCE:
        return f"of low priority, with confidence {block.confidence:g}"
    is_history = isinstance(block, HistoryMemoryBlock)
    if is_history and block.rank is not Priority.HIGH:
        age = age_s(block, now)
        if age > HISTORY_S:
            return f"history of {age / HISTORY_S:.1f} hours ago"
    return ""
