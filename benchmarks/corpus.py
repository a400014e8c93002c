"""Make the corpus of the benchmarks: notes, queries, and questions with known answers.

    python -m benchmarks.corpus [--chunks 10000] [--seed 1]

Kept in ``benchmarks/.data``, made once: the same seed, Python version and makers give
the same bytes.

    notes/          global.md, dated notes, topic notes; one flat folder
    queries.jsonl   200 keyword queries of 1 to 5 words, from rare ones to common ones
    known.jsonl     200 questions with the note that answers each
    manifest.json   how much of what there is; written last, so it says "complete"
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import os
import platform
import random
import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmarks.notebook import Notebook
from benchmarks.prose import Prose, documentation, pick
from benchmarks.simple_chunker import simple_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
HERE = Path(__file__).parent
DATA = HERE / ".data"
NEWEST = dt.date(2026, 6, 30)
"""Day of the youngest dated note: fixed, or the corpus would change every day."""

MAKERS = ("prose.py", "notebook.py", "simple_chunker.py", "corpus.py")
TRIES = 1000
"""Chunks to look at for enough words of a band, before fewer must do."""

WORD = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus on the disk. Copy the notes before you change them."""

    folder: Path

    @property
    def notes(self) -> Path:
        """The folder of notes."""
        return self.folder / "notes"

    @property
    def manifest(self) -> dict[str, object]:
        """How many chunks, files and bytes; the seed and the digest."""
        text = (self.folder / "manifest.json").read_text(encoding="utf-8")
        return dict(json.loads(text))

    def queries(self) -> list[str]:
        """Return the keyword queries."""
        return [str(row["query"]) for row in _read(self.folder / "queries.jsonl")]

    def known(self) -> list[dict[str, object]]:
        """Return ``{query, path, kind}``, kind being question or keywords."""
        return _read(self.folder / "known.jsonl")


def corpus(*, chunks: int = 10_000, seed: int = 1) -> Corpus:
    """Return the corpus of that size, made if it is not there yet.

    Args:
        chunks: At least so many, counted by the simple chunker.
        seed: Another seed, another corpus of the same kind.
    """
    made_by = hashlib.sha256()
    for name in MAKERS:
        made_by.update((HERE / name).read_bytes())
    version = "".join(platform.python_version_tuple()[:2])
    name = f"corpus-{chunks}-{seed}-py{version}-{made_by.hexdigest()[:8]}"
    folder = DATA / name
    if not (folder / "manifest.json").exists():
        DATA.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=DATA) as scratch:
            made = Path(scratch, "corpus")
            write_corpus(made, Prose(documentation()), chunks=chunks, seed=seed)
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
    return Corpus(folder=folder)


@dataclass(slots=True)
class _Count:
    """What was written so far."""

    chunks: int = 0
    size_bytes: int = 0
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    frequency: Counter[str] = field(default_factory=Counter)
    """Word -> chunks that hold it."""

    sample: list[tuple[str, str]] = field(default_factory=list)
    """(note, text) of one chunk in ten."""

    facts: list[dict[str, object]] = field(default_factory=list)
    stop: frozenset[str] = frozenset()
    """The commonest words; nobody asks for those."""


