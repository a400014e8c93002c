"""From the start of `hm mcp` to its answer to `initialize`, beside a bare server.

    python -m benchmarks.mcp_start [--notes 10000] [--rounds 15]

The bare server has four tools that do nothing, on the same SDK and the same Python.
Ours starts as an agent starts it, over that many notes and with a provider that does
not answer. The two take turns, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hivemind_memory import opening

ROOT = Path(__file__).parents[1]
OURS = (sys.executable, "-m", "hivemind_memory.cli", "mcp")
BARE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def write(content: str, file: str = "") -> dict[str, str]: return {}
@server.tool()
def search(query: str, max_results: int = 10, min_score: float = 0.3) -> dict[str, str]:
    return {}
@server.tool()
def get(path: str, first: int = 1, lines: int = 0) -> dict[str, str]: return {}
@server.tool()
def listed() -> dict[str, str]: return {}
server.run()
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
SEARCH = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "memory_search", "arguments": {"query": "tariff of harbour 77"}},
}
MAX_RATIO = 1.3


def write_notes(folder: Path, count: int) -> None:
    """Write short notes, so many."""
    folder.mkdir(parents=True)
    for number in range(count):
        place = folder / f"project{number % 50:02}"
        place.mkdir(exist_ok=True)
        (place / f"note{number:05}.md").write_text(
            f"# Harbour {number}\n\nIts tariff {number} is {number * 7 % 97}."
            f"\n\nIt was fixed in {1990 + number % 35} and is paid by the ton.\n",
            encoding="utf-8",
        )


def start_s(command: tuple[str, ...], env: dict[str, str]) -> tuple[float, float]:
    """Return how long `initialize` took from the start, and a first search after it."""
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        took_s = time.perf_counter() - started
        assert json.loads(answer)["result"]["serverInfo"], answer
        search_s = 0.0
        if command == OURS:
            asked = time.perf_counter()
            process.stdin.write(json.dumps(SEARCH).encode() + b"\n")
            process.stdin.flush()
            found = json.loads(process.stdout.readline())["result"]
            search_s = time.perf_counter() - asked
            assert found["structuredContent"]["hits"], found
        process.stdin.close()
        process.wait(10)
    return took_s, search_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        write_notes(Path(home) / "memory", given.notes)
        dead = {
            "HIVEMIND_EMBEDDING_PROVIDER": "ollama",
            "HIVEMIND_OLLAMA_URL": "http://127.0.0.1:9",
        }
        env = {**os.environ, "PYTHONPATH": str(ROOT), "HIVEMIND_HOME": home, **dead}
        with opening.open_memory(home=home) as memory:
            memory.sync()
        bare = (sys.executable, "-c", BARE)
        ours_s: list[float] = []
        bare_s: list[float] = []
        searches_s: list[float] = []
        for number in range(given.rounds + 1):
            first = start_s(bare, env)[0]
            second, search_s = start_s(OURS, env)
            if number:  # the first round fills the disk's cache
                bare_s.append(first)
                ours_s.append(second)
                searches_s.append(search_s)
    ratio = statistics.median(ours_s) / statistics.median(bare_s)
    for name, times in (("bare server", bare_s), ("hm mcp", ours_s)):
        print(
            f"{name:12} start to initialize: {min(times):.3f} s at best,"
            f" {statistics.median(times):.3f} s in the median"
        )
    print(
        f"first search after it, {given.notes:,} notes, dead provider:"
        f" {min(searches_s):.3f} to {max(searches_s):.3f} s"
    )
    print(
        f"ratio {ratio:.2f} of medians, {min(ours_s) / min(bare_s):.2f} of the best"
        f" (at most {MAX_RATIO})"
    )
    sys.exit(0 if ratio <= MAX_RATIO else 1)


if __name__ == "__main__":
    main()
