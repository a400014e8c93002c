"""Damage the index at random: is every question answered, and does a rebuild heal?

    python -m benchmarks.damage_index --times 10000

Bytes are turned, the file is cut off, a log is left that does not fit. Then a memory is
asked, listed, diagnosed and written to, and rebuilt. Exits 1 if anything raised, if the
healed index is not the one that a rebuild from nothing makes, if a search does not find
all that the notes hold, or if a note changed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from hivemind_memory.memory.memory import Memory
from tests.memory.test_damage import contents, damage_at_random, survive
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths

NOTES = 30
PARTS = 20
HITS = NOTES * PARTS


def run(base: Path, times: int, first_seed: int) -> list[str]:
    """Damage a copy of one home again and again; return what went wrong."""
    origin = Sandbox(base / "origin")
    for number in range(NOTES):
        body = "\n\n\n".join(f"part {n} of common text {number}" for n in range(PARTS))
        origin.save(f"{number:02}.md", f"# Note {number}\n\n{body}\n")
    with origin.memory() as memory:
        memory.sync()
    problems = []
    for seed in range(first_seed, first_seed + times):
        shutil.copytree(origin.home, base / "copy")
        problems += [
            f"seed {seed}: {found}" for found in try_once(Sandbox(base / "copy"), seed)
        ]
        shutil.rmtree(base / "copy")
    return problems


def try_once(sandbox: Sandbox, seed: int) -> list[str]:
    """Damage, use and heal one index; return what went wrong."""
    before = contents(sandbox.notes)
    damage_at_random(sandbox, random.Random(seed))
    try:
        with sandbox.memory() as memory:
            survive(memory)
            memory.rebuild()
            found = difference_from_fresh(sandbox, memory, ("common",))
            found += not_found(memory)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return [f"{type(error).__name__}: {error}"]
    if contents(sandbox.notes) != before:
        found.append("a note changed")
    return found


def not_found(memory: Memory) -> list[str]:
    """Return what the notes hold and a search does not find."""
    count = len(ask(memory, "common", max_results=1000, keeps_repetitions=True).hits)
    questions = {f"note {number}": f"{number:02}.md" for number in (3, 17, NOTES - 1)}
    return [
        *([f"common: {count} hits, not {HITS}"] if count != HITS else []),
        *(
            f"{question!r} does not find {path}"
            for question, path in questions.items()
            if path not in paths(ask(memory, question, max_results=1000))
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="work in this folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.dir) as base:
        problems = run(Path(base), given.times, given.seed)
    for problem in problems:
        print(problem[:500])
    print(f"seeds from {given.seed}: {given.times} damages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
