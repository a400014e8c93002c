"""Kill processes that write and index: is everything there, and the index sound?

    python -m benchmarks.kill_index --kills 10000

Each victim writes entries, edits notes large enough to be staged in steps, syncs,
searches and rebuilds, and is killed with SIGKILL after a random time. After each kill
an ordinary sync must do: every acknowledged entry is there once, SQLite finds the file
sound, the postings fit the chunks, and the index equals, row for row, one that is made
from nothing. Exits 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.support.kill_rig import kill_often


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="make the homes in this folder")
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=given.dir) as base:
        result = kill_often(Path(base), given.kills, given.seed)
    for problem in result.problems:
        print(problem[:1000])
    print(
        f"seed {given.seed}: {result.kills} kills "
        f"in {time.monotonic() - started:.0f} s, "
        f"{result.found_unfinished} of them left something half done, "
        f"{result.acknowledged} entries acknowledged, {len(result.problems)} problems"
    )
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
