"""Finds what the pieces about a task refer to, though the task has none of its words.

A memory about a lost display names the watchdog; the watchdog's file is then worth
showing, and the other way round. Only one step is taken, from the best pieces. What is
found so is of low priority: it fills what is left of the budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hivemind_memory.model.value import replaced
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    Priority,
)
from hivemind_memory.working.loading import ContentLoader
from hivemind_memory.working.task_files import FoundFiles, section_blocks
from hivemind_memory.working.task_memories import memories_about
from hivemind_memory.working.task_words import Coverage, TaskWords, named_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from hivemind_memory.memory import Memory

_SOURCES = 3
"""Pieces of each kind that references are followed from, the best ones."""

_FILES_OF_SOURCE = 3
_SECTIONS_OF_SOURCE = 2
_MEMORIES_OF_FILE = 2
_LEAST_SHARE = 0.2
"""Share of the words of a piece that what it refers to must have."""

_WEAKER = 0.5
"""What is referred to counts half as much as what refers to it."""

_PART_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def linked_blocks(
    found: Sequence[MemoryBlock],
    files: FoundFiles,
    loader: ContentLoader,
    memory: Memory,
    now: datetime,
) -> list[MemoryBlock]:
    """Return blocks of what the best pieces refer to, none that is among them.

    Args:
        found: The pieces about the task.
        files: The texts that were read for it.
        loader: Reads the pieces.
        memory: As the caller sees it.
        now: The time.
    """
    known = {block.id for block in found}
    linked: dict[str, MemoryBlock] = {}
    for block in [
        *_files_of_texts(found, files, loader),
        *_memories_of_files(found, memory, now),
    ]:
        if block.id not in known and not _overlaps(block, found):
            linked.setdefault(block.id, block)
    return list(linked.values())


def _files_of_texts(
    found: Sequence[MemoryBlock], files: FoundFiles, loader: ContentLoader
) -> Iterator[MemoryBlock]:
    """Yield sections that memories, messages and commits about the task refer to."""
    for source in _best(found, KnowledgeMemoryBlock, MessageMemoryBlock):
        loaded = loader.load(source)
        if not loaded.is_error:
            text = f"{_name_of(source)} {loaded.text}"
            yield from _sections(source, text, files.texts, loader)
    for commit in _best(found, HistoryMemoryBlock):
        if isinstance(commit, HistoryMemoryBlock) and commit.action_type == "commit":
            touched = dict.fromkeys((commit.result or "").split(", "))
            texts = {path: files.texts[path] for path in touched if path in files.texts}
            yield from _sections(commit, commit.action_detail, texts, loader)


def _sections(
    source: MemoryBlock,
    text: str,
    texts: dict[str, str],
    loader: ContentLoader,
) -> Iterator[MemoryBlock]:
    """Yield the sections that have most of the words of a piece."""
    words = TaskWords(text)
    counts = {path: words.count(body, f"{path} ") for path, body in texts.items()}
    coverage = Coverage(words, counts.values())
    named = named_files(text, list(texts))
    ranked = sorted(counts, key=lambda path: (-coverage.of(counts[path]), path))
    paths = list(dict.fromkeys([*named, *ranked[:_FILES_OF_SOURCE]]))
    sections = section_blocks(
        {path: texts[path] for path in paths},
        words,
        loader,
        coverage=coverage,
        named=named,
        least=_LEAST_SHARE,
    )
    for block in sections[:_SECTIONS_OF_SOURCE]:
        yield _as_linked(block, source, f"{source.id} is about it")


def _memories_of_files(
    found: Sequence[MemoryBlock], memory: Memory, now: datetime
) -> Iterator[MemoryBlock]:
    """Yield memories about the files in which the task's words are."""
    for path, source in {
        block.location: block
        for block in reversed(_best(found, FileMemoryBlock))
        if isinstance(block, FileMemoryBlock)
    }.items():
        name = path.rpartition("/")[2].partition(".")[0]
        subject = " ".join(_PART_OF_NAME.findall(name))
        for block in memories_about(memory, subject, now)[:_MEMORIES_OF_FILE]:
            yield _as_linked(block, source, f"it is about {path}")


def _best(found: Iterable[MemoryBlock], *kinds: type[MemoryBlock]) -> list[MemoryBlock]:
    """Return the best pieces of some kinds."""
    of_kind = [block for block in found if isinstance(block, kinds)]
    of_kind.sort(key=lambda block: (-block.confidence, block.id))
    return of_kind[:_SOURCES]


def _name_of(block: MemoryBlock) -> str:
    """Return what a piece is called."""
    if isinstance(block, MessageMemoryBlock):
        return block.subject
    return block.topic if isinstance(block, KnowledgeMemoryBlock) else ""


def _as_linked(block: MemoryBlock, source: MemoryBlock, why: str) -> MemoryBlock:
    """Return a block as one that is only referred to."""
    return replaced(
        block,
        confidence=round(block.confidence * source.confidence * _WEAKER, 4),
        priority=Priority.LOW,
        metadata={**block.metadata, "why": why},
    )


def _overlaps(block: MemoryBlock, found: Iterable[MemoryBlock]) -> bool:
    """Return whether the lines of a block are among the pieces already."""
    if not isinstance(block, FileMemoryBlock):
        return False
    return any(
        isinstance(other, FileMemoryBlock)
        and other.location == block.location
        and (other.start_line is None or other.start_line == block.start_line)
        for other in found
    )
