"""Kill processes that replace memories: is each there once, whole, and as acknowledged?

    python -m benchmarks.kill_upserts --kills 2000

Each victim writes memories under a few ids, in two namespaces, and changes the
namespaces, and is killed with SIGKILL after a random time, in the middle of a write or
between two statements of SQLite. After each kill, every id has one text, a whole one,
not older than what was acknowledged; and the index equals one that is made from
nothing. Exits 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.support.upsert_kill_rig import kill_upserts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="make the home in this folder")
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=given.dir) as base:
        result = kill_upserts(Path(base), given.kills, given.seed)
    for problem in result.problems:
        print(problem[:1000])
    print(
        f"seed {given.seed}: {result.kills} kills "
        f"in {time.monotonic() - started:.0f} s, "
        f"{result.in_doubt} of them after a write that was not acknowledged, "
        f"{result.acknowledged} writes acknowledged, {len(result.problems)} problems"
    )
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
