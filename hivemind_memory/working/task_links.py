"""Finds what the pieces about a task refer to, though the task has none of its words.

A memory about a lost display names the watchdog; the watchdog's file is then worth
showing, and the other way round. So are the callers of a function, its test, and where
a setting is set. Only one step is taken, from the best pieces and from what is not
committed. What is found so is of low priority: it fills what is left of the budget.
"""

from __future__ import annotations

import re
import sys
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
from hivemind_memory.working.masking import words_without_secrets
from hivemind_memory.working.root_folder import Walk
from hivemind_memory.working.task_changes import UNCOMMITTED
from hivemind_memory.working.task_files import (
    FoundFiles,
    file_block,
    section_blocks,
)
from hivemind_memory.working.task_memories import (
    MemorySource,
    memories_about,
    related_memories,
)
from hivemind_memory.working.task_names import (
    NamedSection,
    changed_lines,
    defined_names,
    is_test_of,
    names_in,
    sections_with,
    weights_of,
)
from hivemind_memory.working.task_words import FoldedTexts, TaskWords, named_files

_SOURCES = 3
"""Pieces of each kind that references are followed from, the best ones."""

_FILES_OF_SOURCE = 3
_SECTIONS_OF_SOURCE = 2
_SECTIONS_WITH_NAMES = 4
"""Sections that share names with one section."""

_TEST_SHARE = 0.5
"""Least share of the names that a test of a file counts as having."""

_MEMORIES_OF_FILE = 2
_NAMES_OF_SECTION = 4
"""Names that a section defines, and that memories are looked for by."""

_MAX_SUBJECTS = 11
"""Searches for memories about files: each costs as much as that for the task."""

_UNASKED = 0.3
"""What a change refers to that has no words of the task counts less."""

_MIN_CERTAIN = 0.15
"""What a memory refers to is worth showing even where the search is unsure of it."""

_MIN_SHARE = 0.1
"""Share of the words of a piece that what it refers to must have."""

_PART_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def linked_blocks(
    found: Sequence[MemoryBlock],
    files: FoundFiles,
    loader: ContentLoader,
    memories: MemorySource,
) -> list[MemoryBlock]:
    """Return blocks of what the best pieces refer to, none that is among them.

    Args:
        found: The pieces about the task.
        files: The texts that were read for it.
        loader: Reads the pieces.
        memories: Where memories come from.
    """
    linked = [
        *_files_of_texts(found, files, loader),
        *_files_of_files(found, files, loader),
        *_memories_of_files(found, loader, memories),
        *_memories_of_messages(found, memories),
    ]
    linked.sort(key=lambda block: -block.confidence)
    return without_overlaps(linked, found)


def without_overlaps(
    blocks: Iterable[MemoryBlock], found: Sequence[MemoryBlock]
) -> list[MemoryBlock]:
    """Return the blocks whose text is not among some others, or before them."""
    known = {block.id for block in found}
    taken: list[MemoryBlock] = []
    for block in blocks:
        if block.id not in known and not _overlaps(block, [*found, *taken]):
            known.add(block.id)
            taken.append(block)
    return taken


def _files_of_texts(
    found: Sequence[MemoryBlock], files: FoundFiles, loader: ContentLoader
) -> Iterator[MemoryBlock]:
    """Yield sections that memories, messages and commits about the task refer to."""
    for source in _best(found, KnowledgeMemoryBlock, MessageMemoryBlock):
        loaded = loader.load(source)
        if not loaded.is_error:
            text = words_without_secrets(f"{_name_of(source)} {loaded.text}")
            yield from _sections(source, text, files, files.folded, loader)
    for commit in _best(found, HistoryMemoryBlock):
        if isinstance(commit, HistoryMemoryBlock) and commit.action_type == "commit":
            touched = dict.fromkeys((commit.result or "").split(", "))
            texts = files.sections.texts
            folded = FoldedTexts({at: texts[at] for at in touched if at in texts})
            yield from _sections(commit, commit.action_detail, files, folded, loader)


def _sections(
    source: MemoryBlock,
    text: str,
    files: FoundFiles,
    folded: FoldedTexts,
    loader: ContentLoader,
) -> Iterator[MemoryBlock]:
    """Yield the sections that have most of the words of a piece."""
    words = TaskWords(text)
    ranked, coverage = folded.ranked(words)
    named = named_files(text, list(folded.texts))
    best = [path for path, _ in ranked[:_FILES_OF_SOURCE]]
    sections = section_blocks(
        list(dict.fromkeys([*named, *best])),
        files.sections,
        words,
        loader,
        coverage=coverage,
        named=named,
        least=_MIN_SHARE,
    )
    for block in sections[:_SECTIONS_OF_SOURCE]:
        yield _as_linked(block, source, f"it has words of {source.id}")


