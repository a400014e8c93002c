"""Every tool, command, route and page for every pair of scopes: what does it reveal?

    python -m benchmarks.access_matrix [--pairs N[-M]] [--calls KIND]
        [--every N] [--start N]

KIND is tools, commands, routes or pages; without it, all. Pairs are counted from 0.
What each pair and kind revealed is printed as soon as it is known, so a run over all
can be done in parts. With ``--every 60``, each ``--start`` from 0 to 59 is a part.

For each caller and each scope that it may not see, two homes are made: one with the
scope and one without. Whatever is tried, the answers have to be the same, byte for
byte, and the notes of the scope stay as they are.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.support.access_matrix import (
    PAIRS,
    Side,
    command_reads,
    command_writes,
    make_twins,
    tool_reads,
    tool_writes,
)
from tests.support.every_call import command_calls, tool_calls
from tests.support.http_matrix import http_reads, http_writes, send
from tests.support.page_matrix import page_requests, visit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", default=f"0-{len(PAIRS) - 1}", help="such as 3-5")
    parser.add_argument(
        "--calls", choices=("tools", "commands", "routes", "pages"), default=None
    )
    parser.add_argument("--every", type=int, default=1, help="each so-many-th call")
    parser.add_argument("--start", type=int, default=0, help="which call is the first")
    parser.add_argument("--show", type=int, default=5, help="leaks that are printed")
    given = parser.parse_args()
    os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
    os.environ["EDITOR"] = "true"
    for name in ("VISUAL", "HIVEMIND_INDEX_DIR"):
        os.environ.pop(name, None)
    first, _, last = given.pairs.partition("-")
    numbers = range(len(PAIRS))[int(first) : int(last or first) + 1]
    started = time.monotonic()
    counts = {"tools": 0, "commands": 0, "routes": 0, "pages": 0}
    leaks = 0
    for at in numbers:
        caller, hidden = PAIRS[at]
        for kind in counts:
            if given.calls not in (None, kind):
                continue
            with tempfile.TemporaryDirectory() as folder:
                part = slice(given.start, None, given.every)
                number, found = tried(Path(folder), kind, (caller, hidden), part)
            counts[kind] += number
            for leak in found[: max(given.show - leaks, 0)]:
                print(f"caller {caller!r}: {leak}", end="\n\n")
            leaks += len(found)
            print(f"pair {at}, {number} {kind}: {len(found)} leaks", flush=True)
    print(
        f"{len(numbers)} pairs of caller and scope, {counts['tools']} calls of tools,"
        f" {counts['commands']} commands, {counts['routes']} requests,"
        f" {counts['pages']} pages and forms:"
        f" {leaks} leaks;"
        f" {time.monotonic() - started:.0f} s"
    )
    return 1 if leaks else 0


def tried(
    folder: Path, kind: str, pair: tuple[str, str], part: slice
) -> tuple[int, list[str]]:
    """Return how many calls were made, and what leaked."""
    for name in ("HOME", "PROJECT", "TEAM", "WORKSPACE"):
        os.environ.pop(f"HIVEMIND_{name}", None)
    caller, hidden = pair
    twins = make_twins(folder, caller, hidden)
    if kind == "tools":
        calls = [*tool_reads(hidden), *tool_writes(hidden)]
        calls += tool_calls(twins.without.offered_tools(), hidden)
        calls = [*calls, *tool_reads(hidden)][part]

        def ask(side: Side) -> list[tuple[str, str]]:
            return side.tools(calls)

        return len(calls), twins.leaks(ask)
    if kind == "routes":
        requests = [*http_reads(hidden), *http_writes(hidden), *http_reads(hidden)]
        requests = requests[part]
        return len(requests), twins.leaks(lambda side: send(side, requests))
    if kind == "pages":
        asked = [*page_requests(hidden)][part]
        return len(asked), twins.leaks(lambda side: visit(side, asked))
    lines = [*command_reads(hidden), *command_writes(hidden), *command_calls(hidden)]
    lines = [*lines, *command_reads(hidden)][part]
    return len(lines), twins.leaks(lambda side: side.commands(lines))


if __name__ == "__main__":
    sys.exit(main())
