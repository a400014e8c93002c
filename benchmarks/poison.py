"""Text from outside in a memory: how much of it reaches an agent unasked (none).

    python -m benchmarks.poison [--entries 200] [--rounds 1] [--seed 1]

Each round puts so many texts with instructions in them into a memory of its own, in
every way there is: appended, saved, saved over what is active, learned, clipped by a
person. Then it looks at the sections of all agents and at what the session-start hook
prints, and asks for each text. Last, one agent's poisoned session is forgotten.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from hivemind_memory import open_memory
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.model.query import Query
from tests.inject.poisoning import OPTIONS, Poisoned
from tests.inject.repos import make_repo
from tests.inject.test_poison import SESSION, VENOM, poison_session


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
    for who in ("AUTHOR", "COMMITTER"):
        os.environ[f"GIT_{who}_NAME"] = "Ann"
        os.environ[f"GIT_{who}_EMAIL"] = "ann@example.com"
    # Outside any repository, so that a write without a scope is global.
    os.chdir(tempfile.gettempdir())
    started = time.monotonic()
    told = unfound = unmended = 0
    for number in range(given.rounds):
        with tempfile.TemporaryDirectory() as folder:
            counts = one_round(Path(folder), given.entries, given.seed + number)
        told, unfound, unmended = (
            told + counts[0],
            unfound + counts[1],
            unmended + counts[2],
        )
    print(
        f"seeds {given.seed} to {given.seed + given.rounds - 1}:"
        f" {given.rounds * given.entries} texts from outside,"
        f" {told} told unasked, {unfound} not found with their label;"
        f" {unmended} of {given.rounds} sessions not undone;"
        f" {time.monotonic() - started:.0f} s"
    )
    return 1 if told or unfound or unmended else 0


def one_round(folder: Path, entries: int, seed: int) -> tuple[int, int, int]:
    """Return how many were told, not found, and whether the session is not undone."""
    home, worktree = folder / "home", make_repo(folder / "shop")
    (home / "memory").mkdir(parents=True)
    with open_memory(home=str(home), flags=OPTIONS) as memory:
        poisoned = Poisoned(memory)
        poisoned.plant(entries, seed)
        texts = "\n".join(poisoned.told(worktree))
        told = sum(word in texts for word in poisoned.words)
        unfound = len(poisoned.unfound())
        poison_session(memory)
        memory.curation.forget(MemorySelector(session=SESSION))
        rest = memory.search(Query(text=VENOM, min_score=0.0)).hits
        after = "\n".join(poisoned.told(worktree))
        is_mended = not rest and VENOM not in after and "We run the shop." in after
    return told, unfound, int(not is_mended)


if __name__ == "__main__":
    sys.exit(main())
