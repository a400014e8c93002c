"""Every tool, command, route and page for every pair of scopes: what does it reveal?

    python -m benchmarks.access_matrix [--pair N] [--calls KIND] [--every N]

KIND is tools, commands, routes or pages; without it, all. For each caller and each
scope that it may not see, two homes are made: one with the scope and one without.
Whatever is tried, the answers have to be the same, byte for byte, and the notes of the
scope stay as they are.
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
    parser.add_argument("--pair", type=int, default=None, help="only this one")
    parser.add_argument(
        "--calls", choices=("tools", "commands", "routes", "pages"), default=None
    )
    parser.add_argument("--every", type=int, default=1, help="each so-many-th call")
    parser.add_argument("--show", type=int, default=5, help="leaks that are printed")
    given = parser.parse_args()
    os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
    os.environ["EDITOR"] = "true"
    for name in ("VISUAL", "HIVEMIND_INDEX_DIR"):
        os.environ.pop(name, None)
    pairs = PAIRS if given.pair is None else PAIRS[given.pair : given.pair + 1]
    started = time.monotonic()
    counts = {"tools": 0, "commands": 0, "routes": 0, "pages": 0}
    leaks: list[str] = []
    for caller, hidden in pairs:
        for kind in counts:
            if given.calls not in (None, kind):
                continue
            with tempfile.TemporaryDirectory() as folder:
                number, found = tried(Path(folder), kind, (caller, hidden), given.every)
            counts[kind] += number
            leaks += [f"caller {caller!r}: {one}" for one in found]
    for leak in leaks[: given.show]:
        print(leak, end="\n\n")
    print(
        f"{len(pairs)} pairs of caller and scope, {counts['tools']} calls of tools,"
        f" {counts['commands']} commands, {counts['routes']} requests,"
        f" {counts['pages']} pages and forms:"
        f" {len(leaks)} leaks;"
        f" {time.monotonic() - started:.0f} s"
    )
    return 1 if leaks else 0


def tried(
    folder: Path, kind: str, pair: tuple[str, str], every: int
) -> tuple[int, list[str]]:
    """Return how many calls were made, and what leaked."""
    for name in ("HOME", "PROJECT", "TEAM", "WORKSPACE"):
        os.environ.pop(f"HIVEMIND_{name}", None)
    caller, hidden = pair
    twins = make_twins(folder, caller, hidden)
    if kind == "tools":
        calls = [*tool_reads(hidden), *tool_writes(hidden)]
        calls += tool_calls(twins.without.offered_tools(), hidden)
        calls = [*calls, *tool_reads(hidden)][::every]

        def ask(side: Side) -> list[tuple[str, str]]:
            return side.tools(calls)

        return len(calls), twins.leaks(ask)
    if kind == "routes":
        requests = [*http_reads(hidden), *http_writes(hidden), *http_reads(hidden)]
        requests = requests[::every]
        return len(requests), twins.leaks(lambda side: send(side, requests))
    if kind == "pages":
        asked = [*page_requests(hidden)][::every]
        return len(asked), twins.leaks(lambda side: visit(side, asked))
    lines = [*command_reads(hidden), *command_writes(hidden), *command_calls(hidden)]
    lines = [*lines, *command_reads(hidden)][::every]
    return len(lines), twins.leaks(lambda side: side.commands(lines))


if __name__ == "__main__":
    sys.exit(main())
