"""`hm serve` beside a bare server: searches of eight clients, start, rest and streams.

    python -m benchmarks.http_speed [--notes 10000] [--clients 8] [--requests 40]

The bare server is Starlette on uvicorn, with as many routes. Its search runs the raw
FTS5 query of the same words on the same index and returns ten rows: what no search
could do less than; its key-value write commits the same row, synced. Both are started
by the same Python with compiled modules, and take turns. The same questions are also
asked over MCP. What is printed are ratios of one run; times alone say more about the
machine. All notes hold the words that are searched, which is the worst case of a
search. Exits 1 if a share is too small, if a search over REST takes longer than over
MCP, if the start takes too long beside the bare server's, or if a quiet server is not:
its memory, its processor, also with the streams open.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from benchmarks.mcp_start import write_notes
from hivemind_memory import opening

ROOT = Path(__file__).parents[1]
BARE = """
import json, sys, threading
import apsw, uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route
here = threading.local()
SQL = '''SELECT files.path, chunks.start_line, chunks.end_line, chunks.text
  FROM chunks_fts JOIN chunks ON chunks.id = chunks_fts.rowid
  JOIN files ON files.id = chunks.file_id
  WHERE chunks_fts MATCH ? ORDER BY bm25(chunks_fts) LIMIT 10'''
def search(request):
    if not hasattr(here, "db"):
        here.db = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READONLY)
    words = request.query_params["q"].split()
    match = " OR ".join('"' + word.replace('"', "") + '"' for word in words)
    return JSONResponse({"hits": list(here.db.execute(SQL, (match,)))})
WRITE = "INSERT OR REPLACE INTO rows VALUES (?, ?)"
def write(request, body):
    if not hasattr(here, "state"):
        here.state = apsw.Connection(sys.argv[3])
        here.state.execute("PRAGMA busy_timeout = 60000")
        here.state.execute("PRAGMA journal_mode = WAL")
        here.state.execute("PRAGMA synchronous = FULL")
        made = "CREATE TABLE IF NOT EXISTS rows(key TEXT PRIMARY KEY, value TEXT)"
        here.state.execute(made)
    with here.state:
        here.state.execute(WRITE, (body["key"], json.dumps(body["value"])))
    return {"status": "ok"}
async def write_key(request):
    body = json.loads(await request.body())
    return JSONResponse(await run_in_threadpool(write, request, body))
def other(request):
    return JSONResponse({})
routes = [Route("/api/v1/search", search)]
routes += [Route("/workspaces/w/memory", write_key, methods=["POST"])]
routes += [Route(f"/api/v1/other{n}/{{id}}", other) for n in range(15)]
uvicorn.run(Starlette(routes=routes), port=int(sys.argv[2]), log_level="critical")
"""
WORDS = ("harbour", "tariff 77", "night shift", "cable")
QUESTIONS = (
    "what is the tariff of harbour 77 at night",
    "which harbour has the highest tariff for cables",
    "when does the night shift begin in harbour 12",
)
MIN_SHARE, MIN_WRITES = 0.35, 0.5
"""Of the bare server's searches and writes."""

MAX_BESIDE_MCP = 1.1
"""A tenth is chance."""

MAX_START = 3.0
MAX_REST_MB, MAX_STREAMS_MB = 90, 150
MAX_SHARE = 0.02
"""Of a processor, that a quiet server uses."""

REST_S = 4.0
KEYS = tuple(f"runs/{number}" for number in range(20))
Ask = Callable[[int, str, str, http.client.HTTPConnection], None]
_PROTOCOL = "2025-06-18"
_SESSIONS: dict[int, str] = {}
"""Of MCP, by the id of the connection."""


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    process: subprocess.Popen[str]
    port: int
    token: str
    first_s: float
    """From its start to its first answer."""


