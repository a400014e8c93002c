"""Writers, a watcher and searching processes: no finished change is missed.

    python -m benchmarks.index_race --steps 100000 [--seconds 600]

A step is a change that one process makes and announces once it is finished, or a search
for the last announced change, or for what was removed last. Exits 1 if an answer misses
a change that was finished before the search began, or shows what was removed by then,
or if any process fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from math import inf
from pathlib import Path

from tests.support.index_race import RacePlan, race
from tests.support.sandbox import Sandbox


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=inf)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--searchers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    plan = RacePlan(
        steps=given.steps,
        writers=given.writers,
        searchers=given.searchers,
        seconds=given.seconds,
    )
    with tempfile.TemporaryDirectory() as base:
        outcome = race(Sandbox(Path(base) / "home"), plan, given.seed)
    for problem in outcome.problems[:20]:
        print(problem[:500])
    print(f"{outcome.steps} steps, {len(outcome.problems)} problems")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
