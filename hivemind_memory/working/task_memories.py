"""Makes blocks of the memories that a search finds for a task, as their caller sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from hivemind_memory.errors import HivemindError, NotesMissingError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.query import Query
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.working.blocks import KnowledgeMemoryBlock, MemoryBlock, Priority
from hivemind_memory.working.loading import MEMORY_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.query import Hit

MAX_MEMORIES = 20
MAX_WEAK_MEMORIES = 5
"""Memories that may fill what is left where none is about the task."""


def read_memories_of(memory: Memory) -> Callable[[str], str]:
    """Return what reads a memory by key, id or path, with its caller's rights."""

    def read(name: str) -> str:
        path, start, end, _ = memory.curation.locate(name)
        if start:
            count = end - start + 1
            return memory.read(path, start_line=start, line_count=count).text
        text = memory.read(path).text
        skipped = split_front_matter(text).line_count
        return "\n".join(text.split("\n")[skipped:]).strip("\n")

    return read


def find_memories(
    memory: Memory, task: str, now: datetime
) -> tuple[list[MemoryBlock], list[str]]:
    """Return blocks of the memories about a task, and what should be said of them."""
    try:
        answer = memory.search(Query(text=task, max_results=MAX_MEMORIES))
    except NotesMissingError:
        return [], ["there are no notes yet"]
    notes = list(answer.report.warnings)
    if answer.is_unknown:
        weak = [_as_weak(_block(hit, now)) for hit in answer.hits[:MAX_WEAK_MEMORIES]]
        return weak, [*notes, "no memory is about this task"]
    if answer.is_weak:
        notes.append("the memories match the task only weakly")
    if not answer.hits and answer.report.why_empty:
        notes.append(answer.report.why_empty)
    return [_block(hit, now) for hit in answer.hits], notes


def memories_about(memory: Memory, subject: str, now: datetime) -> list[MemoryBlock]:
    """Return blocks of the memories that are clearly about a subject, best first."""
    try:
        answer = memory.search(Query(text=subject, max_results=MAX_MEMORIES))
    except HivemindError:
        return []  # the rest of the context does without
    is_clear = not (answer.is_unknown or answer.is_weak)
    return [_block(hit, now) for hit in answer.hits] if is_clear else []


def _as_weak(block: MemoryBlock) -> MemoryBlock:
    """Return a memory with few words of the task as one that fills what is left."""
    metadata = {**block.metadata, "why": "it shares a word or two with the task"}
    return replace(block, priority=Priority.LOW, metadata=metadata)


def _block(hit: Hit, now: datetime) -> KnowledgeMemoryBlock:
    """Return the block of one hit; its text is read when it is selected."""
    metadata: dict[str, object] = {"why": "a search for the task finds it"}
    for name in ("key", "status", "source", "disputed_by"):
        if value := getattr(hit, name):
            metadata[name] = value
    if hit.type:
        metadata["memory_type"] = hit.type
    if hit.source and not is_trusted(hit.source):
        metadata["untrusted"] = True
    place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    return KnowledgeMemoryBlock(
        topic=" ".join((hit.key or hit.path, *hit.headings)),
        location=MEMORY_PREFIX + place,
        confidence=round(min(1.0, max(0.0, hit.confidence)), 4),
        relevance_score=round(min(1.0, max(0.0, hit.relevance)), 4),
        timestamp=_day(hit.date, now),
        metadata=metadata,
    )


def _day(text: str, now: datetime) -> datetime:
    """Return a day as a time; the memory's own, else now."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return now
