"""Finds the files, and the sections of files, that a task is about."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hivemind_memory.model.display import count_text
from hivemind_memory.working.blocks import FileMemoryBlock, MemoryBlock, Priority
from hivemind_memory.working.code_outline import Section, sections_of
from hivemind_memory.working.loading import ContentLoader
from hivemind_memory.working.root_folder import Walk
from hivemind_memory.working.selection import as_filler
from hivemind_memory.working.task_words import (
    MIN_COVERAGE,
    Coverage,
    FoldedTexts,
    TaskWords,
    WordCounts,
    named_files,
)

MAX_FILES = 5_000
"""Files that are read for one task."""

MAX_TOTAL_CHARS = 24_000_000
MAX_FILE_CHARS = 256_000
NAMED_CONFIDENCE = 0.95
_CUT_FILES = 60
"""Files that are cut into sections, those with most of the words."""

MAX_BLOCKS = 60
"""Sections that become blocks; more would never fit."""

MAX_WEAK_BLOCKS = 30
"""Sections with too few words of the task that may fill what is left."""

_WEAKER = 0.5
"""What has few words of the task comes after what a better piece refers to."""

_FILE_SHARE = 0.15
"""What the words of the whole file add to those of a section: a function in a module
that is about suppliers need not say so."""

_MIN_LINES = 6
"""Shorter sections are taken together: each block costs some 70 tokens by itself."""

_WHOLE_CHARS = 4_000
"""A file that a task names is one block up to here."""

SKIPPED_FOLDERS = frozenset(
    (
        *("__pycache__", "build", "dist", "node_modules", "site-packages"),
        *("target", "vendor", "venv"),
    )
)
_NOT_TEXT = (
    *(".gif", ".gz", ".ico", ".jpg", ".lock", ".map", ".min.js", ".pdf", ".png"),
    *(".pyc", ".so", ".svg", ".whl", ".woff2", ".zip"),
)
"""Ends of names of files that are not read."""


class FileSections:
    """The sections of some files with their texts; each file is cut once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        """Path -> text."""

        self._cut: dict[str, list[tuple[Section, str]]] = {}

    def of(self, path: str) -> list[tuple[Section, str]]:
        """Return the sections of a file, each with its text."""
        if path not in self._cut:
            self._cut[path] = list(_sections_in(path, self.texts[path]))
        return self._cut[path]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFiles:
    """The blocks that were made, and what was not looked at."""

    blocks: list[MemoryBlock]
    weak: list[MemoryBlock]
    """Sections with few words of the task: they fill what is left of a budget."""

    sections: FileSections
    """Of all files that were read."""

    folded: FoldedTexts
    """The same texts, to look for words in."""

    ranked: list[str]
    """All files that were read, those with most words of the task first."""

    notes: list[str]


@dataclass(slots=True)
class _Candidate:
    """A section of a file."""

    path: str
    section: Section
    is_whole: bool
    counted: WordCounts


def find_files(
    loader: ContentLoader,
    words: TaskWords,
    task: str,
    *,
    listed: Sequence[str] | None,
    in_use: Collection[str],
) -> FoundFiles:
    """Return the sections of files that a task is about, best first.

    Args:
        loader: Reads the files.
        words: Of the task.
        task: Its text, which may name files.
        listed: Files as git lists them; None: all below the root are taken.
        in_use: Files that have changed; they are read first.
    """
    paths = list(listed) if listed is not None else _all_files(loader)
    named = named_files(task, paths)
    ordered = dict.fromkeys(
        [*named, *(path for path in paths if path in in_use), *paths]
    )
    wanted = [path for path in ordered if not path.endswith(_NOT_TEXT)]
    texts, notes = _read(loader, wanted)
    notes += [
        f"{path} was not read: it is too large, or no text"
        for path in named
        if path not in texts
    ]
    counts = {path: words.count(text, f"{path} ") for path, text in texts.items()}
    coverage = Coverage(words, counts.values())
    ranked = sorted(counts, key=lambda path: (-coverage.of(counts[path]), path))
    best = [path for path in ranked[:_CUT_FILES] if any(counts[path].counts)]
    sections = FileSections(texts)
    cut = dict.fromkeys(path for path in [*named, *best] if path in texts)
    found = section_blocks(
        cut, sections, words, loader, coverage=coverage, named=named, least=0.0
    )
    blocks = [block for block in found if _has_enough(block)][:MAX_BLOCKS]
    weak = [_as_weak(block) for block in found if not _has_enough(block)]
    return FoundFiles(
        blocks=blocks,
        weak=weak[:MAX_WEAK_BLOCKS],
        sections=sections,
        folded=FoldedTexts(texts),
        ranked=ranked,
        notes=notes,
    )


def _has_enough(block: MemoryBlock) -> bool:
    """Return whether a section has enough words of the task to be about it."""
    return block.rank is Priority.HIGH or block.confidence >= MIN_COVERAGE


def _as_weak(block: MemoryBlock) -> MemoryBlock:
    """Return a section with few words as one that only fills what is left."""
    why = str(block.metadata.get("why", "")).replace("words: ", "few words: ", 1)
    return as_filler(block, why, block.confidence * _WEAKER)