def _files_of_files(
    found: Sequence[MemoryBlock], files: FoundFiles, loader: ContentLoader
) -> Iterator[MemoryBlock]:
    """Yield sections that share names with a section, or are its test."""
    for source in _sources_of_code(found):
        path, text = _place_and_text(source, loader)
        texts = files.sections.texts
        weights = weights_of(names_in(text), texts)
        near = {
            other: files.sections.of(other)
            for other, body in texts.items()
            if any(name in body for name in weights)
        }
        links = sections_with(weights, near)[:_SECTIONS_WITH_NAMES]
        with loader.root.walk() as walk:
            blocks = [_linked_section(link, path, walk) for link in links]
        for block in blocks:
            if block is not None:
                yield _as_linked(block, source, str(block.metadata["why"]))


def _linked_section(link: NamedSection, path: str, walk: Walk) -> MemoryBlock | None:
    """Return the block of a section that shares names with a file."""
    names = ", ".join(link.names[:3])
    is_test = is_test_of(path, link.path)
    return file_block(
        walk,
        link.path,
        link.section,
        confidence=max(link.share, _TEST_SHARE if is_test else 0.0),
        priority=Priority.LOW,
        why=f"it is the test of {path}: {names}"
        if is_test
        else f"shares {names} with {path}",
    )


def _sources_of_code(
    found: Sequence[MemoryBlock],
) -> list[FileMemoryBlock | HistoryMemoryBlock]:
    """Return the best sections, and the changes that are not committed."""
    best = _best(found, FileMemoryBlock)
    changes = [
        block
        for block in found
        if isinstance(block, HistoryMemoryBlock) and block.action_type == UNCOMMITTED
    ]
    files = [block for block in best if isinstance(block, FileMemoryBlock)]
    return [*files, *changes[:_SOURCES]]


def _memories_of_files(
    found: Sequence[MemoryBlock], loader: ContentLoader, memories: MemorySource
) -> Iterator[MemoryBlock]:
    """Yield memories about the files in which the task's words are.

    They are looked for by the names of the files, and then by what the sections define
    or the changes touch. What several are about is looked for once.
    """
    subjects: list[tuple[int, str, MemoryBlock, str]] = []
    for source in reversed(_sources_of_code(found)):
        path, text = _place_and_text(source, loader)
        name = path.rpartition("/")[2].partition(".")[0]
        for turn, subject in enumerate(_subjects(name, text)):
            subjects.append((turn, subject, source, path))
    subjects.sort(key=lambda subject: subject[0])
    about: dict[str, list[MemoryBlock]] = {}
    for _, subject, origin, path in subjects:
        key = subject.casefold()
        if key not in about:
            if len(about) >= _MAX_SUBJECTS:
                continue
            about[key] = memories_about(memories, subject)[:_MEMORIES_OF_FILE]
        for block in about[key]:
            why = f'found by "{key}", a name in {path}'
            yield _as_linked(block, origin, why)


def _memories_of_messages(
    found: Sequence[MemoryBlock], memories: MemorySource
) -> Iterator[MemoryBlock]:
    """Yield memories that have words of the messages about the task."""
    for source in _best(found, MessageMemoryBlock):
        if isinstance(source, MessageMemoryBlock):
            text = f"{source.subject} {source.preview}"
            for block in related_memories(memories, text):
                yield _as_linked(block, source, f"it has words of {source.id}")


def _place_and_text(
    source: FileMemoryBlock | HistoryMemoryBlock, loader: ContentLoader
) -> tuple[str, str]:
    """Return the path of a section or a change, and its text or the changed lines."""
    if isinstance(source, FileMemoryBlock):
        return source.location, words_without_secrets(loader.load(source).text)
    return source.action_detail, changed_lines(source.result or "")


def _subjects(name: str, text: str) -> Iterator[str]:
    """Yield the words of a file's name, and of the names of two words in a text."""
    yield " ".join(_PART_OF_NAME.findall(name))
    names = [_PART_OF_NAME.findall(name) for name in defined_names(text)]
    for parts in [parts for parts in names if len(parts) > 1][:_NAMES_OF_SECTION]:
        yield " ".join(parts)


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
    certain = source.confidence
    if isinstance(source, KnowledgeMemoryBlock):
        certain = max(certain, _MIN_CERTAIN)
    if source.rank is Priority.LOW:
        certain *= _UNASKED
    return replaced(
        block,
        confidence=round(block.confidence * certain, 4),
        priority=Priority.LOW,
        metadata={**block.metadata, "why": why},
    )


def _overlaps(block: MemoryBlock, found: Iterable[MemoryBlock]) -> bool:
    """Return whether lines of a block are among the pieces already."""
    if not isinstance(block, FileMemoryBlock):
        return False
    return any(
        isinstance(other, FileMemoryBlock)
        and other.location == block.location
        and (block.start_line or 1) <= (other.end_line or sys.maxsize)
        and (other.start_line or 1) <= (block.end_line or sys.maxsize)
        for other in found
    )
