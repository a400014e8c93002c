"""Measure what the memory promises about speed and size, beside its floors, in one run.

    python -m benchmarks.speed [--rounds 25] [--only cold warm ...] [--write-docs]

Takes some three minutes on a quiet machine. Every figure is a median unless it says
otherwise; "least" is the best of all tries, what is left when nobody else is busy.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import speed_cold, speed_warm, speed_watch
from benchmarks.corpus import Corpus, corpus
from benchmarks.measure import ROOT, machine, table, write_figures
from benchmarks.place import Row, forget_settings, installed_hm, place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PARTS = ("cold", "warm", "hybrid", "first", "sync", "edit", "watch", "memory")
HEADS = ("what", "measured", "floor, same run", "ratio", "to reach", "reached")
NAME = "benchmarks/speed.py"


def measure(
    made: Corpus, hm: Sequence[str], *, rounds: int, only: Sequence[str]
) -> list[Row]:
    """Return the rows of the named parts, in the order of ``PARTS``."""
    rows: list[Row] = []
    with place(made, hm) as here:
        parts: dict[str, Callable[[], list[Row]]] = {
            "cold": lambda: speed_cold.cold_search(made, here, rounds=rounds),
            "warm": lambda: speed_warm.warm_search(made, here, rounds=3),
            "hybrid": lambda: speed_warm.hybrid_search(made, hm, rounds=3),
            "first": lambda: speed_cold.first_sync(
                made, here, rounds=max(3, rounds // 5)
            ),
            "sync": lambda: speed_cold.unchanged_sync(here, rounds=rounds),
            "edit": lambda: speed_cold.edited_search(here, rounds=rounds),
            "watch": lambda: speed_watch.watch_rows(here, edits=2 * rounds),
            "memory": lambda: speed_cold.search_memory(made, here),
        }
        for name in PARTS:
            if name in only:
                made_rows = parts[name]()
                rows += made_rows
                for row in made_rows:
                    print(" | ".join(row.cells()), flush=True)
    return rows


def main() -> None:
    """Measure, print the table, and put it into the documents if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--hm", help="the command to measure; else the one installed")
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    forget_settings()
    made = corpus(chunks=options.chunks)
    hm = shlex.split(options.hm) if options.hm else installed_hm()
    rows = measure(made, hm, rounds=options.rounds, only=options.only)
    figures = table(HEADS, [row.cells() for row in rows])
    size = made.manifest
    about = (
        f"{size['chunks']} chunks in {size['files']} notes, "
        f"{int(str(size['bytes'])) / 1e6:.1f} MB; {machine()}."
    )
    print(f"\n{figures}\n\n{about}")
    if options.write_docs:
        page = Path(ROOT, "docs", "performance.md")
        write_figures(page, NAME, f"{figures}\n\n{about}")


if __name__ == "__main__":
    main()
