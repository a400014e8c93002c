"""Ask a memory the questions of judged sets, and keep what it answered.

The notes of a set stay as they are: each collection is copied and, where the set has a
``mtimes.tsv`` (folder, path, date), dated, the newest note to yesterday.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import shutil
import tempfile
import time
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hivemind_memory import Query, open_memory
from hivemind_memory.memory.leading import LeadingMemory
from hivemind_memory.model.memory_types import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.scoring import Question
    from hivemind_memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How the questions are asked."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """Keys of config.json under ``memory``."""

    min_score: float | None = None
    max_results: int = 10
    keep: Path | None = None
    """Folder that keeps copies, indexes and vectors for the next run."""

    typed: str = ""
    """Give every note a type: a name, or ``any``: one of all by its path. Shows what
    typing costs the questions that do not use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The answers to some questions."""

    results: Mapping[str, Sequence[Mapping[str, object]]]
    """Question id -> results, best first."""

    seconds: Sequence[float] = ()
    modes: Mapping[str, int] = field(default_factory=dict)
    """hybrid or keyword, with the reason -> questions."""


def open_folder(
    path: str, settings: Mapping[str, object] | None = None
) -> Callable[[str, int], list[dict[str, object]]]:
    """Return a search over a folder of notes; its index lies in a temporary folder.

    Returns:
        ``search(query, k)``: at most *k* ``{path, start_line, end_line, score}``.
    """
    home = Path(tempfile.mkdtemp(prefix="hm-quality-"))
    memory = _open(Path(path), home, settings or {})
    memory.sync()

    def search(query: str, k: int) -> list[dict[str, object]]:
        return _search(memory, Query(text=query, max_results=k), {})[0]

    return search


def ask(questions: Sequence[Question], asked: Asked) -> Run:
    """Index every collection and ask its questions."""
    by_notes: defaultdict[Path, list[Question]] = defaultdict(list)
    for question in questions:
        by_notes[question.notes].append(question)
    results, seconds = {}, []
    modes: defaultdict[str, int] = defaultdict(int)
    for notes, asked_here in by_notes.items():
        with opened(notes, asked) as (memory, shifts):
            for question in asked_here:
                query = Query(
                    text=question.text,
                    max_results=asked.max_results,
                    min_score=asked.min_score,
                )
                started = time.perf_counter()
                results[question.id], mode = _search(memory, query, shifts)
                seconds.append(time.perf_counter() - started)
                modes[mode] += 1
    return Run(results=results, seconds=seconds, modes=modes)


def read_run(file: Path) -> Run:
    """Read answers that were kept."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return Run(results={row["query_id"]: row["results"] for row in rows})


def write_run(file: Path, run: Run) -> None:
    """Keep answers, a question a line."""
    with file.open("w", encoding="utf-8") as out:
        for query_id, results in run.results.items():
            row = {"query_id": query_id, "results": results}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def opened(notes: Path, asked: Asked) -> Iterator[tuple[Memory, dict[str, int]]]:
    """Copy a collection, index it, and wait for its vectors.

    Yields:
        The memory, and note -> lines that stand above it for being typed.
    """
    with contextlib.ExitStack() as left:
        if asked.keep:
            home = asked.keep / notes.parent.parent.name / notes.name
            home.mkdir(parents=True, exist_ok=True)
        else:
            home = Path(left.enter_context(tempfile.TemporaryDirectory()))
        copy = home / "notes"
        if not copy.exists():
            shutil.copytree(notes, copy, ignore=shutil.ignore_patterns(".*"))
        shifts = _type_all(copy, asked.typed) if asked.typed else {}
        _date(notes, copy)
        memory = left.enter_context(_open(copy, home, asked.settings))
        memory.sync()
        # As a leader: a local reranker is loaded for the searches.
        leading = LeadingMemory(memory)
        if problem := leading.embed_pending(should_stop=lambda: False).problem:
            raise RuntimeError(problem)
        yield memory, shifts


def _open(notes: Path, home: Path, settings: Mapping[str, object]) -> Memory:
    """Open a memory whose index lies in *home*, not beside the notes."""
    flags = {
        "embedding_provider": "none",
        "index_dir": str(home / "index"),
        **settings,
    }
    return open_memory(memory_dir=str(notes), home=str(home), flags=flags)


def _date(notes: Path, copy: Path) -> None:
    """Give the copies the dates of ``mtimes.tsv``, the newest of them yesterday's."""
    file = notes.parent.parent / "mtimes.tsv"
    if not file.exists():
        return
    rows = [row.split("\t") for row in file.read_text(encoding="utf-8").splitlines()]
    days = {
        path: dt.date.fromisoformat(day)
        for folder, path, day in rows
        if folder == notes.name
    }
    now = time.time()
    for path, day in days.items():
        at = now - 86400 * (1 + (max(days.values()) - day).days)
        os.utime(copy / path, (at, at))


def _type_all(copy: Path, typed: str) -> dict[str, int]:
    """Give every note a front matter with a type; return note -> its lines.

    A note that has a front matter of its own stays as it is.
    """
    names = sorted(BUILT_IN)
    shifts = {}
    for file in sorted(copy.rglob("*.md")):
        path = file.relative_to(copy).as_posix()
        text = file.read_bytes()
        if text.startswith(b"---"):
            continue
        number = zlib.crc32(path.encode())
        name = names[number % len(names)] if typed == "any" else typed
        times = file.stat()
        file.write_bytes(f"---\ntype: {name}\n---\n".encode() + text)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        shifts[path] = 3
    return shifts


def _search(
    memory: Memory, query: Query, shifts: Mapping[str, int]
) -> tuple[list[dict[str, object]], str]:
    """Return the hits as a run file has them, and the mode of the answer."""
    answer = memory.search(query)
    hits: list[dict[str, object]] = [
        {
            "path": hit.path,
            "start_line": hit.start_line - shifts.get(hit.path, 0),
            "end_line": hit.end_line - shifts.get(hit.path, 0),
            "score": round(hit.score, 6),
        }
        for hit in answer.hits
    ]
    mode = answer.report.mode
    return hits, mode if mode == "hybrid" else f"{mode}: {answer.report.reason}"
