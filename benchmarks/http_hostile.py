"""Send hostile requests to `hm serve`: it lives, and answers as documented.

    python -m benchmarks.http_hostile [--requests 100000] [--clients 4] [--seed N]

Made by chance of parts that break parsers: heads that are no HTTP, too long or
ambiguous, paths that are no text, bodies that are no JSON, too deep or of the wrong
form, requests that stop half-way, connections that are half closed or reset, several
requests at once, bodies of 100 MB. The server's own token is sent with most, so that
they reach the routes.

Each answer has to be whole, have a status that the OpenAPI document names, and say as
JSON what is wrong. Requests that are sent together are answered in order. A client that
closes its half may be answered or not: the server takes it for one that has left.
Meanwhile the server keeps below a bound of memory, and answers an honest request. Exits
1 if one of this is not so.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import multiprocessing
import random
import select
import socket
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.http_speed import Server, running
from hivemind_memory import opening

MAX_MB = 250
HUGE = 100 * 1024 * 1024
DOCUMENTED = {
    *(
        200,
        201,
        204,
        307,
        400,
        401,
        403,
        404,
        405,
        409,
        412,
        413,
        415,
        421,
        428,
        429,
        503,
    )
}
TIMEOUT_S = 60.0
PATHS = (
    *(b"/api/v1/memories", b"/api/v1/memories/x", b"/api/v1/memories/x/chain"),
    *(b"/api/v1/notes", b"/api/v1/notes/a.md", b"/api/v1/search", b"/api/v1/links"),
    *(b"/api/v1/status", b"/api/v1/vault/x", b"/workspaces/w/memory", b"/v1/search"),
    *(b"/workspaces/w/v2/memories", b"/mcp", b"/memory", b"/memory/search", b"/"),
    *(b"/healthz", b"/api/v1/openapi.json", b"/workspaces/w/session-search"),
)
METHODS = (b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"TRACE")
ODD = (
    *(b"%00", b"%2e%2e%2f", b"//", b"/../../etc/passwd", b"%ff%fe", b"\xff\xfe", b"?"),
    *(b"?q=%00", b"?q=" + b"a" * 9_000, b"?limit=1e9", b"?limit=" + b"9" * 400, b"#"),
    *(b"?q=%ed%a0%80", b"?q=a&q=b", b"?scope=project/..", b"%", b"%zz", b"?=&=&;"),
    *(b"?q=%22%20OR%20*%20NEAR(", b"?offset=-1", b"?from=99999999999999999999", b"*"),
    *(b"/" + b"a" * 4_000, b"?" + b"&".join(b"a%d=1" % n for n in range(2_000))),
)
HEADERS = (
    *(b"Host: evil.example", b"Host:", b"Host: 127.0.0.1:1", b"Host: [::1", b"X: \0"),
    *(b"Origin: null", b"Origin: http://evil.example", b"Authorization: Basic eA=="),
    *(b"Authorization: Bearer " + b"a" * 20_000, b"Authorization: Bearer \xff\xfe"),
    *(b"Content-Type: text/xml", b"Content-Encoding: gzip", b"Expect: 100-continue"),
    *(
        b"Expect: more",
        b"Upgrade: websocket\r\nConnection: Upgrade",
        b"Range: bytes=0-",
    ),
    *(b"If-Match: " + b'"x",' * 500, b"If-Match: \xff", b"Hivemind-Project: ../../x"),
    *(b"Hivemind-Project: ", b"Hivemind-Project: /etc", b"X-Forwarded-For: 1.2.3.4"),
    *(b"Hivemind-Project: " + b"p" * 9_000, b"Cookie: " + b"a=b;" * 5_000, b": x"),
    *(b"Last-Event-Id: x", b"A" * 300 + b": b", b"Name with space: b", b" folded: b"),
    *(b"Mcp-Session-Id: " + b"x" * 5_000, b"Transfer-Encoding: gzip, chunked"),
    *(b"Content-Length: -1", b"Content-Length: 1, 2", b"Content-Length: 9" + b"9" * 30),
    *(b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: x"),
)
RAW = (
    *(
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-x\r\n",
        b"\r\n\r\n\r\n",
    ),
    *(b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    *(b"GET http://evil.example/ HTTP/1.1\r\n\r\n", b"\0" * 4_000, b"GET\r\n\r\n"),
    *(b"A" * 200_000, b"GET / HTTP/1.1\n\n", b"CONNECT a:1 HTTP/1.1\r\n\r\n", b"{}\n"),
    b"GET /api/v1/status HTTP/1.1\r\n"
    + b"".join(b"A%d: b\r\n" % n for n in range(9_999)),
    b"GET / HTTP/1.1\r\nA: " + b"b" * 300_000 + b"\r\n\r\n",
)
BODIES = (
    *(b"", b"{", b"null", b"[]", b'"x"', b"{}" * 9, b"\xff\xfe{\0}\0", b"NaN", b"\0"),
    *(b"[" * 50_000, b'{"a":' * 20_000, b"-" + b"9" * 50_000, b'"' + b"\\ud800" * 99),
    *(b'{"key":"\\ud800","content":"\\udfff"}', b'{"key":1e999,"content":NaN}'),
    *(b'{"key":"a","key":"b"}', b'{"content":"' + b"x" * 900_000 + b'"}', b"\x1f\x8b"),
    *(b'{"query":{"$ne":1}}', b'{"namespaces":[' + b'"a:b",' * 9_000 + b'"a:b"]}'),
    *(b'{"key":"__proto__","value":' + b"[" * 900 + b"]" * 900 + b"}", b"a=b&c=d"),
    *(b'{"key":"\\u0000","value":1}', b'{"text":"\xed\xa0\x80"}', b'{"id":true}'),
    *(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', b'[{"jsonrpc":"2.0"}]'),
)


@dataclass
class Outcome:
    """What became of the requests of one client."""

    statuses: Counter[str]
    problems: list[str]


class Attacker:
    """One client; what it sends is made from its seed."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server, self.chance = server, random.Random(seed)
        self.out = Outcome(Counter(), [])
        self.held: list[socket.socket] = []

    def run(self, count: int) -> Outcome:
        """Send so many requests."""
        kinds: tuple[tuple[int, Callable[[], int]], ...] = (
            (600, self.one),
            (60, self.raw),
            (100, self.pipelined),
            (100, self.half_closed),
            (60, self.stopped),
            (60, self.reset),
            (20, self.chunked),
            (1, self.huge),
        )
        weights, chosen = zip(*kinds, strict=True)
        sent = 0
        while sent < count:
            [kind] = self.chance.choices(chosen, weights)
            try:
                sent += kind()
            except TimeoutError:
                self.out.problems.append(f"{kind.__name__}: no answer")
                sent += 1
            except OSError as error:  # it may close what it does not want to read
                self.out.statuses[f"closed ({type(error).__name__})"] += 1
                sent += 1
        for client in self.held:
            client.close()
        return self.out

    def connected(self) -> socket.socket:
        """Return a new connection."""
        return socket.create_connection(("127.0.0.1", self.server.port), TIMEOUT_S)

    def head(self, line: str, *headers: str) -> bytes:
        """Return the head of an honest request."""
        lines = [
            f"{line} HTTP/1.1",
            f"Host: 127.0.0.1:{self.server.port}",
            f"Authorization: Bearer {self.server.token}",
            *headers,
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def finish(self, client: socket.socket) -> None:
        """End what is sent, unless the answer comes: some of it announces more."""
        if not select.select([client], [], [], 2)[0]:
            client.shutdown(socket.SHUT_WR)

    def request(self) -> tuple[bytes, bytes]:
        """Return the method and the bytes of one request."""
        pick, chance = self.chance.choice, self.chance.random
        method, path = pick(METHODS), pick(PATHS)
        if chance() < 0.5:
            path += pick(ODD)
        lines = [method + b" " + path + b" HTTP/1.1"]
        lines += [b"Host: 127.0.0.1:%d" % self.server.port] * (chance() < 0.97)
        if chance() < 0.9:
            lines.append(b"Authorization: Bearer " + self.server.token.encode())
        if chance() < 0.5:
            lines += self.chance.sample(HEADERS, self.chance.randint(1, 3))
        body = b""
        if method in {b"POST", b"PUT", b"PATCH", b"DELETE"}:
            body = pick(BODIES)
            if chance() < 0.1:
                body = self.chance.randbytes(self.chance.randint(1, 3_000))
            lines.append(b"Content-Length: %d" % len(body))
        return method, b"\r\n".join(lines) + b"\r\n\r\n" + body

    def answered(self, client: socket.socket, method: bytes, what: str) -> None:
        """Read and check one answer."""
        reader = _Reader(socket.SocketIO(client, "r"))
        answer = http.client.HTTPResponse(
            reader,  # type: ignore[arg-type]
            method=method.decode(),  # that of HEAD has no body
        )
        try:
            answer.begin()
            kind = answer.headers.get_content_type()
            body = b"" if kind == "text/event-stream" else answer.read()
        except http.client.RemoteDisconnected:
            self.out.statuses["closed"] += 1
            return
        except http.client.HTTPException as error:
            self.out.problems.append(f"{what}: a broken answer: {error!r}")
            return
        self.out.statuses[str(answer.status)] += 1
        # The SDK and the pages have answers of their own.
        is_other = " /mcp" in what or kind in {"text/html", "text/event-stream"}
        if answer.status not in DOCUMENTED and not is_other:
            self.out.problems.append(f"{what}: {answer.status} {body[:200]!r}")
        if answer.status >= 400 and body and not is_other:
            with suppress(ValueError):
                said = json.loads(body)
                if isinstance(said, dict) and {"error", "message"} & set(said):
                    return
            self.out.problems.append(f"{what}: says {body[:200]!r}")

    def one(self) -> int:
        """Send one request, whatever it is."""
        method, sent = self.request()
        with self.connected() as client:
            client.sendall(sent)
            self.finish(client)
            self.answered(client, method, repr(sent[:300]))
        return 1

    def raw(self) -> int:
        """Send what is no request."""
        with self.connected() as client:
            sent = self.chance.choice(RAW)
            if self.chance.random() < 0.3:
                sent = self.chance.randbytes(self.chance.randint(1, 2_000))
            client.sendall(sent)
            self.finish(client)
            self.answered(client, b"GET", repr(sent[:100]))
        return 1

    def pipelined(self) -> int:
        """Send several honest requests at once: they are answered in order."""
        asked = [self.chance.choice(("ok", "none", "wrong")) for _ in range(10)]
        paths = {
            "ok": "GET /healthz",
            "none": "GET /api/v1/none",
            "wrong": "PUT /api/v1/status",
        }
        expected = {"ok": 200, "none": 404, "wrong": 405}
        with self.connected() as client:
            reader = _Reader(socket.SocketIO(client, "r"))
            client.sendall(
                b"".join(self.head(paths[kind], "Content-Length: 0") for kind in asked)
            )
            for kind in asked:
                answer = http.client.HTTPResponse(reader)  # type: ignore[arg-type]
                answer.begin()
                answer.read()
                self.out.statuses[str(answer.status)] += 1
                if answer.status != expected[kind]:
                    self.out.problems.append(f"pipelined: {kind}: {answer.status}")
        return len(asked)

    def half_closed(self) -> int:
        """Close the sending half after an honest request."""
        with self.connected() as client:
            client.sendall(self.head("GET /api/v1/search?q=port"))
            client.shutdown(socket.SHUT_WR)
            self.answered(client, b"GET", "half closed")
        return 1

    def stopped(self) -> int:
        """Stop half-way and keep the connection, of which some are kept at once."""
        client = self.connected()
        sent = self.request()[1]
        client.sendall(sent[: self.chance.randint(0, len(sent) - 1)])
        self.held.append(client)
        if len(self.held) > 40:
            self.held.pop(0).close()
        return 1

    def reset(self) -> int:
        """Send a request and reset the connection."""
        with self.connected() as client:
            client.sendall(self.request()[1])
            linger = struct.pack("ii", 1, 0)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        return 1

    def chunked(self) -> int:
        """Send chunks of the wrong size, and without an end."""
        head = self.head("POST /api/v1/memories", "Transfer-Encoding: chunked")
        sizes = (b"5", b"ffffffffffffffff", b"-1", b"0x5", b"5;a=" + b"b" * 9_000, b"")
        with self.connected() as client:
            client.sendall(
                head + self.chance.choice(sizes) + b"\r\n{}{}{}\r\n0\r\n\r\n"
            )
            self.finish(client)
            self.answered(client, b"POST", "chunked")
        return 1

    def huge(self) -> int:
        """Send 100 MB, announced or not."""
        is_announced = self.chance.random() < 0.5
        length = (
            f"Content-Length: {HUGE}" if is_announced else "Transfer-Encoding: chunked"
        )
        with self.connected() as client:
            client.sendall(self.head("POST /api/v1/notes", length))
            piece = b"x" * 65_536
            if not is_announced:
                piece = b"10000\r\n" + piece + b"\r\n"
            try:
                for _ in range(HUGE // 65_536):
                    client.sendall(piece)
            except OSError:
                self.out.statuses["closed while it was sent"] += 1
            with suppress(OSError):
                self.answered(client, b"POST", "huge")
        return 1


class _Reader(io.BufferedReader):
    """What ``HTTPResponse`` takes for a socket: several answers share a connection."""

    def makefile(self, _mode: str) -> _Reader:
        """Return itself."""
        return self

    def close(self) -> None:
        """Stay open after an answer: another may follow."""


def _attack(server: Server, seed: int, count: int) -> Outcome:
    """Send the requests of one client."""
    return Attacker(server, seed).run(count)


def main() -> int:
    """Attack, print what came back, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    share = -(-given.requests // given.clients)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "memory").mkdir()
        (home / "memory" / "a.md").write_text("# Port\n\nPostgres: port 5433.\n")
        with opening.open_memory(home=str(home)) as memory:
            memory.sync()
        with running(True, home) as server:
            shown = Server(None, server.port, server.token, 0)  # type: ignore[arg-type]
            jobs = [
                (shown, given.seed * 1_000 + n, share) for n in range(given.clients)
            ]
            peak = slowest_s = 0.0
            with multiprocessing.get_context("fork").Pool(given.clients) as pool:
                waiting = pool.starmap_async(_attack, jobs, chunksize=1)
                while not waiting.ready() and server.process.poll() is None:
                    waiting.wait(2)
                    peak = max(peak, memory_mb(server.process.pid))
                    slowest_s = max(slowest_s, honest_s(server))
                is_alive = server.process.poll() is None
                outcomes = waiting.get(TIMEOUT_S) if is_alive else []
            end = memory_mb(server.process.pid) if is_alive else 0
    statuses: Counter[str] = sum((outcome.statuses for outcome in outcomes), Counter())
    problems = [problem for outcome in outcomes for problem in outcome.problems]
    print(", ".join(f"{name}: {count:,}" for name, count in sorted(statuses.items())))
    for problem in problems[:20]:
        print(f"  {problem}")
    print(
        f"{given.requests:,} hostile requests: {len(problems)} wrong answers,"
        f" {'alive' if is_alive else 'DEAD'}, memory {peak:.0f} MB at most and"
        f" {end:.0f} MB at the end, the slowest honest request {slowest_s:.2f} s"
    )
    return 0 if is_alive and not problems and peak <= MAX_MB else 1


def memory_mb(process: int) -> float:
    """Return the memory of a process, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(one for one in status.splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def honest_s(server: Server) -> float:
    """Return how long an honest search takes; it has to be answered."""
    began = time.perf_counter()
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
    headers = {"Authorization": f"Bearer {server.token}"}
    client.request("GET", "/api/v1/search?q=postgres+port", headers=headers)
    answer = client.getresponse()
    said = answer.read()
    client.close()
    assert answer.status == 200, said
    assert json.loads(said)["hits"], said
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
