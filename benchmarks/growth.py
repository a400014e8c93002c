"""What the memory costs by its size, beside the floors, as a table and as pictures.

    python -m benchmarks.growth [--chunks 10000 100000 1000000] [--vectors-to 100000]
                                [--write-docs]

For each size, in one run: the first index, the size of the index, a search from process
start to exit, and questions in a long-running process, with what that process holds of
its own. The floors are those of ``benchmarks.floors`` over the same notes. With
vectors, a local server makes them (``benchmarks.embedding_server``). All durations are
CPU time, so that a busy machine and the server of the vectors don't count.

A million chunks take about half an hour and 3 GB of disk, most of it to make the notes.
Exits 1 if a figure at the largest size is out of bounds.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA, Corpus, corpus
from benchmarks.embedding_server import running_server
from benchmarks.floors import (
    BEST_TEN,
    any_word,
    cold_query,
    first_index,
    floor_index,
    open_floor,
)
from benchmarks.measure import (
    ROOT,
    machine,
    run,
    shown_ms,
    table,
    timing,
    write_figures,
)
from benchmarks.place import Place, forget_settings, installed_hm, place
from hivemind_memory import Query, open_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHUNKS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
COLD_ROUNDS = 11
WARM_ROUNDS = 2
QUESTION_P50_MS, QUESTION_P95_MS = 15.0, 60.0
OWN_MB = 300.0
COLD_RATIO = 3.0
FIRST_SPREAD = 1.5
"""First index, of the time a chunk takes at the smallest size: linear, or nearly."""

NAME = "benchmarks/growth.py"
HEADS = (
    "chunks",
    "first index (floor)",
    "index ÷ notes",
    "`hm search` (floor)",
    "question p50 / p95 (floor)",
    "RAM",
    "with vectors: p50 / p95, RAM",
)
_ASK = "import sys; from benchmarks.growth import ask; ask(*sys.argv[1:])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Questions in a long-running process, ms of CPU, and the RAM of its own, in MB."""

    p50: float
    p95: float
    floor_p50: float
    own_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What was measured at one size; durations in ms of CPU."""

    chunks: int
    first: float
    first_floor: float
    index_share: float
    cold: float
    cold_floor: float
    words: Asked
    vectors: Asked | None = None

    def cells(self) -> list[str]:
        """Return the row of the table."""
        words, vectors = self.words, self.vectors
        return [
            f"{self.chunks:,}",
            f"{shown_ms(self.first)} ({shown_ms(self.first_floor)})",
            f"{self.index_share:.1f}",
            f"{shown_ms(self.cold)} ({shown_ms(self.cold_floor)})",
            f"{_pair(words)} ({shown_ms(words.floor_p50)})",
            f"{words.own_mb:.0f} MB",
            f"{_pair(vectors)}, {vectors.own_mb:.0f} MB" if vectors else "",
        ]


def _pair(asked: Asked) -> str:
    return f"{shown_ms(asked.p50)} / {shown_ms(asked.p95)}"


def main() -> int:
    """Measure each size, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=CHUNKS)
    parser.add_argument("--vectors-to", type=int, default=100_000, metavar="CHUNKS")
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    forget_settings()
    sizes = []
    for chunks in sorted(options.chunks):
        made = corpus(chunks=chunks)
        sizes.append(measure(made, has_vectors=chunks <= options.vectors_to))
        print(" | ".join(sizes[-1].cells()), flush=True)
    figures = f"{table(HEADS, [size.cells() for size in sizes])}\n\n{machine()}"
    print(f"\n{figures}")
    if options.write_docs:
        write_figures(ROOT / "docs" / "performance.md", NAME, f"{figures}.")
        draw(sizes, ROOT / "docs" / "images")
    missed = list(out_of_bounds(sizes))
    for line in missed:
        print(f"FAILED {line}")
    return 1 if missed else 0


def measure(made: Corpus, *, has_vectors: bool) -> Size:
    """Return the figures of one corpus, by words and, if asked, with vectors."""
    floor_db = floor_index(made)
    with place(made, installed_hm(), {"embedding_provider": "none"}) as here:
        first, first_floor = _first(made, here)
        held = sum(file.stat().st_size for file in here.index_file.parent.iterdir())
        cold, cold_floor = _cold(made, here, floor_db)
        words = _questions(made, here)
    return Size(
        chunks=int(str(made.manifest["chunks"])),
        first=first,
        first_floor=first_floor,
        index_share=held / int(str(made.manifest["bytes"])),
        cold=cold,
        cold_floor=cold_floor,
        words=words,
        vectors=_with_vectors(made) if has_vectors else None,
    )


def _first(made: Corpus, here: Place) -> tuple[float, float]:
    """Return how long ``hm sync`` takes over notes never indexed, and the floor."""
    scratch = DATA / "growth-scratch.db"
    ours = _child_cpu_ms(here.command("sync"), env=here.env())
    began = time.process_time()
    first_index(made.notes, scratch)
    floor = (time.process_time() - began) * 1e3
    for left in DATA.glob("growth-scratch.db*"):
        left.unlink()
    return ours, floor


