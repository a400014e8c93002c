"""Makes blocks of the memories that a search finds for a task, as their caller sees."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NotePathError,
    NotesMissingError,
)
from hivemind_memory.files.paths import SUFFIX
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.citation import split_place
from hivemind_memory.model.filters import DEFAULT_FILTER
from hivemind_memory.model.memories import ACTIVE, STATUSES
from hivemind_memory.model.query import Query
from hivemind_memory.model.trust import is_untrusted
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.memory_header import header_of
from hivemind_memory.working.blocks import KnowledgeMemoryBlock, MemoryBlock
from hivemind_memory.working.loading import MEMORY_PREFIX, LoadedText, ReadMemory
from hivemind_memory.working.selection import as_filler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.filters import SearchFilter
    from hivemind_memory.model.query import Hit, SearchAnswer

MAX_MEMORIES = 20
MAX_RELATED = 5
"""Memories that a second look may add."""

_MIN_RELATED = 0.3
MAX_WEAK_MEMORIES = 5
"""Memories that may fill what is left where none is about the task."""


def read_memories_of(memory: Memory) -> ReadMemory:
    """Return what reads a memory by key, id or path, with its caller's rights."""

    def read(name: str) -> LoadedText:
        path, start, end = split_place(name)
        if 0 < start <= end and path.endswith(SUFFIX):
            # A search names the very note, and not the project's own of that day.
            with suppress(NoteNotFoundError, NotePathError):
                return _read_part(memory, path, start, end)
        path, start, end, _ = memory.curation.locate(name)
        return _read_part(memory, path, start, end)

    return read


def _read_part(memory: Memory, path: str, start: int, end: int) -> LoadedText:
    """Return some lines of a note, or all of its text, and whether it counts."""
    whole = memory.read(path).text
    front = split_front_matter(whole)
    header = header_of(path, front.values, custom=memory.types)
    status = STATUSES[header.status]
    marks = ["untrusted"] if is_untrusted(status, header.source) else []
    marks += [status] if header.status != ACTIVE else []
    if start:
        text = memory.read(path, start_line=start, line_count=end - start + 1).text
    else:
        text = "\n".join(whole.split("\n")[front.line_count :]).strip("\n")
    return LoadedText(text=text, note=", ".join(marks))


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """The blocks that were made, and how they were found."""

    blocks: list[MemoryBlock]
    notes: list[str]
    """What should be said of them."""

    has_vectors: bool = False
    """The task was compared by meaning, too: a model has just answered."""


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Where memories for a context come from."""

    memory: Memory
    """As the caller sees it."""

    now: datetime
    search_filter: SearchFilter = DEFAULT_FILTER
    """Which of these memories."""


def find_memories(source: MemorySource, task: str) -> FoundMemories:
    """Return blocks of the memories about a task."""
    try:
        answer, blocks = _search(source, task)
    except NotesMissingError:
        return FoundMemories([], ["there are no notes yet"])
    notes = list(answer.report.warnings)
    if answer.is_unknown:
        why = "it shares a word or two with the task"
        blocks = [
            as_filler(block, why, block.confidence)
            for block in blocks[:MAX_WEAK_MEMORIES]
        ]
        notes.append("no memory is about this task")
    elif answer.is_weak:
        notes.append("the memories match the task only weakly")
    elif not answer.hits and answer.report.why_empty:
        notes.append(answer.report.why_empty)
    return FoundMemories(blocks, notes, answer.report.mode == "hybrid")


def memories_about(source: MemorySource, subject: str) -> list[MemoryBlock]:
    """Return blocks of the memories that are clearly about a subject, best first.

    The index answers as it is: the search for the task has just updated it.
    """
    try:
        answer, blocks = _search(source, subject, is_fresh=False)
    except HivemindError:
        return []  # the rest of the context does without
    return [] if answer.is_unknown or answer.is_weak else blocks


def related_memories(source: MemorySource, text: str) -> list[MemoryBlock]:
    """Return blocks of the few memories that have most words of a text."""
    try:
        _, blocks = _search(source, text, is_fresh=False)
    except HivemindError:
        return []  # the rest of the context does without
    why = "it has words of what was found"
    return [
        replaced(
            block,
            confidence=max(block.confidence, _MIN_RELATED),
            metadata={**block.metadata, "why": why},
        )
        for block in blocks[:MAX_RELATED]
    ]


def _search(
    source: MemorySource, text: str, *, is_fresh: bool = True
) -> tuple[SearchAnswer, list[MemoryBlock]]:
    """Return the answer to a text, and the block of each hit, best first.

    What has no date, such as ``global.md``, does not age: it counts as written today.
    """
    query = Query(
        text=text, max_results=MAX_MEMORIES, search_filter=source.search_filter
    )
    answer = source.memory.search(query, is_fresh=is_fresh)
    clocks = source.memory.clocks
    today = clocks.local_iso(source.now.timestamp())[:10]
    return answer, [
        _block(hit, _midnight(hit.date or today, clocks)) for hit in answer.hits
    ]


def _block(hit: Hit, start: datetime) -> MemoryBlock:
    """Return the block of one hit; its text is read when it is selected."""
    metadata: dict[str, object] = {"why": "a search for the task finds it"}
    for name in ("key", "status", "source", "disputed_by"):
        if value := getattr(hit, name):
            metadata[name] = value
    if hit.type:
        metadata["memory_type"] = hit.type
    if hit.untrusted:
        metadata["untrusted"] = True
    place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    return KnowledgeMemoryBlock(
        topic=" ".join((hit.key or hit.path, *hit.headings)),
        location=MEMORY_PREFIX + place,
        confidence=round(min(1.0, max(0.0, hit.confidence)), 4),
        relevance_score=round(min(1.0, max(0.0, hit.relevance)), 4),
        timestamp=start,
        metadata=metadata,
    )


def _midnight(day: str, clocks: Clocks) -> datetime:
    """Return when a day begins in the user's time zone."""
    start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    offset_s = clocks.local_offset_s(start.timestamp())
    # At the local midnight the offset may be another one than at that of UTC.
    offset_s = clocks.local_offset_s(start.timestamp() - offset_s)
    return start.replace(tzinfo=timezone(timedelta(seconds=offset_s)))
