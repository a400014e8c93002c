"""What this machine can do at best: the floors that the product is compared with.

    python -m benchmarks.floors [--rounds 15] [--json FILE] [--write-docs]

Bare programs over the same corpus: they read no settings, look at no folder, rank by
nothing but bm25. Nothing that answers the same question can be faster.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sqlite3
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA, Corpus, corpus
from benchmarks.measure import (
    ROOT,
    in_turns,
    machine,
    run,
    table,
    timing,
    write_figures,
)
from benchmarks.simple_chunker import simple_chunks

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from benchmarks.measure import Timing

DIMENSIONS = 384
TABLES = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    mtime INTEGER NOT NULL,
    hash TEXT NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_file ON chunks (file_id);
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text, content = 'chunks', content_rowid = 'id'
);
"""
BEST_TEN = (
    "SELECT files.path, chunks.start_line, chunks.end_line, chunks.text, best.score "
    "FROM (SELECT rowid, rank AS score FROM chunks_fts "
    "WHERE chunks_fts MATCH ? ORDER BY rank LIMIT 10) AS best "
    "JOIN chunks ON chunks.id = best.rowid JOIN files ON files.id = chunks.file_id "
    "ORDER BY best.score"
)
COLD = f"""
import sqlite3, sys
words = " OR ".join('"%s"' % word for word in sys.argv[2].replace('"', "").split())
index = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
for path, first, last, text, score in index.execute({BEST_TEN!r}, (words,)):
    print(path, first, last, -score, text[:200])
"""


def any_word(query: str) -> str:
    """Return the FTS5 expression that finds any of the words.

    >>> any_word("two words")
    '"two" OR "words"'
    """
    return " OR ".join(f'"{word}"' for word in re.findall(r"[A-Za-z0-9]+", query))


def first_index(notes: Path, file: Path) -> None:
    """Read, chunk and insert all notes in one transaction: the floor of a rebuild."""
    file.unlink(missing_ok=True)
    files, chunks = [], []
    for file_id, name in enumerate(sorted(os.listdir(notes)), start=1):
        if not name.endswith(".md"):
            continue
        data = (notes / name).read_bytes()
        mtime = (notes / name).stat().st_mtime_ns
        files.append((file_id, name, mtime, hashlib.sha256(data).hexdigest()))
        chunks += [(file_id, *piece) for piece in simple_chunks(data.decode())]
    index = sqlite3.connect(file, isolation_level=None)
    index.execute("PRAGMA journal_mode = WAL")
    index.execute("PRAGMA synchronous = NORMAL")
    index.executescript(TABLES)
    index.execute("BEGIN")
    index.executemany("INSERT INTO files VALUES (?, ?, ?, ?)", files)
    index.executemany("INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?)", chunks)
    index.execute(
        "INSERT INTO chunks_fts (rowid, text) SELECT id, text FROM chunks ORDER BY id"
    )
    index.execute("COMMIT")
    index.execute("PRAGMA wal_checkpoint (TRUNCATE)")
    index.close()


def floor_index(made: Corpus) -> Path:
    """Return the bare index of a corpus, made if it is not there yet."""
    file = made.folder / "floor.db"
    if not file.exists():
        first_index(made.notes, file)
    return file


def bare_start() -> list[str]:
    """Return the command that starts Python and does nothing."""
    return [sys.executable, "-I", "-S", "-c", "pass"]


def cold_query(file: Path, query: str) -> list[str]:
    """Return the command that starts Python and asks the bare index one question."""
    return [sys.executable, "-I", "-S", "-c", COLD, str(file), query]


def open_floor(file: Path) -> apsw.Connection:
    """Return a connection to the bare index as fast as SQLite makes it."""
    import apsw

    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    connection.execute("PRAGMA mmap_size = 1000000000")
    connection.execute("PRAGMA cache_size = -200000")
    return connection


def stat_pass(notes: Path) -> int:
    """Look at every note once, as a scan for changes must; return how many."""
    with os.scandir(notes) as entries:
        return sum(entry.stat().st_mtime_ns > 0 for entry in entries)


def one_product(rows: int) -> Callable[[], object] | None:
    """Return a product of *rows* vectors with one, or None without numpy."""
    try:
        import numpy as np
    except ImportError:
        return None
    vectors = np.random.default_rng(7).standard_normal((rows, DIMENSIONS))
    vectors = vectors.astype(np.float32)
    question = vectors[0].copy()
    return lambda: vectors @ question


def raw_queries(made: Corpus, *, rounds: int) -> Timing:
    """Time the query file of the corpus against the bare index, in this process."""
    index = open_floor(floor_index(made))
    seconds = []
    for count in range(rounds + 1):
        for query in made.queries():
            started = time.perf_counter()
            index.execute(BEST_TEN, (any_word(query),)).fetchall()
            if count:
                seconds.append(time.perf_counter() - started)
    index.close()
    return timing(seconds)


def measure_floors(made: Corpus, *, rounds: int) -> dict[str, Timing]:
    """Return every floor by its name."""
    file = floor_index(made)
    scratch = DATA / "floor-scratch.db"
    query = made.queries()[2]
    floors = in_turns(
        rounds,
        {
            "bare Python start": lambda: run(bare_start()),
            "Python, sqlite3, one FTS5 query": lambda: run(cold_query(file, query)),
            "stat of every note": lambda: stat_pass(made.notes),
        },
    )
    floors |= in_turns(
        max(1, rounds // 5),
        {"read, chunk and insert all notes": lambda: first_index(made.notes, scratch)},
    )
    for left in DATA.glob("floor-scratch.db*"):
        left.unlink()
    floors["raw FTS5 query through apsw"] = raw_queries(made, rounds=3)
    if product := one_product(int(str(made.manifest["chunks"]))):
        name = f"one numpy product, {DIMENSIONS} dimensions"
        floors |= in_turns(100, {name: product})
    return floors


def main() -> None:
    """Measure and print the floors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    made = corpus(chunks=options.chunks)
    floors = measure_floors(made, rounds=options.rounds)
    rows = [
        [
            name,
            f"{floor.p50_ms:.2f}",
            f"{floor.p95_ms:.2f}",
            f"{floor.least_ms:.2f}",
            str(floor.tries),
        ]
        for name, floor in floors.items()
    ]
    figures = table(["floor", "p50 ms", "p95 ms", "least ms", "tries"], rows)
    print(f"{figures}\n\n{machine()}")
    if options.write_docs:
        page = ROOT / "docs" / "performance.md"
        write_figures(page, "benchmarks/floors.py", f"{figures}\n\n{machine()}.")
    if options.json:
        found = {name: floor.p50_ms for name, floor in floors.items()}
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
