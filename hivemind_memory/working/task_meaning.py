"""Finds the sections of files that are close to a task in meaning, without its words.

*The database server burnt down* shares no word with the page on how to restore a
backup. A model compares the two; only one on this machine is asked, so no line of code
leaves it. What is found this way is of low priority: it fills what is left of a budget.

Source:
    Dense retrieval by a dual encoder: Karpukhin et al., Dense Passage Retrieval for
    Open-Domain Question Answering, EMNLP 2020.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import mul

from hivemind_memory.errors import EmbeddingError
from hivemind_memory.model.display import count_text
from hivemind_memory.working.blocks import MemoryBlock, Priority
from hivemind_memory.working.code_outline import Section
from hivemind_memory.working.loading import ContentLoader
from hivemind_memory.working.section_vectors import SectionVectors, digest_of
from hivemind_memory.working.task_files import FoundFiles, file_block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.ports import Embedder

MAX_SECTIONS = 1_000
"""Sections that are compared, those of the files with most words of the task first."""

EMBED_S = 5.0
"""Seconds that one context spends on vectors of new sections."""

QUERY_S = 2.0
MAX_TEXT_CHARS = 1_000
"""Of a section that are compared: small models read some 256 tokens."""

_BATCH = 16
_MAX_CLOSE = 20
_MIN_DEVIATIONS = 1.0
"""How far above the mean of all sections a similarity must be: models differ in how
similar unrelated texts are to them."""

_WORTH = 0.5
"""What is only close in meaning comes after what has most words of the task."""


def close_in_meaning(
    memory: Memory, task: str, files: FoundFiles, loader: ContentLoader
) -> tuple[list[MemoryBlock], list[str]]:
    """Return the sections that are closest to a task, and what should be said.

    None, if there is no model on this machine, or it does not answer.

    Args:
        memory: Whose settings choose the model.
        task: Its text.
        files: What was read for it.
        loader: Says when a file has changed.
    """
    space = memory.provider.space()
    if space is None or not (space.weights or space.address.is_loopback):
        return [], []
    stored = SectionVectors(memory.places, loader.root.path, space.fingerprint)
    sections = list(_sections(files))
    try:
        embedder = memory.provider.connect(space)
    except EmbeddingError:
        return [], []  # the rest of the context does without
    try:
        query = embedder.embed_query(task, timeout_s=QUERY_S)
        vectors, missing = _vectors(
            embedder, stored, sections, len(query), memory.clocks.stopwatch
        )
    except EmbeddingError:
        return [], []
    finally:
        embedder.close()
    scored = [
        (_cosine(query, vectors[section.digest]), section)
        for section in sections
        if section.digest in vectors
    ]
    blocks: list[MemoryBlock] = []
    with loader.root.walk() as walk:
        for worth, section in _closest(scored):
            block = file_block(
                walk,
                section.path,
                section.lines,
                confidence=_WORTH * worth,
                priority=Priority.LOW,
                why="close to the task in meaning",
            )
            if block is not None:
                blocks.append(block)
    if not missing:
        return blocks, []
    some = count_text(missing, "section was", "sections were")
    return blocks, [f"{some} not compared by meaning yet; the next context goes on"]


@dataclass(frozen=True, slots=True)
class _ComparedSection:
    path: str
    lines: Section | None
    """None: the whole file."""

    text: str
    digest: bytes


def _sections(files: FoundFiles) -> Iterator[_ComparedSection]:
    """Yield the sections to compare, the likeliest files first."""
    count = 0
    for path in files.ranked:
        sections = files.sections.of(path)
        for section, part in sections:
            if not part.strip():
                continue
            if count == MAX_SECTIONS:
                return
            count += 1
            text = f"{path} {section.title}\n{part}"[:MAX_TEXT_CHARS]
            # The name of a file may be no UTF-8.
            text = text.encode("utf-8", "replace").decode()
            lines = section if len(sections) > 1 else None
            yield _ComparedSection(path, lines, text, digest_of(text))


def _vectors(
    embedder: Embedder,
    kept: SectionVectors,
    sections: Sequence[_ComparedSection],
    vector_bytes: int,
    stopwatch: Callable[[], float],
) -> tuple[dict[bytes, bytes], int]:
    """Return digest -> vector, those that there was time for, and how many are missing.

    A model that fails leaves the sections for the next time.
    """
    stored = kept.read()
    known = {
        section.digest: stored[section.digest]
        for section in sections
        if len(stored.get(section.digest, b"")) == vector_bytes
    }
    new = {
        section.digest: section.text
        for section in sections
        if section.digest not in known
    }
    waiting, started, made = list(new), stopwatch(), 0
    while waiting[made:] and stopwatch() - started < EMBED_S:
        batch = waiting[made : made + _BATCH]
        try:
            found = embedder.embed_documents([new[digest] for digest in batch])
        except EmbeddingError:
            break
        known.update(zip(batch, found, strict=True))
        made += len(batch)
    if made:
        kept.write({**known, **stored})
    else:
        kept.mark_used()
    return known, len(waiting) - made


def _closest(
    scored: Sequence[tuple[float, _ComparedSection]],
) -> Iterator[tuple[float, _ComparedSection]]:
    """Yield the closest sections, best first, each with what it is worth, 0..1.

    The worth is how far a similarity is above the mean, as a share of the best one's.
    """
    if len(scored) < 2:
        return
    mean = math.fsum(score for score, _ in scored) / len(scored)
    spread = math.fsum((score - mean) ** 2 for score, _ in scored) / len(scored)
    least = mean + _MIN_DEVIATIONS * math.sqrt(spread)
    ordered = sorted(scored, key=_order)
    best = ordered[0][0]
    for score, section in ordered[:_MAX_CLOSE]:
        if score <= least:
            return
        yield (score - mean) / (best - mean), section


def _order(scored: tuple[float, _ComparedSection]) -> tuple[float, str, bytes]:
    """Return what a section is sorted by, the most similar first."""
    similarity, section = scored
    return -similarity, section.path, section.digest


def _cosine(query: bytes, vector: bytes) -> float:
    """Return the cosine of two float32 vectors of length 1."""
    return float(sum(map(mul, array("f", query), array("f", vector))))
