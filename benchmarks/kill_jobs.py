"""Kill leaders that run jobs: is the model asked at most once, and nothing lost?

    python -m benchmarks.kill_jobs --kills 500

Each victim saves memories, runs the jobs that compare them and write the briefing, with
a model that replies by script, applies what merges near copies, and is killed with
SIGKILL after a random time, in the middle of a write or between two statements of
SQLite. In the end the model was asked at most once about each memory, no more often
than a day allows, every memory is there, and of two that were merged one is active.
Exits 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.support.job_kill_rig import kill_leaders

MERGE_SHARE = 0.25


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="make the home in this folder")
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=given.dir) as base:
        result = kill_leaders(
            Path(base), given.kills, given.seed, merge_share=MERGE_SHARE
        )
    if not result.merged:
        result.problems.append("no near copy was replaced: merging proves nothing")
    for problem in result.problems:
        print(problem[:1000])
    states = ", ".join(f"{count} {state}" for state, count in result.states.items())
    print(
        f"seed {given.seed}: {result.kills} kills"
        f" in {time.monotonic() - started:.0f} s, {result.saved} memories saved,"
        f" {result.asked.total()} requests, {result.briefings} of them for briefings,"
        f" {result.merged} near copies replaced,"
        f" jobs: {states},"
        f" {len(result.problems)} problems"
    )
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
