"""Does a crowd of idle and slow clients keep `hm serve` from answering the others?

    python -m benchmarks.http_crowd [--streams 1000] [--slow 200] [--rounds 3]

Holds streams of events open, on which nothing happens, and at the same time keeps slow
clients: some send the head of a request byte by byte, some a body, and some read a
large answer in small pieces. Who is cut off comes back at once. Two others search
meanwhile. Their 95th percentile may be 1.5 times that of searches without the crowd;
both are measured in turns on one server. Exits 1 if it is more, or if an answer is
wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Event
from pathlib import Path

from benchmarks.http_speed import QUESTIONS, Server, listening, rate_of, running
from benchmarks.mcp_start import write_notes
from hivemind_memory import opening

MOST = 1.5
STEP_S = 0.25
"""Between two pieces of a slow client: some 800 pieces a second from 200 of them."""

BODY = b'{"key": "slow", "content": "' + b"x" * 4_000


def requests(server: Server) -> tuple[bytes, bytes, bytes]:
    """Return the beginnings of requests: in the head, in the body, and a whole one."""
    common = (
        f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    ).encode()
    return (
        b"GET /api/v1/status HTTP/1.1\r\n" + common + b"X-Slow: " + b"x" * 4_000,
        b"POST /api/v1/memories HTTP/1.1\r\n"
        + common
        + b"Content-Length: 9000\r\n\r\n"
        + BODY,
        b"GET /api/v1/openapi.json HTTP/1.1\r\n" + common + b"\r\n",
    )


async def slow_client(server: Server, number: int) -> None:
    """Keep the server waiting, again and again."""
    kind = number % 3
    sent = requests(server)[kind]
    # The head of a request whose body is slow arrives at once.
    at_once = (0, sent.index(b"\r\n\r\n") + 4 if kind == 1 else 0, len(sent))[kind]
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", server.port, limit=1024
            )
            try:
                writer.write(sent[:at_once])
                for at in range(at_once, len(sent)):
                    writer.write(sent[at : at + 1])
                    await writer.drain()
                    await asyncio.sleep(STEP_S)
                while await reader.read(512):
                    await asyncio.sleep(STEP_S)
            finally:
                writer.close()
        await asyncio.sleep(STEP_S)


def _slow_clients(server: Server, count: int, ready: Event) -> None:
    """Run the slow clients in a process of their own, until it is killed."""

    async def run() -> None:
        clients = [asyncio.ensure_future(slow_client(server, n)) for n in range(count)]
        await asyncio.sleep(2)
        ready.set()
        await asyncio.gather(*clients)

    asyncio.run(run())


@contextmanager
def crowd(server: Server, streams: int, slow: int) -> Iterator[None]:
    """Have both kinds of clients while the block runs."""
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    shown = Server(None, server.port, server.token, 0)  # type: ignore[arg-type]
    process = context.Process(target=_slow_clients, args=(shown, slow, ready))
    with listening(server, streams):
        process.start()
        try:
            assert ready.wait(60)
            yield
        finally:
            process.kill()
            process.join()


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--slow", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--requests", type=int, default=100, help="of each client")
    given = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = given.streams + given.slow + 256
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_notes(home / "memory", given.notes)
        with opening.open_memory(home=str(home)) as memory:
            memory.sync()
        with running(True, home) as server:
            time.sleep(2)
            for _ in range(given.rounds):
                alone = rate_of(server, QUESTIONS, 2, given.requests)
                with crowd(server, given.streams, given.slow):
                    beside = rate_of(server, QUESTIONS, 2, given.requests)
                ratios.append(beside[1] / alone[1])
                print(
                    f"p95 {alone[1]:.0f} ms alone, {beside[1]:.0f} ms beside the crowd"
                    f" ({ratios[-1]:.2f}); {alone[0]:.0f} and {beside[0]:.0f} a second"
                )
            is_alive = server.process.poll() is None
    ratio = statistics.median(ratios)
    print(
        f"{given.streams} idle streams and {given.slow} slow clients:"
        f" p95 {ratio:.2f} times that without, at most {MOST}"
    )
    return 0 if is_alive and ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
