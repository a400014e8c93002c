"""Looks a second time, with the rare words that the best pieces have in common.

A task says that the school gets no bread; a memory about schools speaks of orders that
are paused; the table of orders says until when they are. One piece alone leads to few
sections. All the best ones together say which words the task might have used, too.

Source:
    Relevance feedback (Rocchio 1971; Lavrenko, Croft: Relevance-based language models,
    SIGIR 2001): what was found first lends its words to a second search.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from hivemind_memory.working.blocks import (
    KnowledgeMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    Priority,
)
from hivemind_memory.working.loading import ContentLoader
from hivemind_memory.working.masking import words_without_secrets
from hivemind_memory.working.selection import as_filler
from hivemind_memory.working.task_files import FoundFiles, section_blocks
from hivemind_memory.working.task_words import FoldedTexts, TaskWords

MAX_SOURCES = 8
"""Pieces that lend their words, the best ones."""

MAX_WORDS = 24
_MAX_FILES_SHARE = 0.25
"""A word that more of the files have tells nothing."""

_WORDS_OF_MEMORIES = 12
_FILES = 12
_SECTIONS = 12
_MIN_SHARE = 0.05
_WORTH = 0.3
"""What has lent words comes after what the best pieces refer to by name."""

_WHOLE_WEIGHT = 0.05
"""Least weight of a source: a search may find the right memory and be unsure of it."""

_PART = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")


def second_look(
    found: Sequence[MemoryBlock],
    files: FoundFiles,
    loader: ContentLoader,
    words: TaskWords,
    memories: Callable[[str], list[MemoryBlock]],
) -> list[MemoryBlock]:
    """Return sections and memories that have words of the best pieces, best first.

    Args:
        found: The pieces about the task.
        files: The texts that were read for it.
        loader: Reads the pieces.
        words: Of the task; sections that have them are found without this.
        memories: Finds memories for a text.
    """
    lent = _lent_words(_weighed_texts(found, loader), files.folded, words)
    if not lent:
        return []
    asked = TaskWords(" ".join(lent))
    ranked, coverage = files.folded.ranked(asked)
    best = [path for path, _ in ranked[:_FILES]]
    sections = section_blocks(
        best,
        files.sections,
        asked,
        loader,
        coverage=coverage,
        named=(),
        least=_MIN_SHARE,
    )
    looked = [*sections[:_SECTIONS], *memories(" ".join(lent[:_WORDS_OF_MEMORIES]))]
    return [_as_lent(block) for block in looked]


def _weighed_texts(
    found: Sequence[MemoryBlock], loader: ContentLoader
) -> Iterator[tuple[float, str]]:
    """Yield the texts of the best pieces with what they count."""
    about = [block for block in found if block.rank is not Priority.LOW]
    about.sort(key=lambda block: (-block.confidence, block.id))
    for block in about[:MAX_SOURCES]:
        loaded = loader.load(block)
        if not loaded.is_error:
            name = ""
            if isinstance(block, KnowledgeMemoryBlock):
                name = block.topic
            elif isinstance(block, MessageMemoryBlock):
                name = f"{block.subject} {block.preview}"
            weight = max(_WHOLE_WEIGHT, block.confidence)
            yield weight, words_without_secrets(f"{name} {loaded.text}")


def _lent_words(
    texts: Iterator[tuple[float, str]], files: FoldedTexts, words: TaskWords
) -> list[str]:
    """Return the words that tell most of some texts, those of the task apart."""
    weights: dict[str, float] = {}
    forms: dict[str, str] = {}
    for weight, text in texts:
        parts = " ".join(dict.fromkeys(_PART.findall(text)))
        for known in TaskWords(parts, limit=200).patterns:
            weights[known.stem] = weights.get(known.stem, 0.0) + weight
            forms.setdefault(known.stem, known.word)
    own = {known.stem for known in words.patterns}
    likely = sorted(weights, key=lambda stem: (-weights[stem] * len(stem), stem))
    count = len(files.texts)
    most = max(2, _MAX_FILES_SHARE * count)
    telling = {}
    for stem in [stem for stem in likely if stem not in own][: 2 * MAX_WORDS]:
        holding = files.holding(stem)
        if 0 < holding <= most:
            telling[stem] = weights[stem] * math.log(1 + count / holding)
    best = sorted(telling, key=lambda stem: (-telling[stem], stem))[:MAX_WORDS]
    return [forms[stem] for stem in best]


def _as_lent(block: MemoryBlock) -> MemoryBlock:
    """Return a section as one that has words of other pieces only."""
    why = str(block.metadata.get("why", "")).replace("words: ", "related words: ", 1)
    return as_filler(block, why, block.confidence * _WORTH)
