"""How long a search takes in a long-running process, by words and with vectors."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.embedding_server import DIMENSIONS, running_server, texts_sent
from benchmarks.floors import (
    BEST_TEN,
    any_word,
    floor_index,
    one_product,
    open_floor,
    stat_pass,
)
from benchmarks.measure import shown_ms, timing
from benchmarks.place import Place, Row, place
from hivemind_memory import Query, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from benchmarks.corpus import Corpus
    from benchmarks.measure import Timing
    from hivemind_memory import Memory

WARM_P50_MS, WARM_P95_MS, WARM_RATIO = 3.0, 10.0, 4.0
HYBRID_P50_MS = 5.0


def warm_search(made: Corpus, here: Place, *, rounds: int) -> list[Row]:
    """Measure the query file in one process, beside the raw query, by words alone."""
    memory = open_memory(home=str(here.home), flags={"embedding_provider": "none"})
    memory.sync()
    index = open_floor(floor_index(made))
    times = _asked_in_turns(
        made.queries(),
        rounds,
        {
            "raw": lambda query: index.execute(BEST_TEN, (any_word(query),)).fetchall(),
            "stat": lambda _: stat_pass(here.notes),
            "hm": lambda query: memory.search(Query(text=query)),
        },
    )
    known = _known_row(made, memory, index)
    memory.close()
    raw, found, look = times["raw"], times["hm"], times["stat"]
    ratio = found.p50_ms / raw.p50_ms
    floor = f"{_pair(raw)}: raw FTS5 query through apsw"
    return [
        Row(
            what="search in one process, p50 / p95",
            measured=f"{_pair(found)} (check of every note: {shown_ms(look.p50_ms)})",
            floor=floor,
            ratio=f"{ratio:.1f} × / {found.p95_ms / raw.p95_ms:.1f} ×",
            goal=f"{WARM_P50_MS:g} / {WARM_P95_MS:g} ms and {WARM_RATIO:g} × the floor",
            is_reached=found.p50_ms <= WARM_P50_MS
            and found.p95_ms <= WARM_P95_MS
            and ratio <= WARM_RATIO,
        ),
        known,
    ]


def _known_row(made: Corpus, memory: Memory, index: apsw.Connection) -> Row:
    """Ask what has one answer: a fast search that misses it is no faster search."""
    items = made.known()
    ours = theirs = 0
    for item in items:
        text, path = str(item["query"]), item["path"]
        hits = memory.search(Query(text=text)).hits
        ours += any(hit.path == path for hit in hits)
        rows = index.execute(BEST_TEN, (any_word(text),)).fetchall()
        theirs += any(row[0] == path for row in rows)
    return Row(
        what=f"{len(items)} known items found among the first ten",
        measured=f"{ours / len(items):.1%}",
        floor=f"{theirs / len(items):.1%}: raw FTS5 query",
        ratio="",
        goal="no fewer",
        is_reached=ours >= theirs,
    )


def hybrid_search(made: Corpus, hm: Sequence[str], *, rounds: int) -> list[Row]:
    """Measure searches with vectors, and what a rebuild sends to the provider.

    Raises:
        RuntimeError: An answer was not hybrid.
    """
    with running_server() as address:
        settings = {
            "embedding_provider": "ollama",
            "ollama_url": address,
            "ollama_model": "hash-384",
        }
        with place(made, hm, settings) as here:
            memory = open_memory(home=str(here.home))
            memory.sync()
            memory.embed_pending()
            rows = _hybrid_rows(made, memory, rounds)
            rows += _rebuild_row(memory, address)
            memory.close()
    return rows


def _hybrid_rows(made: Corpus, memory: Memory, rounds: int) -> list[Row]:
    """Ask the query file once with every question new, then again and again."""
    _check_is_hybrid(memory)
    index = open_floor(floor_index(made))
    product = one_product(int(str(made.manifest["chunks"])))

    def floor(query: str) -> None:
        index.execute(BEST_TEN, (any_word(query),)).fetchall()
        if product:
            product()

    asked: dict[str, Callable[[str], object]] = {
        "floor": floor,
        "hm": lambda query: memory.search(Query(text=query)),
    }
    queries = made.queries()
    memory.search(Query(text="vectors are decoded once"))
    new = _asked_in_turns(queries, 1, asked, does_warm_up=False)
    again = _asked_in_turns(queries, rounds, asked)
    rows = []
    for name, times in (("new to the server", new), ("asked before", again)):
        found, bare = times["hm"], times["floor"]
        rows.append(
            Row(
                what=f"hybrid search, {DIMENSIONS} dimensions, question {name}, p50",
                measured=f"{shown_ms(found.p50_ms)} (p95 {shown_ms(found.p95_ms)})",
                floor=f"{shown_ms(bare.p50_ms)}: raw query and one numpy product",
                ratio=f"{found.p50_ms / bare.p50_ms:.1f} ×",
                goal=f"{HYBRID_P50_MS:g} ms",
                is_reached=found.p50_ms <= HYBRID_P50_MS,
            )
        )
    _check_is_hybrid(memory)
    return rows


def _rebuild_row(memory: Memory, address: str) -> list[Row]:
    """Rebuild the index and count what the server is sent."""
    before = texts_sent(address)
    memory.rebuild()
    memory.embed_pending()
    sent = texts_sent(address) - before
    _check_is_hybrid(memory)
    return [
        Row(
            what="texts sent for a rebuild, cache full",
            measured=f"{sent} (the first index sent {before})",
            floor="0",
            ratio="",
            goal="0",
            is_reached=sent == 0,
        )
    ]


def _check_is_hybrid(memory: Memory) -> None:
    """Refuse to time an answer that says it is weaker than asked for."""
    report = memory.search(Query(text="is this answer hybrid")).report
    if report.mode != "hybrid" or report.pending_vectors:
        message = f"the answer is {report.mode}: {report.reason}; {report}"
        raise RuntimeError(message)


def _asked_in_turns(
    queries: Sequence[str],
    rounds: int,
    things: dict[str, Callable[[str], object]],
    *,
    does_warm_up: bool = True,
) -> dict[str, Timing]:
    """Ask each of *things* each query in turn, *rounds* times over."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    for count in range(rounds + does_warm_up):
        for query in queries:
            for name, thing in things.items():
                started = time.perf_counter()
                thing(query)
                took = time.perf_counter() - started
                if count >= does_warm_up:
                    seconds[name].append(took)
    return {name: timing(values) for name, values in seconds.items()}


def _pair(times: Timing) -> str:
    """Return median and 95th percentile."""
    return f"{shown_ms(times.p50_ms)} / {shown_ms(times.p95_ms)}"
