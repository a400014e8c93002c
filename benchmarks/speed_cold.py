"""How long the commands take, from process start to exit, and what they hold."""

from __future__ import annotations

import itertools
import json
import shutil
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA
from benchmarks.floors import bare_start, cold_query, first_index, floor_index
from benchmarks.measure import in_turns, peak_mib, run, shown_ms
from benchmarks.place import Place, Row

if TYPE_CHECKING:
    from benchmarks.corpus import Corpus

COLD_RATIO = 5.0
SYNC_RATIO = 6.0
INDEX_RATIO = 10.0
EDIT_EXTRA_MS = 80.0
SEARCH_MIB = 60.0


def cold_search(made: Corpus, here: Place, *, rounds: int) -> list[Row]:
    """Measure ``hm search --json`` from process start to exit."""
    floor_db = floor_index(made)
    run(here.command("sync"), env=here.env())
    every = made.queries()[::7]
    ours, theirs = itertools.cycle(every), itertools.cycle(every)
    times = in_turns(
        rounds,
        {
            "floor": lambda: run(cold_query(floor_db, next(theirs))),
            "hm": lambda: run(
                here.command("search", "--json", next(ours)), env=here.env()
            ),
        },
    )
    ratio = times["hm"].p50_ms / times["floor"].p50_ms
    return [
        Row(
            what="`hm search --json`, process start to exit",
            measured=str(times["hm"]),
            floor=f"{times['floor']}: Python, sqlite3, one FTS5 query",
            ratio=f"{ratio:.1f} ×",
            goal=f"{COLD_RATIO:g} × the floor",
            is_reached=ratio <= COLD_RATIO,
        )
    ]


def unchanged_sync(here: Place, *, rounds: int) -> list[Row]:
    """Measure ``hm sync`` when there is nothing to do."""
    run(here.command("sync"), env=here.env())
    times = in_turns(
        rounds,
        {
            "floor": lambda: run(bare_start()),
            "hm": lambda: run(here.command("sync"), env=here.env()),
        },
    )
    ratio = times["hm"].p50_ms / times["floor"].p50_ms
    return [
        Row(
            what="`hm sync`, nothing changed",
            measured=str(times["hm"]),
            floor=f"{times['floor']}: bare Python start",
            ratio=f"{ratio:.1f} ×",
            goal=f"{SYNC_RATIO:g} × the floor",
            is_reached=ratio <= SYNC_RATIO,
        )
    ]


def edited_search(here: Place, *, rounds: int) -> list[Row]:
    """Measure the search that follows an edit, beside one that follows none.

    Raises:
        RuntimeError: An answer misses the edit made just before.
    """
    run(here.command("sync"), env=here.env())
    files = itertools.cycle(sorted(here.notes.glob("*.md"))[::13])
    count = itertools.count()
    words = [f"editword{next(count)}x"]

    def search(word: str) -> str:
        return run(here.command("search", "--json", word), env=here.env())

    def edit_and_search() -> None:
        word = f"editword{next(count)}x"
        with next(files).open("a", encoding="utf-8") as note:
            note.write(f"\nThe word of this edit is {word}.\n")
        if not any(word in hit["snippet"] for hit in json.loads(search(word))["hits"]):
            message = f"the edit with {word} was not found"
            raise RuntimeError(message)
        words.append(word)

    times = in_turns(
        rounds, {"edited": edit_and_search, "as it was": lambda: search(words[-1])}
    )
    extra_ms = times["edited"].p50_ms - times["as it was"].p50_ms
    return [
        Row(
            what="one file edited, then `hm search --json`",
            measured=str(times["edited"]),
            floor=f"{times['as it was']}: the same without an edit",
            ratio=f"+ {shown_ms(extra_ms)}",
            goal=f"+ {EDIT_EXTRA_MS:g} ms",
            is_reached=extra_ms <= EDIT_EXTRA_MS,
        )
    ]


def first_sync(made: Corpus, here: Place, *, rounds: int) -> list[Row]:
    """Measure ``hm sync`` over a folder that was never indexed."""
    scratch = DATA / "first-index.db"
    times = in_turns(
        rounds,
        {
            "floor": lambda: first_index(made.notes, scratch),
            "forget": here.forget_index,
            "hm": lambda: run(here.command("sync"), env=here.env()),
        },
    )
    for left in DATA.glob("first-index.db*"):
        left.unlink()
    ratio = times["hm"].p50_ms / times["floor"].p50_ms
    size = sum(file.stat().st_size for file in here.index_file.parent.iterdir())
    notes = sum(file.stat().st_size for file in here.notes.glob("*.md"))
    return [
        Row(
            what=f"first index, without vectors ({size / notes:.1f} × the notes' size)",
            measured=str(times["hm"]),
            floor=f"{times['floor']}: read, cut and insert, one transaction",
            ratio=f"{ratio:.1f} ×",
            goal=f"{INDEX_RATIO:g} × the floor",
            is_reached=ratio <= INDEX_RATIO,
        )
    ]


def search_memory(made: Corpus, here: Place) -> list[Row]:
    """Measure the peak of a search's memory."""
    run(here.command("sync"), env=here.env())
    floor_db = floor_index(made)
    queries = made.queries()[::40]
    floor = max(peak_mib(cold_query(floor_db, query)) for query in queries)
    peak = max(
        peak_mib(_absolute(here.command("search", "--json", query)), env=here.env())
        for query in queries
    )
    return [
        Row(
            what="peak RAM of `hm search --json`",
            measured=f"{peak:.0f} MiB",
            floor=f"{floor:.0f} MiB: Python, sqlite3, one FTS5 query",
            ratio=f"{peak / floor:.1f} ×",
            goal=f"{SEARCH_MIB:g} MiB",
            is_reached=peak <= SEARCH_MIB,
        )
    ]


def _absolute(command: list[str]) -> list[str]:
    """Return the command with its program's full path."""
    return [shutil.which(command[0]) or command[0], *command[1:]]
