"""How long a search takes through MCP, beside an empty tool of the SDK.

    python -m benchmarks.mcp_speed [--chunks 10000] [--rounds 2] [--write-docs]

Three servers over stdio, each with one client of the SDK: an empty tool, `hm mcp` that
searches by words, and `hm mcp` with the vectors of a local server, which has been asked
each question before. All are asked the same query in turn; then each gets eight calls
at once for some seconds, in turn too. What an answer takes is the time of a client, so
on a busy machine only the ratios count; least of all they depend on the machine for the
CPU time of the servers.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from mcp import Client, StdioServerParameters

from benchmarks.corpus import corpus
from benchmarks.embedding_server import running_server
from benchmarks.measure import (
    ROOT,
    machine,
    resident_mib,
    shown_ms,
    table,
    timing,
    write_figures,
)
from benchmarks.place import Place, forget_settings, installed_hm, place
from hivemind_memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus import Corpus

NAME = "benchmarks/mcp_speed.py"
HEADS = ("what", "empty tool", "by words", "with vectors", "ratios", "to reach")
AT_ONCE = 8
FLIGHT_S = 2.0
FLIGHTS = 3
_EMPTY = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("empty")
@server.tool()
def memory_search(query: str) -> str:
    return "nothing"
server.run("stdio")
"""


@dataclass(slots=True, kw_only=True)
class Server:
    """A server with its client, and what was measured of it."""

    client: Client
    pid: int
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """Kind of query -> how long each call took."""

    cpu_ms: dict[str, float] = field(default_factory=dict)
    """Kind of query -> CPU time of the server for a call."""

    made: int = 0
    """Calls that were answered while eight were in flight."""

    flight_s: float = 0.0

    async def ask(self, query: str) -> None:
        """Call the tool.

        Raises:
            RuntimeError: It failed.
        """
        result = await self.client.call_tool("memory_search", {"query": query})
        if result.is_error:
            raise RuntimeError(str(result.content))

    async def timed(self, kind: str, query: str) -> None:
        """Call the tool, and note how long that took."""
        began = time.perf_counter()
        await self.ask(query)
        self.seconds.setdefault(kind, []).append(time.perf_counter() - began)

    async def fly(self, queries: Sequence[str]) -> None:
        """Keep eight calls in flight for a while."""
        began = time.perf_counter()

        async def repeat(place: int) -> None:
            while time.perf_counter() - began < FLIGHT_S:
                await self.ask(queries[place % len(queries)])
                self.made += 1
                place += AT_ONCE

        async with anyio.create_task_group() as group:
            for place in range(AT_ONCE):
                group.start_soon(repeat, place)
        self.flight_s += time.perf_counter() - began

    @property
    def a_second(self) -> float:
        """Calls a second with eight in flight."""
        return self.made / self.flight_s


def main() -> None:
    """Measure, print the table, and put it into the documents if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    forget_settings()
    made = corpus(chunks=options.chunks)
    with running_server() as address:
        vectors = {
            "embedding_provider": "ollama",
            "ollama_url": address,
            "ollama_model": "hash-384",
        }
        with (
            place(made, installed_hm(), {"embedding_provider": "none"}) as words,
            place(made, installed_hm(), vectors) as meaning,
        ):
            for here in (words, meaning):
                _index(here)
            rows = anyio.run(measure, made, words, meaning, options.rounds)
    figures = f"{table(HEADS, rows)}\n\n{made.manifest['chunks']} chunks; {machine()}."
    print(figures)
    if options.write_docs:
        write_figures(ROOT / "docs" / "performance.md", NAME, figures)


def _index(here: Place) -> None:
    """Index the notes, vectors included."""
    with open_memory(home=str(here.home)) as memory:
        memory.sync()
        memory.embed_pending()


async def measure(
    made: Corpus, words: Place, meaning: Place, rounds: int
) -> list[list[str]]:
    """Return the rows of the table."""
    queries = made.queries()
    known = [row for row in made.known() if row["kind"] == "question"]
    questions = [str(row["query"]) for row in known]
    async with AsyncExitStack() as stack:
        empty = await _start(stack, [sys.executable, "-c", _EMPTY], dict(os.environ))
        ours = [
            await _start(stack, here.command("mcp"), dict(here.env()))
            for here in (words, meaning)
        ]
        servers = [empty, *ours]
        for query in (*queries, *questions):
            for server in servers:
                await server.ask(query)
        for kind, asked in (("words", queries), ("questions", questions)):
            before = [_cpu_ms(server.pid) for server in servers]
            for query in asked * rounds:
                for server in servers:
                    await server.timed(kind, query)
            for server, was in zip(servers, before, strict=True):
                took = _cpu_ms(server.pid) - was
                server.cpu_ms[kind] = took / (len(asked) * rounds)
        for _ in range(FLIGHTS):
            for server in servers:
                await server.fly(queries)
        held = [resident_mib(server.pid) for server in servers]
    return _rows(servers, held)


async def _start(
    stack: AsyncExitStack, command: Sequence[str], env: dict[str, str]
) -> Server:
    """Start a server and connect its client."""
    before = _children()
    started = StdioServerParameters(command=command[0], args=list(command[1:]), env=env)
    client = await stack.enter_async_context(Client(started))
    (pid,) = _children() - before
    return Server(client=client, pid=pid)


def _cpu_ms(pid: int) -> float:
    """Return how much CPU time a process has taken, in ms."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


def _children() -> set[int]:
    """Return the processes that this one has started."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return set(map(int, file.read().split()))


def _rows(servers: Sequence[Server], held: Sequence[float]) -> list[list[str]]:
    """Return the rows: what, the three figures, two ratios to the first, the goals."""
    rows = []
    for kind, goal in (("words", "2.0 × / 2.8 ×"), ("questions", "2.7 ×")):
        times = [timing(server.seconds[kind]) for server in servers]
        for name, picked in (
            ("p50", [each.p50_ms for each in times]),
            ("p95", [each.p95_ms for each in times]),
        ):
            wanted = goal if name == "p50" else "3 × / 4.5 ×"
            shown = [shown_ms(value) for value in picked]
            rows.append([f"{kind}, {name}", *shown, _ratios(picked, " ×"), wanted])
        used = [server.cpu_ms[kind] for server in servers]
        shown = [shown_ms(value) for value in used]
        rows.append([f"{kind}, CPU of the server", *shown, _ratios(used, " ×"), ""])
    rates = [server.a_second for server in servers]
    shown = [f"{rate:.0f}" for rate in rates]
    title = f"calls a second, {AT_ONCE} in flight"
    rows.append([title, *shown, _ratios(rates, " ×", digits=2), "0.35 × / 0.15 ×"])
    shown = [f"{mib:.0f} MiB" for mib in held]
    rows.append(
        [
            "RAM of the server, with pages of the index",
            *shown,
            _ratios(held, " ×"),
            "1.25 × / 1.7 ×",
        ]
    )
    return rows


def _ratios(values: Sequence[float], sign: str, *, digits: int = 1) -> str:
    """Return what the second and the third are of the first."""
    return " / ".join(f"{value / values[0]:.{digits}f}{sign}" for value in values[1:])


if __name__ == "__main__":
    main()
