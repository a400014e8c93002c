"""What a program has in view now, within a budget of tokens. Keeps nothing itself.

from hivemind_memory.working import FileMemoryBlock, WorkingMemory

memory = WorkingMemory("/path/to/project", max_tokens=8_000)
memory.add(FileMemoryBlock(location="src/cart.py", start_line=10, end_line=40))
print(memory.build_context(current_task="round the sum of a cart"))

``__all__`` lists what is public; the rest may change in any release.
"""

from __future__ import annotations

from hivemind_memory.working.actions import create_memory_from_action
from hivemind_memory.working.blocks import (
    ContextMemoryBlock,
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MemoryType,
    MessageMemoryBlock,
    Priority,
    StatusMemoryBlock,
    TaskMemoryBlock,
)
from hivemind_memory.working.compression import MemoryCompressor
from hivemind_memory.working.entries import ContextBuilder
from hivemind_memory.working.janitor import Cleanup, RemovedBlock
from hivemind_memory.working.loading import ContentLoader, LoadedText
from hivemind_memory.working.other_names import (
    MemoryJanitor,
    MemorySelector,
    MemorySystem,
    WorkingMemoryManager,
)
from hivemind_memory.working.scoring import RelevanceScorer
from hivemind_memory.working.selection import BlockLeftOut, SelectedBlock, Selection
from hivemind_memory.working.snapshot import Difference, Moment
from hivemind_memory.working.working_memory import BuiltContext, WorkingMemory

__all__ = [
    "BlockLeftOut",
    "BuiltContext",
    "Cleanup",
    "ContentLoader",
    "ContextBuilder",
    "ContextMemoryBlock",
    "Difference",
    "FileMemoryBlock",
    "HistoryMemoryBlock",
    "KnowledgeMemoryBlock",
    "LoadedText",
    "MemoryBlock",
    "MemoryCompressor",
    "MemoryJanitor",
    "MemorySelector",
    "MemorySystem",
    "MemoryType",
    "MessageMemoryBlock",
    "Moment",
    "Priority",
    "RelevanceScorer",
    "RemovedBlock",
    "SelectedBlock",
    "Selection",
    "StatusMemoryBlock",
    "TaskMemoryBlock",
    "WorkingMemory",
    "WorkingMemoryManager",
    "create_memory_from_action",
]
