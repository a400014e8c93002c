"""A home for each test, memories over it, and what their index holds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from hivemind_memory.config.resolve import load_settings
from hivemind_memory.files.places import Places, places_of
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.clocks import Clocks
from hivemind_memory.model.query import Query, SearchAnswer
from hivemind_memory.opening import open_worktrees
from hivemind_memory.providers.provider import Provider

Rows = list[tuple[Any, ...]]

TABLES = {
    "files": """
        SELECT path, hash, day, chunk_count, state, scope, status, ages, importance,
          type, key, memory_id, visibility, source, session, created, expires_day,
          done_day, is_pinned, source_ref, claim, tags, is_utf8
        FROM files ORDER BY path
    """,
    "signatures": "SELECT path, mtime, ctime, size, inode FROM files ORDER BY path",
    "chunks": """
        SELECT path, start_line, end_line, chunks.day, entry_id, headings,
          text, body, extra, breadcrumbs, subchunks, reason, chunks.source,
          chunks.source_ref, chunks.tags
        FROM chunks JOIN files ON files.id = file_id
        ORDER BY path, start_line, end_line, text, body
    """,
    "edges": """
        SELECT path, kind, target, weight
        FROM edges JOIN files ON files.id = file_id
        ORDER BY path, kind, target
    """,
    "vocabulary": "SELECT term, doc, cnt FROM vocabulary ORDER BY term",
}


def utc_clocks(now: Callable[[], float], stopwatch: Callable[[], float]) -> Clocks:
    """Return clocks in UTC."""
    return Clocks(
        now=now,
        stopwatch=stopwatch,
        local_iso=lambda s: time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(s)),
        local_offset_s=lambda _: 0,
        randomness=lambda: os.urandom(10),
    )


@dataclass
class Sandbox:
    """A home folder, its notes, and a clock that can be set wrong."""

    home: Path
    ahead_s: float = 0.0
    """How far the memory's clock is ahead of the time of the files."""

    stopwatch: Callable[[], float] = time.perf_counter
    """Seconds on a clock that never goes back."""

    flags: dict[str, object] = field(default_factory=dict)
    provider: Any = None
    """In the place of the one that the settings choose."""

    def __post_init__(self) -> None:
        self.notes = self.home / "memory"
        self.notes.mkdir(parents=True, exist_ok=True, mode=0o700)

    @property
    def places(self) -> Places:
        return places_of(str(self.home), None, "")

    @property
    def index_file(self) -> Path:
        return Path(self.places.index_file)

    def now(self) -> float:
        return time.time() + self.ahead_s

    def memory(self, places: Places | None = None, **flags: object) -> Memory:
        """Return a memory over this home, as another process would open it."""
        options = {"embedding_provider": "none", **self.flags, **flags}
        settings = load_settings(str(self.home), {}, options)
        clocks = utc_clocks(self.now, self.stopwatch)
        provider = self.provider or Provider(
            settings, stopwatch=self.stopwatch, sleep=time.sleep
        )
        parts = (places or self.places, settings, provider, clocks)
        return Memory(*parts, open_worktrees=open_worktrees)

    @contextmanager
    def fresh(self, **flags: object) -> Iterator[Memory]:
        """Yield a memory of the same notes whose index is made from nothing."""
        here = self.places
        number = sum(1 for _ in self.home.glob("fresh-*"))
        beside = self.home / f"fresh-{number}"
        places = Places(
            home=here.home,
            notes=here.notes,
            index=str(beside),
            journal=str(beside / "journal"),
        )
        with self.memory(places, **flags) as memory:
            memory.sync()
            yield memory

    # -- what people and programs do to notes --------------------------------

    def save(self, path: str, text: str | bytes) -> Path:
        """Write a note in place."""
        file = self.notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def save_over(self, path: str, text: str | bytes) -> Path:
        """Write beside a note and rename, as most editors do."""
        beside = self.save(f"{path}.saving", text)
        return beside.replace(self.notes / path)

    def age(self, path: str, seconds: float) -> None:
        """Give a note an earlier time of its last edit."""
        file = self.notes / path
        then = file.stat().st_mtime - seconds
        os.utime(file, (then, then))


def ask(memory: Memory, text: str, **options: Any) -> SearchAnswer:
    """Return the answer to a question, weak hits included."""
    return memory.search(Query(text=text, **{"min_score": 0.0, **options}))


def paths(answer: SearchAnswer) -> list[str]:
    """Return the notes of the hits, best first."""
    return [hit.path for hit in answer.hits]


def hits(answer: SearchAnswer) -> Rows:
    """Return what a caller sees of the hits, without chunk numbers and rounding."""
    return [
        (hit.path, hit.start_line, hit.end_line, round(hit.score, 9), hit.snippet)
        for hit in answer.hits
    ]


def rows(index_file: str | Path) -> Mapping[str, Rows]:
    """Return everything an index holds of the notes, without its row numbers."""
    connection = apsw.Connection(str(index_file), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return {name: list(connection.execute(sql)) for name, sql in TABLES.items()}
    finally:
        connection.close()


def problems(index_file: str | Path) -> list[str]:
    """Return what is wrong inside an index; the postings are checked against it."""
    index = SqliteIndex(str(index_file), now=time.time)
    try:
        return [f"{name}: {said}" for name, said in index.check() if said]
    finally:
        index.close()


def difference_from_fresh(
    sandbox: Sandbox, memory: Memory, questions: tuple[str, ...] = (), **flags: object
) -> list[str]:
    """Return how the index of *memory* differs from one made from nothing."""
    found = problems(memory.places.index_file)
    with sandbox.fresh(**flags) as fresh:
        mine, theirs = rows(memory.places.index_file), rows(fresh.places.index_file)
        for name in TABLES:
            only_mine = [row for row in mine[name] if row not in theirs[name]]
            only_theirs = [row for row in theirs[name] if row not in mine[name]]
            if mine[name] != theirs[name]:
                found.append(f"{name}: has {only_mine}, lacks {only_theirs}")
        for question in questions:
            # All of them: among equals a retriever may take any up to its limit.
            answers = [
                hits(ask(one, question, max_results=1000)) for one in (memory, fresh)
            ]
            if answers[0] != answers[1]:
                found.append(f"{question!r}: {answers[0]} and not {answers[1]}")
    return found