def section_blocks(
    paths: Collection[str],
    sections: FileSections,
    words: TaskWords,
    loader: ContentLoader,
    *,
    coverage: Coverage,
    named: Collection[str],
    least: float = MIN_COVERAGE,
) -> list[MemoryBlock]:
    """Return the sections of some files that have enough of some words, best first.

    Args:
        paths: Of the files.
        sections: Of these files, and maybe of others.
        words: What is looked for.
        loader: Says when a file has changed.
        coverage: How the words are weighed.
        named: Paths that the task names.
        least: Share of the words' weight that a section must have.
    """
    candidates = [
        candidate
        for path in paths
        for candidate in _candidates(path, sections, words, is_named=path in named)
    ]
    of_files = {
        path: coverage.of(words.count(sections.texts[path], f"{path} "))
        for path in paths
    }
    coverage = coverage.of_sections(candidate.counted for candidate in candidates)
    blocks: list[MemoryBlock] = []
    with loader.root.walk() as walk:
        for candidate in candidates:
            of_file = _FILE_SHARE * of_files[candidate.path]
            share = (coverage.of(candidate.counted) + of_file) / (1 + _FILE_SHARE)
            is_named = candidate.path in named
            is_enough = share >= least and share > 0
            if not is_enough and not (is_named and candidate.is_whole):
                continue
            shared = ", ".join(words.found(candidate.counted))
            why = f"words: {shared}" if shared else "its file has words of the task"
            block = file_block(
                walk,
                candidate.path,
                None if candidate.is_whole else candidate.section,
                confidence=NAMED_CONFIDENCE if is_named else share,
                priority=Priority.HIGH if is_named else Priority.MEDIUM,
                why="named in the task" if is_named else why,
            )
            if block is not None:
                blocks.append(block)
    blocks.sort(key=lambda block: (-block.confidence, block.id))
    return blocks


def _sections_in(path: str, text: str) -> Iterator[tuple[Section, str]]:
    """Yield the sections of a file with their texts."""
    suffix = os.path.splitext(path)[1].lower()
    lines = text.split("\n")
    for section in merged_sections(sections_of(text, suffix)):
        yield section, "\n".join(lines[section.start_line - 1 : section.end_line])


def file_block(
    walk: Walk,
    path: str,
    section: Section | None,
    *,
    confidence: float,
    priority: Priority,
    why: str,
) -> FileMemoryBlock | None:
    """Return the block of a section; None: its file has gone.

    Args:
        walk: Says when the file has changed.
        path: Of the file.
        section: None: the whole file.
        confidence: How sure it is that the task needs it, 0..1.
        priority: How much it matters.
        why: Why it is there.
    """
    try:
        changed_s = walk.status(path).st_mtime
    except OSError:
        return None
    return FileMemoryBlock(
        location=path,
        start_line=section.start_line if section else None,
        end_line=section.end_line if section else None,
        priority=priority,
        metadata={"why": why},
        confidence=round(confidence, 4),
        timestamp=datetime.fromtimestamp(changed_s, UTC),
    )


def _all_files(loader: ContentLoader) -> list[str]:
    """Return the files below the root, hidden ones apart."""
    with loader.root.walk() as walk:
        return list(walk.files(SKIPPED_FOLDERS, 4 * MAX_FILES))


def _read(
    loader: ContentLoader, paths: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Return the texts of files, up to a limit, and what is missing."""
    texts: dict[str, str] = {}
    total, unread = 0, max(0, len(paths) - MAX_FILES)
    with loader.batch() as load:
        for path in paths[:MAX_FILES]:
            if total > MAX_TOTAL_CHARS:
                unread += 1
                continue
            loaded = load(FileMemoryBlock(location=path))
            if loaded.is_error or len(loaded.text) > MAX_FILE_CHARS:
                continue
            total += len(loaded.text)
            texts[path] = loaded.text
    if not unread:
        return texts, []
    return texts, [f"{count_text(unread, 'file')} not looked at: there are too many"]


def _candidates(
    path: str, cut: FileSections, words: TaskWords, *, is_named: bool
) -> list[_Candidate]:
    """Return the sections of a file, or the file as one."""
    text = cut.texts[path]
    whole = Section(1, text.count("\n") + 1, "")
    names = f"{path} "
    if is_named and len(text) <= _WHOLE_CHARS:
        return [_Candidate(path, whole, True, words.count(text, names))]  # noqa: FBT003
    sections = cut.of(path)
    found = []
    for section, part in sections:
        counted = words.count(part, names + section.title)
        found.append(_Candidate(path, section, len(sections) == 1, counted))
    return found


def merged_sections(sections: Sequence[Section]) -> list[Section]:
    """Return sections with short ones joined to what follows."""
    merged: list[Section] = []
    for section in sections:
        last = merged[-1] if merged else None
        if last is not None and last.end_line - last.start_line + 1 < _MIN_LINES:
            title = f"{last.title} {section.title}".strip()
            merged[-1] = Section(last.start_line, section.end_line, title)
        else:
            merged.append(section)
    return merged