@contextmanager
def running(is_ours: bool, home: Path) -> Iterator[Server]:
    """Start a server, and wait for its first answer."""
    environ = {
        **os.environ,
        "HIVEMIND_HOME": str(home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "PYTHONPATH": str(ROOT),
        # Installed modules are compiled; without this, ours would be at each start.
        "PYTHONPYCACHEPREFIX": str(home / "compiled"),
    }
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    port = _free_port()
    if is_ours:
        command = [sys.executable, "-m", "hivemind_memory.cli", "serve"]
        command += ["--port", str(port)]
    else:
        index = home / "memory" / ".index" / "memory.db"
        state = home / "bare.db"
        command = [sys.executable, "-c", BARE, str(index), str(port), str(state)]
    token_file = home / "mcp-token"
    started = time.perf_counter()
    process = subprocess.Popen(
        command, env=environ, cwd=home, stderr=subprocess.DEVNULL, text=True
    )
    try:
        while True:
            try:
                token = token_file.read_text().strip() if token_file.exists() else "x"
                _asked(port, token, WORDS[0])
                break
            except (OSError, http.client.HTTPException):
                if process.poll() is not None:
                    raise
                time.sleep(0.002)
        yield Server(process, port, token, time.perf_counter() - started)
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening_socket:
        port: int = listening_socket.getsockname()[1]
        return port


def _asked(
    port: int, token: str, query: str, client: http.client.HTTPConnection | None = None
) -> None:
    """Search once."""
    opened = client or http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}"}
    opened.request("GET", f"/api/v1/search?q={quote(query)}", headers=headers)
    answer = opened.getresponse()
    body = answer.read()
    assert answer.status == 200, body


def _written(
    port: int, token: str, key: str, client: http.client.HTTPConnection
) -> None:
    """Give a key a value."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    value = {"commit": "4bbd2ec9", "ok": True, "at": time.time()}
    body = json.dumps({"key": key, "value": value})
    client.request("POST", "/workspaces/w/memory", body, headers)
    answer = client.getresponse()
    said = answer.read()
    assert answer.status == 200, (port, said)


def _called(
    port: int, token: str, query: str, client: http.client.HTTPConnection
) -> None:
    """Search over MCP once."""
    arguments = {"query": query}
    said = _sent(
        client,
        token,
        "tools/call",
        {"name": "memory_search", "arguments": arguments},
    )
    assert b'"hits"' in said, (port, said)


def _sent(
    client: http.client.HTTPConnection, token: str, method: str, params: object
) -> bytes:
    """Send a message of MCP, without a session; return what is answered."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Mcp-Protocol-Version": _PROTOCOL,
    }
    if session := _SESSIONS.get(id(client)):
        headers["Mcp-Session-Id"] = session
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    client.request("POST", "/mcp", json.dumps(message), headers)
    answer = client.getresponse()
    said = answer.read()
    assert answer.status == 200, said
    if session := answer.getheader("Mcp-Session-Id"):
        _SESSIONS[id(client)] = session
    return said


