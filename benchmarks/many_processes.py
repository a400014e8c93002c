"""Many processes write to and search one memory while editors save over its notes.

    python -m benchmarks.many_processes --seconds 600
    python -m benchmarks.many_processes --seconds 5 --rounds 100 --rebuilders 1

All begin at one moment on a memory without an index. Exits 1 if a process heard of a
lock or of anything else, if an acknowledged entry or a person's line is missing, if an
answer was not fresh, or if the index is not the one that a rebuild makes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.processes import Outcome, Plan, work_together
from tests.support.sandbox import Sandbox


def at(share: float, values: Sequence[float]) -> float:
    """Return the value below which a share of all lies; 0 when there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def figures(outcome: Outcome) -> str:
    """Return what happened, in one line."""
    write, search = outcome.write_ms, outcome.search_ms
    least = min(map(min, outcome.shares), default=0)
    return (
        f"{len(write)} writes, p50 {at(0.5, write):.0f} ms, p99 {at(0.99, write):.0f} "
        f"ms; {len(search)} searches, p50 {at(0.5, search):.0f} ms, p99 "
        f"{at(0.99, search):.0f} ms; {outcome.saves} saves of editors; "
        f"each process at least {least} of both; {len(outcome.problems)} problems"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--editors", type=int, default=1)
    parser.add_argument("--rebuilders", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1, help="each in a new home")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="work in this folder")
    given = parser.parse_args()
    plan = Plan(
        seconds=given.seconds,
        processes=given.processes,
        editors=given.editors,
        rebuilders=given.rebuilders,
    )
    has_failed = False
    for seed in range(given.seed, given.seed + given.rounds):
        with tempfile.TemporaryDirectory(dir=given.dir) as base:
            outcome = work_together(Sandbox(Path(base) / "home"), plan, seed)
        for problem in outcome.problems[:20]:
            print(problem[:500])
        print(f"seed {seed}: {figures(outcome)}", flush=True)
        has_failed = has_failed or bool(outcome.problems)
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
