"""How soon ``hm watch`` shows an edit, and what it holds while nothing happens.

The index is read by SQLite from outside: a search would look at the folder itself and
so see the edit without any watcher.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import time
from typing import TYPE_CHECKING

from benchmarks.measure import resident_mib, run, shown_ms, timing
from benchmarks.place import Place, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

DEBOUNCE_MS = 500.0
EXTRA_MS = 100.0
WATCH_MIB = 90.0
TIMEOUT_S = 30.0


def watch_rows(here: Place, *, edits: int) -> list[Row]:
    """Start ``hm watch``, edit notes at odd moments, and wait for each to be there."""
    run(here.command("sync"), env=here.env())
    index = _read_only(here)
    rng = random.Random(5)
    files = sorted(here.notes.glob("*.md"))
    with _watching(here) as pid:
        _edit_until_seen(here, index)
        time.sleep(3)
        rest_mib = resident_mib(pid)
        seconds = []
        for number in range(edits):
            time.sleep(rng.uniform(0.05, 1.5))
            word = f"watchword{number}x"
            since = _newest(index)
            with rng.choice(files).open("a", encoding="utf-8") as note:
                note.write(f"\nThe word of this edit is {word}.\n")
            started = time.perf_counter()
            if not _seen(index, word, since, timeout_s=TIMEOUT_S):
                message = f"{word} was not there after {TIMEOUT_S} s"
                raise RuntimeError(message)
            seconds.append(time.perf_counter() - started)
        after_mib = resident_mib(pid)
    index.close()
    times = timing(seconds)
    return [
        Row(
            what="edit to visible with `hm watch`, p50 / p95",
            measured=f"{shown_ms(times.p50_ms)} / {shown_ms(times.p95_ms)}",
            floor=f"{DEBOUNCE_MS:g} ms: the debounce",
            ratio=f"p95 + {shown_ms(times.p95_ms - DEBOUNCE_MS)}",
            goal=f"debounce + {EXTRA_MS:g} ms, p95",
            is_reached=times.p95_ms <= DEBOUNCE_MS + EXTRA_MS,
        ),
        Row(
            what=f"RAM of `hm watch` at rest; after {edits} edits",
            measured=f"{rest_mib:.0f} MiB; {after_mib:.0f} MiB",
            floor="",
            ratio="",
            goal=f"{WATCH_MIB:g} MiB",
            is_reached=rest_mib <= WATCH_MIB,
        ),
    ]


@contextlib.contextmanager
def _watching(here: Place) -> Iterator[int]:
    """Run ``hm watch``; yield its process id."""
    with subprocess.Popen(
        here.command("watch"),
        env=here.env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as watcher:
        try:
            yield watcher.pid
        finally:
            watcher.terminate()


def _edit_until_seen(here: Place, index: apsw.Connection) -> None:
    """Edit once a second until the watcher is awake and shows it."""
    file = here.notes / "global.md"
    for number in range(int(TIMEOUT_S)):
        word, since = f"wakeword{number}x", _newest(index)
        with file.open("a", encoding="utf-8") as note:
            note.write(f"\nIs anybody there? {word}\n")
        if _seen(index, word, since, timeout_s=1):
            return
    message = "hm watch shows no edit"
    raise RuntimeError(message)


def _read_only(here: Place) -> apsw.Connection:
    """Return a connection that only looks."""
    import apsw

    return apsw.Connection(str(here.index_file), flags=apsw.SQLITE_OPEN_READONLY)


def _newest(index: apsw.Connection) -> int:
    """Return the largest chunk id so far."""
    ((newest,),) = index.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchall()
    return int(str(newest))


def _seen(index: apsw.Connection, word: str, since: int, *, timeout_s: float) -> bool:
    """Wait until a newer chunk holds the word; return whether one does."""
    until = time.perf_counter() + timeout_s
    sql = "SELECT 1 FROM chunks WHERE id > ? AND text LIKE ? LIMIT 1"
    while time.perf_counter() < until:
        if index.execute(sql, (since, f"%{word}%")).fetchall():
            return True
        time.sleep(0.003)
    return False
