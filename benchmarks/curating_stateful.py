"""Long random histories of curated memories: each answer is that of a small model.

    python -m benchmarks.curating_stateful --steps 100000 [--seed 1]

The same machine as in tests/curation/test_stateful.py: several callers in
several scopes save, replace, learn, link, forget and restore, a person edits, renames,
deletes and writes by hand. A failing history is made as short as possible and printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.curation_model import TypedMemoryMachine

STEPS_OF_ONE = 60
HISTORIES_OF_ONE_SEED = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="make the homes in this folder")
    parser.add_argument(
        "--no-shrink", action="store_true", help="report the first failure as it is"
    )
    given = parser.parse_args()
    phases = [Phase.generate] if given.no_shrink else list(Phase)
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
        phases=phases,
    )
    started = time.monotonic()
    number = given.seed
    while TypedMemoryMachine.steps < given.steps:
        run_state_machine_as_test(seed(number)(TypedMemoryMachine), settings=options)
        number += 1
    print(
        f"seeds {given.seed} to {number - 1}: {TypedMemoryMachine.steps} steps in "
        f"{time.monotonic() - started:.0f} s, 0 differences"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
