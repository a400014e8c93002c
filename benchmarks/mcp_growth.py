"""By how much does an `hm mcp` grow that serves an agent all day?

    python -m benchmarks.mcp_growth [--writes 4000] [--chars 400]

One server, one client: entries are written to the note of the day, and after every
tenth one a search is made. Prints the resident memory after each tenth of the writes;
the first tenth warms every cache. A server keeps what it has read of the notes that
agents append to, so it grows with them. Exits with 1 if a call failed, or if it grew by
more than 12 KB for each entry of 400 characters.
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

MOST_KB = 12.0
"""For each entry of 400 characters."""

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

    def resident_kb(self) -> int:
        """Return how much memory the server takes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0])

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
    parser.add_argument("--writes", type=int, default=4_000)
    parser.add_argument("--chars", type=int, default=400, help="of each entry")
    given = parser.parse_args()
    rng = random.Random(1)
    failed = warm_kb = now_kb = 0
    with tempfile.TemporaryDirectory() as home:
        server = Server(home)
        for number in range(given.writes):
            words = rng.choices(_WORDS, k=given.chars // 6)
            text = f"Entry {number}: {' '.join(words)}."
            failed += not server.call("memory_write", content=text)
            if number % 10 == 0:
                failed += not server.call("memory_search", query=" ".join(words[:3]))
            if number % (given.writes // 10) == given.writes // 10 - 1:
                now_kb = server.resident_kb()
                warm_kb = warm_kb or now_kb
                print(f"{number + 1:6} writes: {now_kb / 1024:.1f} MB", flush=True)
        server.end()
    counted = given.writes - given.writes // 10
    grown_kb = (now_kb - warm_kb) / counted * 400 / given.chars
    print(
        f"{failed} failed calls, memory x{now_kb / warm_kb:.3f},"
        f" {grown_kb:.1f} KB for each write"
    )
    return 1 if failed or grown_kb > MOST_KB else 0


if __name__ == "__main__":
    sys.exit(main())
