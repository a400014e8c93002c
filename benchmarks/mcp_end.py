"""How soon does an idle `hm mcp` end after its client?

    python -m benchmarks.mcp_end [--times 20]

The server answers `initialize`, is left alone for a second, and then its standard input
ends. Prints the median and the slowest time until the process is gone; exits with 1 if
the median is above 200 ms.
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

IDLE_S = 1.0
LIMIT_MS = 200
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


def end_ms(home: str) -> float:
    """Return how many milliseconds a server lives after its client."""
    server = subprocess.Popen(
        [sys.executable, "-m", "hivemind_memory.cli", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": home, "HIVEMIND_HOME": f"{home}/hm"},
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
    server.stdin.flush()
    server.stdout.readline()
    time.sleep(IDLE_S)
    started = time.perf_counter()
    server.stdin.close()
    server.wait(30)
    took_ms = 1000 * (time.perf_counter() - started)
    server.stdout.close()
    return took_ms


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        times = [end_ms(home) for _ in range(given.times)]
    median = statistics.median(times)
    print(f"{len(times)} ends: median {median:.0f} ms, slowest {max(times):.0f} ms")
    return 1 if median > LIMIT_MS else 0


if __name__ == "__main__":
    sys.exit(main())
