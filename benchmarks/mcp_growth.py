"""By how much does an `hm mcp` grow that serves an agent all day?

    python -m benchmarks.mcp_growth [--writes 20000] [--chars 400] [--notes 10]

One server, one client: entries are written to one note after the other, and after every
tenth one a search is made. Prints, after each tenth of the writes, the memory that is
the server's own; pages of the index, which all processes share, are counted apart.
While the first part of the writes warms every cache, it may grow. Exits with 1 if a
call failed, or if the server grew by more than 2 KB for each entry after that; in a
short run, which ends while caches still fill, --most-kb has to allow for more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

MAX_KB = 2.0
"""For each entry: the journal keeps some 600 bytes of each for ten minutes."""

WARM = 0.4
"""Part of the writes after which every cache is full."""

_WORDS = [
    start + end
    for start in (
        "ba",
        "ce",
        "di",
        "fo",
        "gu",
        "la",
        "me",
        "ni",
        "po",
        "ru",
        "ta",
        "we",
    )
    for end in ("bel", "cor", "dan", "fim", "gus", "lat", "mer", "nol", "pid", "ron")
]
_CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Server:
    """A server, and its only client."""

    def __init__(self, home: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hivemind_memory.cli", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "HOME": home, "HIVEMIND_HOME": f"{home}/hm"},
        )
        self._number = 0
        self.ask("initialize", _CLIENT)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request; it has to be one."""
        self._number += 1
        self._send(
            {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        )
        while (answer := json.loads(self._pipe("stdout").readline())).get("id") != (
            self._number
        ):
            pass
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: object) -> bool:
        """Return whether a call of a tool succeeded."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return not answer.get("isError", False)

    def memory_kb(self, kind: str = "RssAnon") -> int:
        """Return how much memory the server takes: its own, or of files."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(status.split(f"{kind}:")[1].split()[0])

    def end(self) -> None:
        """End the server."""
        self._pipe("stdin").close()
        self._process.wait(30)

    def _send(self, message: dict[str, Any]) -> None:
        self._pipe("stdin").write(json.dumps(message).encode() + b"\n")
        self._pipe("stdin").flush()

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self._process, name)
        return pipe


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writes", type=int, default=20_000)
    parser.add_argument("--chars", type=int, default=400, help="of each entry")
    parser.add_argument("--notes", type=int, default=10, help="one after the other")
    parser.add_argument("--most-kb", type=float, default=MAX_KB, help="for a write")
    given = parser.parse_args()
    rng = random.Random(1)
    tenth = given.writes // 10
    failed = 0
    own_kb: list[int] = []
    with tempfile.TemporaryDirectory() as home:
        server = Server(home)
        for number in range(given.writes):
            words = rng.choices(_WORDS, k=given.chars // 6)
            text = f"Entry {number}: {' '.join(words)}."
            day = f"day-{number * given.notes // given.writes}.md"
            failed += not server.call("memory_write", content=text, file=day)
            if number % 10 == 0:
                failed += not server.call("memory_search", query=" ".join(words[:3]))
            if number % tenth == tenth - 1:
                own_kb.append(server.memory_kb())
                print(
                    f"{number + 1:6} writes: {own_kb[-1] / 1024:.1f} MB, and"
                    f" {server.memory_kb('RssFile') / 1024:.1f} MB of files",
                    flush=True,
                )
        server.end()
    warm = int(WARM * 10)
    grown_kb = (own_kb[-1] - own_kb[warm - 1]) / (tenth * (10 - warm))
    print(
        f"{failed} failed calls, memory x{own_kb[-1] / own_kb[warm - 1]:.3f},"
        f" {grown_kb:.2f} KB for each write"
    )
    return 1 if failed or grown_kb > given.most_kb else 0


if __name__ == "__main__":
    sys.exit(main())
