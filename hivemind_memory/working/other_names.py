"""Names by which other programs know the parts of a working memory.

They keep their blocks in a list of their own. ``create_memory_from_action``,
``ContentLoader``, ``ContextBuilder``, ``MemoryCompressor`` and ``RelevanceScorer`` are
the parts themselves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.model.value import replaced
from hivemind_memory.working.blocks import FileMemoryBlock, MemoryBlock, utc_now
from hivemind_memory.working.entries import (
    ContextBuilder,
    Entry,
    build_metadata,
    entry_tokens,
)
from hivemind_memory.working.janitor import clean_up
from hivemind_memory.working.loading import ContentLoader, own_text
from hivemind_memory.working.scoring import BALANCED, RelevanceScorer, sort_key
from hivemind_memory.working.selection import Selection, select_blocks
from hivemind_memory.working.working_memory import DEFAULT_MAX_TOKENS, WorkingMemory

_BYTES_PER_TOKEN = 3


class WorkingMemoryManager:
    """Keeps blocks by id."""

    def __init__(self, max_tokens: int = DEFAULT_MAX_TOKENS) -> None:
        self.max_tokens = max_tokens
        self.memory_index: dict[str, MemoryBlock] = {}
        self.context_memory: list[Entry] = []

    @property
    def symbolic_memory(self) -> list[MemoryBlock]:
        """All blocks, in the order in which they came."""
        return list(self.memory_index.values())

    def add_memory(self, block: MemoryBlock) -> None:
        """Add a block, in the place of one with the same id."""
        self.remove_memory(block.id)
        self.memory_index[block.id] = block

    def remove_memory(self, memory_id: str) -> None:
        """Remove a block, if there is one."""
        self.memory_index.pop(memory_id, None)

    def update_confidence(self, memory_id: str, confidence: float) -> None:
        """Change the confidence of a block, if there is one.

        Raises:
            UsageError: It is not a number from 0 to 1.
        """
        if known := self.memory_index.get(memory_id):
            self.memory_index[memory_id] = replaced(known, confidence=confidence)


class MemorySelector:
    """Selects blocks for a context."""

    def __init__(
        self,
        token_counter: Callable[[str], int] = estimate_tokens,
        loader: ContentLoader | None = None,
    ) -> None:
        """Take what counts and loads.

        Args:
            token_counter: Counts the tokens of a text.
            loader: Loads what is counted. None: a file costs a third of its size in
                bytes, and no file is read.
        """
        self.token_counter = token_counter
        self._builder = None if loader is None else ContextBuilder(loader)
        self.report: Selection | None = None
        """What the last call selected and left out."""

    def select_memories(
        self, symbolic_memory: Iterable[MemoryBlock], max_tokens: int
    ) -> list[MemoryBlock]:
        """Return the blocks that fit; ``report`` says what was left out, and why.

        Raises:
            UsageError: The budget is not a whole number above 0.
        """
        order = sort_key(RelevanceScorer(), BALANCED, utc_now())
        self.report = select_blocks(
            symbolic_memory,
            max_tokens=max_tokens,
            cost=self.estimate_tokens,
            order=order,
        )
        return self.report.blocks

    def estimate_tokens(self, memory: MemoryBlock) -> int:
        """Return what a block costs in a context."""
        if self._builder is not None:
            [entry] = self._builder.build_context((memory,))
            return entry_tokens(entry, self.token_counter)
        entry = {
            "id": memory.id,
            "content": own_text(memory),
            "confidence": memory.confidence,
            "priority": memory.rank.name.lower(),
            "metadata": build_metadata(memory),
        }
        tokens = entry_tokens(entry, self.token_counter)
        if isinstance(memory, FileMemoryBlock):
            tokens += _size_of(memory.location) // _BYTES_PER_TOKEN
        return tokens


class MemoryJanitor:
    """Removes blocks that no longer count."""

    def cleanup_memories(self, memories: Iterable[MemoryBlock]) -> list[MemoryBlock]:
        """Return the blocks that still count, in their order."""
        return list(clean_up(memories, utc_now()).kept)


MemorySystem = WorkingMemory


def _size_of(path: str) -> int:
    """Return the size of a file; 0: it is not there."""
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0