def _child_cpu_ms(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None
) -> float:
    """Run a program to its end and return how much CPU time it took, in ms."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(argv, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return (user + system) * 1e3


def _cold(made: Corpus, here: Place, floor_db: Path) -> tuple[float, float]:
    """Return how long a search takes from process start to exit, and the floor."""
    ours, theirs = [], []
    for query in made.queries()[::7][: COLD_ROUNDS + 1]:
        theirs.append(_child_cpu_ms(cold_query(floor_db, query)))
        search = here.command("search", "--json", query)
        ours.append(_child_cpu_ms(search, env=here.env()))
    return median(ours[1:]), median(theirs[1:])


def _questions(made: Corpus, here: Place) -> Asked:
    """Ask the query file in a process that does nothing else."""
    argv = [sys.executable, "-c", _ASK, str(here.home), str(made.folder)]
    return Asked(**json.loads(run(argv, env=here.env())))


def ask(home: str, folder: str) -> None:
    """Print what ``Asked`` holds, as JSON: the work of the process for questions."""
    made = Corpus(folder=Path(folder))
    with open_memory(home=home) as memory:
        memory.sync()
        for query in made.queries():
            memory.search(Query(text=query))
        own_mb = _own_mb()
        index = open_floor(floor_index(made))
        ours, theirs = [], []
        for query in made.queries() * WARM_ROUNDS:
            began = time.process_time()
            memory.search(Query(text=query))
            answered = time.process_time()
            index.execute(BEST_TEN, (any_word(query),)).fetchall()
            ours.append(answered - began)
            theirs.append(time.process_time() - answered)
    asked, raw = timing(ours), timing(theirs)
    found = Asked(
        p50=asked.p50_ms, p95=asked.p95_ms, floor_p50=raw.p50_ms, own_mb=own_mb
    )
    print(json.dumps(asdict(found)))


def _own_mb() -> float:
    """Return the memory of this process that is no page of a file, in MB."""
    text = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    anonymous = next(line for line in text.splitlines() if line.startswith("Anonymous"))
    return int(anonymous.split()[1]) * 1024 / 1e6


def _with_vectors(made: Corpus) -> Asked:
    """Ask with vectors of a local server, each question new to nobody.

    Raises:
        RuntimeError: Vectors are missing.
    """
    with running_server() as address:
        settings = {
            "embedding_provider": "ollama",
            "ollama_url": address,
            "ollama_model": "hash-384",
        }
        with place(made, installed_hm(), settings) as here:
            with open_memory(home=str(here.home)) as memory:
                memory.sync()
                memory.embed_pending()
                report = memory.search(Query(text="is this answer hybrid")).report
            if report.mode != "hybrid" or report.pending_vectors:
                message = f"the answer is {report.mode}: {report.reason}"
                raise RuntimeError(message)
            return _questions(made, here)


def out_of_bounds(sizes: Sequence[Size]) -> Iterator[str]:
    """Yield what grows faster than promised, or is too much at the largest size."""
    least, most = sizes[0], sizes[-1]
    if most.first / most.chunks > FIRST_SPREAD * least.first / least.chunks:
        yield "the first index takes longer for a chunk of many than for one of few"
    if most.words.p50 > QUESTION_P50_MS or most.words.p95 > QUESTION_P95_MS:
        yield f"a question takes {_pair(most.words)}"
    if most.words.own_mb > OWN_MB:
        yield f"a process that answers holds {most.words.own_mb:.0f} MB"
    if most.cold > COLD_RATIO * most.cold_floor:
        yield f"a cold search takes {most.cold / most.cold_floor:.1f} x the floor"


def draw(sizes: Sequence[Size], folder: Path) -> None:
    """Write a picture for each figure, ours beside the floor, on logarithmic scales."""
    vectors = [size.vectors for size in sizes]
    lines: dict[str, dict[str, list[float | None]]] = {
        "growth-first-index": {
            "hm sync, seconds of CPU": [size.first / 1e3 for size in sizes],
            "read, cut and insert": [size.first_floor / 1e3 for size in sizes],
        },
        "growth-cold-search": {
            "hm search, ms of CPU": [size.cold for size in sizes],
            "Python, sqlite3, one query": [size.cold_floor for size in sizes],
        },
        "growth-question": {
            "question p95, ms of CPU": [size.words.p95 for size in sizes],
            "question p50": [size.words.p50 for size in sizes],
            "with vectors p50": [asked.p50 if asked else None for asked in vectors],
            "raw FTS5 query p50": [size.words.floor_p50 for size in sizes],
        },
        "growth-ram": {
            "RAM, MB": [size.words.own_mb for size in sizes],
            "with vectors": [asked.own_mb if asked else None for asked in vectors],
        },
    }
    for name, values in lines.items():
        picture = line_chart([f"{size.chunks:,}" for size in sizes], values)
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


def line_chart(
    labels: Sequence[str], lines: Mapping[str, Sequence[float | None]]
) -> str:
    """Return an SVG picture of lines over *labels*, one color for each line."""
    import pygal
    from pygal.style import Style

    style = Style(
        background="white",
        plot_background="white",
        font_family="sans-serif",
        colors=("#0b6e4f", "#1f78b4", "#8e5ea2", "#888888"),
    )
    chart = pygal.Line(
        width=640,
        height=360,
        explicit_size=True,
        logarithmic=True,
        legend_at_bottom=True,
        legend_at_bottom_columns=2,
        js=(),
        style=style,
    )
    chart.x_labels = labels
    for name, values in lines.items():
        chart.add(name, values)
    return str(chart.render(is_unicode=True))


if __name__ == "__main__":
    sys.exit(main())
