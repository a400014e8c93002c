"""Long random histories: after each sync and search the index equals a rebuild.

    python -m benchmarks.stateful --steps 1000000 [--seed 1]

The same machine as in tests/memory/test_stateful.py: edits that hide behind equal sizes
and times, renames, folders that move, notes that cannot be read, crashes in the middle
of a step and of a rebuild, deleted indexes, wrong clocks, other settings, a second
process. A failing history is made as short as possible and printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.history_model import Histories

STEPS_OF_ONE = 50
HISTORIES_OF_ONE_SEED = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="make the homes in this folder")
    given = parser.parse_args()
    if given.dir:
        os.environ["TMPDIR"] = given.dir
        tempfile.tempdir = given.dir
    options = settings(
        max_examples=HISTORIES_OF_ONE_SEED,
        stateful_step_count=STEPS_OF_ONE,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    started = time.monotonic()
    number = given.seed
    while Histories.steps < given.steps:
        run_state_machine_as_test(seed(number)(Histories), settings=options)
        number += 1
    print(
        f"seeds {given.seed} to {number - 1}: {Histories.steps} steps in "
        f"{time.monotonic() - started:.0f} s, 0 differences"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