def _client(
    ask: Ask, port: int, token: str, queries: tuple[str, ...], count: int, at: float
) -> list[float]:
    """Ask one after the other from a moment on; return how long each took, in s."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.connect()
    if ask is _called:
        info = {"name": "speed", "version": "1"}
        params = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": info}
        _sent(client, token, "initialize", params)
    time.sleep(max(0.0, at - time.time()))
    took = []
    for number in range(count):
        started = time.perf_counter()
        ask(port, token, queries[number % len(queries)], client)
        took.append(time.perf_counter() - started)
    return took


def rate_of(
    server: Server,
    queries: tuple[str, ...],
    clients: int,
    count: int,
    ask: Ask = _asked,
) -> tuple[float, float]:
    """Return requests in a second, and the 95th percentile of their times in ms."""
    at = time.time() + 0.5
    given = [(ask, server.port, server.token, queries, count, at)] * clients
    with multiprocessing.get_context("fork").Pool(clients) as pool:
        took = pool.starmap(_client, given, chunksize=1)
    slowest_s = max(sum(one) for one in took)
    flat = sorted(time_s for one in took for time_s in one)
    return clients * count / slowest_s, flat[int(len(flat) * 0.95)] * 1000


@contextmanager
def listening(server: Server, count: int) -> Iterator[None]:
    """Hold so many streams of events open."""
    request = (
        f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {server.token}\r\n\r\n"
    ).encode()
    with ExitStack() as stack:
        for _ in range(count):
            stream = socket.create_connection(("127.0.0.1", server.port), 30)
            stack.enter_context(stream)
            stream.sendall(request)
            assert stream.recv(4096).startswith(b"HTTP/1.1 200")
        yield


def at_rest(server: Server) -> tuple[float, float]:
    """Return the memory in MB and the share of a processor that a quiet server uses."""
    time.sleep(2)  # what its start left to do
    before_s = _processor_s(server.process.pid)
    time.sleep(REST_S)
    used = (_processor_s(server.process.pid) - before_s) / REST_S
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    line = next(one for one in status.splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024, used


def _processor_s(process: int) -> float:
    """Return how many seconds a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=10_000, help="short ones")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=40, help="of each client")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--streams", type=int, default=1_000)
    given = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = max(soft, given.streams + 256)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard), hard))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_notes(home / "memory", given.notes)
        with opening.open_memory(home=str(home)) as memory:
            memory.sync()
            print(f"{memory.status().chunks:,} chunks")
        starts: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(given.rounds + 1):
            for is_ours, times in starts.items():
                with running(is_ours, home) as server:
                    times.append(server.first_s)
        ratios: dict[str, list[float]] = {"words": [], "questions": [], "writes": []}
        beside_mcp = []
        with running(True, home) as ours, running(False, home) as bare:
            for _ in range(given.rounds):
                for name, queries in (("words", WORDS), ("questions", QUESTIONS)):
                    ran = [
                        rate_of(server, queries, given.clients, given.requests)
                        for server in (ours, bare)
                    ]
                    ratios[name].append(ran[0][0] / ran[1][0])
                    print(
                        f"{name}: ours {ran[0][0]:.0f}/s p95 {ran[0][1]:.0f} ms,"
                        f" bare {ran[1][0]:.0f}/s p95 {ran[1][1]:.0f} ms"
                    )
                rest, mcp = (
                    rate_of(ours, WORDS, given.clients, given.requests, ask)[1]
                    for ask in (_asked, _called)
                )
                beside_mcp.append(rest / mcp)
                wrote = [
                    rate_of(server, KEYS, given.clients, given.requests, _written)[0]
                    for server in (ours, bare)
                ]
                ratios["writes"].append(wrote[0] / wrote[1])
                print(
                    f"p95 of words: REST {rest:.0f} ms, MCP {mcp:.0f} ms;"
                    f" writes: ours {wrote[0]:.0f}/s, bare {wrote[1]:.0f}/s"
                )
        with running(True, home) as quiet:
            memory_mb, share = at_rest(quiet)
            alone = rate_of(quiet, QUESTIONS, 2, given.requests)[1]
            with listening(quiet, given.streams):
                beside = rate_of(quiet, QUESTIONS, 2, given.requests)[1]
                streams_mb, streams_share = at_rest(quiet)
    # The first start of each warms the disk cache.
    start = statistics.median(starts[True][1:]) / statistics.median(starts[False][1:])
    words, questions, writes = (statistics.median(ratios[name]) for name in ratios)
    mcp_ratio = statistics.median(beside_mcp)
    print(
        f"searches of {given.clients} clients, as a share of the bare server's:"
        f" {words:.2f} for words, {questions:.2f} for questions,"
        f" {writes:.2f} for key-value writes\n"
        f"p95 of searches: {mcp_ratio:.2f} times that over MCP\n"
        f"start to first answer: {start:.2f} times the bare server's\n"
        f"at rest: {memory_mb:.0f} MB, {share:.1%} of a processor;"
        f" with {given.streams} idle streams {streams_mb:.0f} MB, {streams_share:.1%}\n"
        f"p95 of searches beside them: {beside / alone:.2f} times that without"
    )
    is_kept = (
        start <= MAX_START
        and min(words, questions) >= MIN_SHARE
        and writes >= MIN_WRITES
        and mcp_ratio <= MAX_BESIDE_MCP
        and memory_mb <= MAX_REST_MB
        and streams_mb <= MAX_STREAMS_MB
        and max(share, streams_share) <= MAX_SHARE
    )
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
