"""How soon does an idle `hm mcp` end after its client?

    python -m benchmarks.mcp_end [--times 20] [--idle-s 1]

The server answers `initialize`, or a call as well, is left alone for a second, and then
its standard input ends, a pipe or a socket, or its client is killed. Prints for each
the median and the slowest time until the process is gone; exits with 1 if a median is
above 200 ms.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_MS = 200
ENDED_WITHIN_S = 10.0
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
_CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "memory_search", "arguments": {"query": "anything"}},
}
USED = {
    "begun": [_INITIALIZE],
    "used": [
        _INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _CALL,
    ],
}
"""How far a server has come -> what its client sends before; a call loads the SDK."""

CLIENT = """
import json, os, socket, subprocess, sys
if sys.argv[1] == "socket":
    ours, theirs = socket.socketpair()
    answers = ours.makefile("rb")
    requests = ours.makefile("wb")
    given = {"stdin": theirs, "stdout": theirs}
else:
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
server = subprocess.Popen(
    [sys.executable, "-m", "hivemind_memory.cli", "mcp"],
    stderr=subprocess.DEVNULL,
    **given,
)
if sys.argv[1] == "socket":
    theirs.close()
else:
    requests, answers = server.stdin, server.stdout
messages = json.loads(sys.argv[2])
for message in messages:
    requests.write(json.dumps(message).encode() + b"\\n")
    requests.flush()
    while "id" in message and json.loads(answers.readline()).get("id") != message["id"]:
        pass
print(server.pid, flush=True)
sys.stdin.readline()
if sys.argv[1] == "socket":
    ours.shutdown(socket.SHUT_WR)
else:
    requests.close()
sys.stdin.readline()
"""


def end_ms(
    home: str, state: str, joined_by: str, *, is_killed: bool, idle_s: float
) -> float:
    """Return how many milliseconds a server lives after its client.

    Args:
        home: Of the server.
        state: Of ``USED``.
        joined_by: ``pipe`` or ``socket``: what the server reads from.
        is_killed: The client is killed; else it ends the server's input.
        idle_s: How long the server is left alone before.
    """
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, joined_by, json.dumps(USED[state])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "HOME": home, "HIVEMIND_HOME": f"{home}/hm"},
    )
    assert client.stdin is not None
    assert client.stdout is not None
    server = int(client.stdout.readline())
    ended = os.pidfd_open(server)
    time.sleep(idle_s)
    started = time.perf_counter()
    if is_killed:
        client.kill()
    else:
        client.stdin.write(b"\n")
        client.stdin.flush()
    is_gone = bool(select.select([ended], [], [], ENDED_WITHIN_S)[0])
    took_ms = 1000 * (time.perf_counter() - started)
    if not is_gone:
        signal.pidfd_send_signal(ended, signal.SIGKILL)
    os.close(ended)
    client.kill()
    client.communicate()
    return took_ms if is_gone else float("inf")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--idle-s", type=float, default=1.0)
    given = parser.parse_args()
    is_late = False
    with tempfile.TemporaryDirectory() as home:
        for state, joined_by, is_killed in itertools.product(
            USED, ("pipe", "socket"), (False, True)
        ):
            times = [
                end_ms(home, state, joined_by, is_killed=is_killed, idle_s=given.idle_s)
                for _ in range(given.times)
            ]
            median = statistics.median(times)
            is_late = is_late or median > LIMIT_MS
            print(
                f"{state}, {joined_by},"
                f" {'client killed' if is_killed else 'input ended'}:"
                f" {len(times)} ends, median {median:.0f} ms,"
                f" slowest {max(times):.0f} ms",
                flush=True,
            )
    return 1 if is_late else 0


if __name__ == "__main__":
    sys.exit(main())
