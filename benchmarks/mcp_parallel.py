"""Call one memory from many clients at once, over stdio and over HTTP.

    python -m benchmarks.mcp_parallel [--clients 32] [--calls 200] [--seconds 600]
        [--notes 0]

Over stdio each client has a server process of its own, over HTTP all share one. Every
client saves, searches, writes and reads in turn. Prints the calls made, the failures
and the latency; exits with 1 if a call failed or was not made. The first call of each
client is measured apart: over stdio it is made while other servers still start.
``--seconds`` bounds each of the two runs: a client that has not made all its calls by
then stops. With ``--some`` that is no failure: what was made is measured.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

TRANSPORTS = ("stdio", "http")
COMMAND = (sys.executable, "-m", "hivemind_memory.cli", "mcp")


@dataclass(slots=True)
class Outcome:
    """What came of the calls."""

    first_ms: list[float] = field(default_factory=list)
    """How long the first call of each client took."""

    then_ms: list[float] = field(default_factory=list)
    """How long each later call took."""

    failures: list[str] = field(default_factory=list)


async def use(client: Client, number: int, calls: int, until_s: float) -> Outcome:
    """Make a client's calls."""
    outcome = Outcome()
    for turn in range(calls):
        if time.monotonic() > until_s:
            break
        tool, arguments = _call(number, turn)
        start_s = time.monotonic()
        try:
            result = await client.call_tool(tool, arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
            outcome.failures.append(f"{tool}: {error!r}")
            continue
        if result.is_error:
            texts = [one.text for one in result.content if isinstance(one, TextContent)]
            outcome.failures.append(f"{tool}: {' '.join(texts)}")
        else:
            took_ms = (time.monotonic() - start_s) * 1000
            (outcome.then_ms if turn else outcome.first_ms).append(took_ms)
    return outcome


def _call(number: int, turn: int) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments of one call."""
    name = f"{number}-{turn // 4 * 4}"
    return (
        ("memory_save", {"key": f"crane-{name}", "content": f"Crane {name} is tall."}),
        ("memory_search", {"query": "which crane is tall"}),
        ("memory_write", {"content": f"Heron {name} was seen."}),
        ("memory_history", {"key": f"crane-{name}"}),
    )[turn % 4]


@asynccontextmanager
async def stdio_client(environ: dict[str, str]) -> AsyncIterator[Client]:
    """Yield a client with a server process of its own."""
    server = StdioServerParameters(
        command=COMMAND[0], args=list(COMMAND[1:]), env=environ
    )
    async with Client(server) as client:
        yield client


@asynccontextmanager
async def http_client(url: str, token: str) -> AsyncIterator[Client]:
    """Yield a client of the shared server."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as connection:
        transport = streamable_http_client(url, http_client=connection)
        async with Client(transport) as client:
            yield client


async def measure(transport: str, options: argparse.Namespace, home: str) -> Outcome:
    """Run all clients over one transport."""
    environ = {
        **os.environ,
        "HIVEMIND_HOME": home,
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
    }
    outcomes: list[Outcome] = []
    until_s = time.monotonic() + options.seconds

    async def run(client: Any, number: int) -> None:
        async with client as opened:
            outcomes.append(await use(opened, number, options.calls, until_s))

    process = _start_http(environ) if transport == "http" else None
    try:
        async with anyio.create_task_group() as group:
            for number in range(options.clients):
                client = (
                    stdio_client(environ)
                    if process is None
                    else http_client(*process[1:])
                )
                group.start_soon(run, client, number)
    finally:
        if process is not None:
            process[0].terminate()
            process[0].communicate()
    return Outcome(
        first_ms=list(itertools.chain(*(one.first_ms for one in outcomes))),
        then_ms=list(itertools.chain(*(one.then_ms for one in outcomes))),
        failures=list(itertools.chain(*(one.failures for one in outcomes))),
    )


def latency(outcome: Outcome) -> str:
    """Return how long the first calls took, and the others."""
    said = []
    if outcome.first_ms:
        middle, worst = statistics.median(outcome.first_ms), max(outcome.first_ms)
        said.append(f"first calls: median {middle:.0f} ms, worst {worst:.0f} ms")
    if outcome.then_ms:
        ordered = sorted(outcome.then_ms)
        p99 = ordered[int(len(ordered) * 0.99)]
        said.append(
            f"then median {statistics.median(ordered):.0f} ms, p99 {p99:.0f} ms"
        )
    return "; ".join(said)


def write_notes(home: str, count: int) -> None:
    """Write the notes that are there before the first call."""
    folder = os.path.join(home, "memory", "cranes")
    os.makedirs(folder)
    for number in range(count):
        with open(os.path.join(folder, f"{number}.md"), "w", encoding="utf-8") as file:
            file.write(f"# Crane {number}\n\nIt stands in field {number % 97}.\n")


def _start_http(environ: dict[str, str]) -> tuple[subprocess.Popen[str], str, str]:
    """Return a server over HTTP, its address and its token."""
    process = subprocess.Popen(
        [*COMMAND, "--http", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    )
    assert process.stderr is not None
    url = process.stderr.readline().split()[-1]
    file = process.stderr.readline().removeprefix("token in ").strip()
    with open(file, encoding="utf-8") as opened:
        return process, url, opened.read().strip()


def main() -> int:
    """Run both transports and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--notes", type=int, default=0, help="notes there are before")
    parser.add_argument("--transport", choices=TRANSPORTS, help="only this one")
    parser.add_argument("--some", action="store_true", help="calls may be left unmade")
    options = parser.parse_args()
    problems = 0
    for transport in (options.transport,) if options.transport else TRANSPORTS:
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory() as home:
            write_notes(home, options.notes)
            outcome = anyio.run(measure, transport, options, home)
        took_s = time.monotonic() - began_s
        wanted = options.clients * options.calls
        timed = len(outcome.first_ms) + len(outcome.then_ms)
        made = timed + len(outcome.failures)
        problems += len(outcome.failures)
        print(
            f"{transport}: {made:,} of {wanted:,} calls in {took_s:.0f} s, "
            f"{len(outcome.failures)} failed"
        )
        if made < wanted and not options.some:
            problems += 1
            print(f"  cut short after {options.seconds:g} s")
        if timed:
            print(f"  {latency(outcome)}")
        for failure in outcome.failures[:5]:
            print(f"  {failure}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