def write_corpus(
    folder: Path, prose: Prose, *, chunks: int, seed: int, questions: int = 200
) -> None:
    """Write a corpus of *chunks* chunks or a few more into *folder*, not yet there."""
    rng = random.Random(seed)
    book = Notebook(prose, rng)
    notes = folder / "notes"
    notes.mkdir(parents=True)
    result, names = _Count(), set[str]()
    fact_share = min(0.5, 2.0 * questions / chunks)
    while result.chunks < chunks:
        name, title, sections, age_days = _plan(book, len(names))
        name = f"{name}-{len(names)}" if name in names else name
        note = book.note(title, sections=sections, fact_share=fact_share)
        _write_note(notes / f"{name}.md", note.text, age_days)
        _count(result, f"{name}.md", note.text, rng)
        result.facts += [
            {"query": fact.question, "path": f"{name}.md", "kind": "question"}
            for fact in note.facts
        ]
        names.add(name)
    commonest = result.frequency.most_common(min(60, len(result.frequency) // 50))
    result.stop = frozenset(word for word, _ in commonest)
    rng = random.Random(seed + 1)
    _write(folder / "queries.jsonl", _queries(result, rng, questions))
    _write(folder / "known.jsonl", _known(result, rng, questions))
    manifest = {
        "chunks": result.chunks,
        "files": len(names),
        "bytes": result.size_bytes,
        "words": len(result.frequency),
        "seed": seed,
        "python": platform.python_version(),
        "sha256": result.digest.hexdigest(),
    }
    text = json.dumps(manifest, indent=1) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def _plan(book: Notebook, number: int) -> tuple[str, str, int, int]:
    """Return name, title, sections and age in days of the next note."""
    if number == 0:
        return "global", "Global memory", 12, 0
    if number % 3 == 0:
        title = f"{book.word()} {book.word()}"
        sections = 6 + int(30 * book.rng.random() ** 2)
        return title.replace(" ", "-"), title, sections, book.between(0, 1000)
    age_days = number - number // 3
    day = str(NEWEST - dt.timedelta(days=age_days))
    return day, day, book.between(3, 13), age_days


def _write_note(file: Path, text: str, age_days: int) -> None:
    """Write a note and date the file, at noon of its day."""
    file.write_text(text, encoding="utf-8")
    noon = dt.datetime.combine(NEWEST, dt.time(12), tzinfo=dt.UTC)
    at = (noon - dt.timedelta(days=age_days)).timestamp()
    os.utime(file, (at, at))


def _count(result: _Count, name: str, text: str, rng: random.Random) -> None:
    """Count a note's chunks and words, and keep a sample of its chunks."""
    data = text.encode()
    result.size_bytes += len(data)
    result.digest.update(name.encode() + b"\0" + data + b"\0")
    for piece in simple_chunks(text):
        result.chunks += 1
        result.frequency.update(_words(piece.text))
        if rng.random() < 0.1:
            result.sample.append((name, piece.text))


def _queries(
    result: _Count, rng: random.Random, wanted: int
) -> list[dict[str, object]]:
    """Return queries of 1 to 5 words of one chunk, from four bands in turn."""
    common_from = max(20.0, result.chunks * 0.02)
    rare_to = max(3.0, result.chunks * 0.001)
    bands = {
        "mixed": (0.0, float("inf")),
        "common": (common_from, float("inf")),
        "middle": (rare_to, common_from),
        "rare": (0.0, rare_to),
    }
    queries: list[dict[str, object]] = []
    for number in range(wanted):
        count = 1 + number % 5
        band = tuple(bands)[number // 5 % len(bands)]
        words: list[str] = []
        for _ in range(TRIES):
            words = _asked_words(result, pick(rng, result.sample)[1], bands[band])
            if len(words) >= count:
                break
        chosen = _some(rng, words, min(count, len(words)))
        queries.append({"query": " ".join(chosen), "words": len(chosen), "band": band})
    return queries


def _asked_words(result: _Count, text: str, band: tuple[float, float]) -> list[str]:
    """Return the words of a chunk that are in the band, the commonest left out."""
    low, high = band
    return [
        word
        for word in sorted(_words(text))
        if len(word) > 2
        and not word.isdigit()
        and word not in result.stop
        and low <= result.frequency[word] <= high
    ]


def _known(result: _Count, rng: random.Random, wanted: int) -> list[dict[str, object]]:
    """Return half questions, half four of the rarest words of a chunk."""
    known = _some(rng, result.facts, min(wanted // 2, len(result.facts)))
    for _ in range(wanted - len(known)):
        for _ in range(TRIES):
            name, text = pick(rng, result.sample)
            rarest = sorted(
                (word for word in _words(text) if word.isalpha() and len(word) > 3),
                key=lambda word: (result.frequency[word], word),
            )[:9]
            if len(rarest) >= 6:
                break
        query = " ".join(_some(rng, rarest, min(4, len(rarest))))
        known.append({"query": query, "path": name, "kind": "keywords"})
    return known


def _words(text: str) -> set[str]:
    """Return the words of *text*, in small letters, each once."""
    return {word.lower() for word in WORD.findall(text)}


def _some(rng: random.Random, things: Sequence[T], count: int) -> list[T]:
    """Return *count* different ones of *things*."""
    left = list(things)
    return [left.pop(int(rng.random() * len(left))) for _ in range(count)]


def _write(file: Path, rows: list[dict[str, object]]) -> None:
    """Write JSON lines."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    file.write_text(text, encoding="utf-8")


def _read(file: Path) -> list[dict[str, object]]:
    """Read JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Make the corpus and say what it holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = corpus(chunks=options.chunks, seed=options.seed)
    print(made.folder)
    print(json.dumps(made.manifest))


if __name__ == "__main__":
    main()
