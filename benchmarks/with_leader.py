"""Measure what short commands cost by themselves, and run by the helper of a leader.

    python -m benchmarks.with_leader [--rounds 15]

Each round runs every command both ways, beside a bare start of Python, so that a busy
moment of the machine affects all of them. Times are from the start of a process to its
end; the work itself is done by another process where a helper does it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.corpus import corpus
from benchmarks.measure import machine, table
from benchmarks.place import installed_hm
from tests.support.helped import Home, helper_of

COMMANDS = {
    "`hm search --json`": ("search", "--json", "function"),
    "`hm list`": ("list",),
    "`hm inject --dry-run`": ("inject", "--dry-run"),
    "`hm hook session-start`": ("hook", "session-start"),
    "`hm exec -- true`": ("exec", "--", "true"),
    "`hm write`": ("write", "the queue of number # is full"),
    "`hm save`": ("save", "key-#", "the port of number # is 80#"),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    folder = Path(tempfile.mkdtemp())
    try:
        home = Home(folder / "home", folder)
        shop = folder / "shop"
        subprocess.run(["git", "init", "-q", str(shop)], check=True)
        assert home.run("init", by_itself=True).code == 0
        shutil.copytree(corpus().notes, home.folder / "memory", dirs_exist_ok=True)
        assert home.run("sync", by_itself=True).code == 0
        with home.leader():
            _print(_times(home, shop, rounds))
            status = Path(f"/proc/{helper_of(home)}/smaps_rollup").read_text()
            fields = dict(line.split(":") for line in status.splitlines()[1:])
            print(f"memory of the helper: {fields['Pss'].strip()} (proportional)")
        print(machine())
    finally:
        shutil.rmtree(folder)


def _times(home: Home, shop: Path, rounds: int) -> dict[str, list[list[float]]]:
    """Return command -> ways -> times in ms; the first round is discarded."""
    hm = installed_hm()
    bare = [sys.executable, "-c", "pass"]
    times: dict[str, list[list[float]]] = {"bare Python": [[], []]}
    times |= {name: [[], []] for name in COMMANDS}
    for turn in range(rounds + 1):
        for name, both in times.items():
            for way, switch in enumerate(("false", "true")):
                number = f"{turn}-{way}"
                words = [word.replace("#", number) for word in COMMANDS.get(name, ())]
                took = _time(
                    [*hm, *words] if words else bare,
                    home.environ({"HIVEMIND_ASK_LEADER": switch}),
                    shop,
                )
                if turn:
                    both[way].append(took)
    return times


def _time(words: list[str], environ: dict[str, str], folder: Path) -> float:
    """Return how long a command takes, in ms."""
    start = time.perf_counter()
    with open(os.devnull, "r+b") as nothing:
        done = subprocess.run(
            words,
            check=False,
            env=environ,
            cwd=folder,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )
    assert done.returncode == 0, words
    return 1e3 * (time.perf_counter() - start)


def _print(times: dict[str, list[list[float]]]) -> None:
    """Print medians, and how many times a bare start of Python they are."""
    one, other = times.pop("bare Python")
    bare = statistics.median([*one, *other])
    rows = []
    for name, both in times.items():
        alone, helped = map(statistics.median, both)
        rows.append(
            (
                name,
                f"{alone:.0f} ms = {alone / bare:.1f} ×",
                f"{helped:.0f} ms = {helped / bare:.1f} ×",
            )
        )
    print(f"bare start of Python: {bare:.1f} ms")
    print(table(("what", "by itself", "with a leader"), rows))


if __name__ == "__main__":
    main()
