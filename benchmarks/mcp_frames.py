"""Send hostile frames to `hm mcp`, and count what it leaves unanswered.

    python -m benchmarks.mcp_frames [--frames 100000] [--seed 1]

Frames are made from good ones: cut, doubled, mutated byte by byte, with arguments of
wrong types, paths that lead out, halves of characters, deep nesting, numbers without
end. Each that has a readable id must be answered, each line of the answers must be
JSON-RPC, and at the end the server must answer a search and leave. One frame in fifty
is a call without a flaw, which has to be answered rightly.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "hivemind_memory.cli", "mcp")
TIMEOUT_S = 60.0
WINDOW = 200
"""Open requests at most, as a client has that means well of itself."""

ONE_VALID_IN = 50
HERON = "The heron stands in the reeds."
VALID_CALLS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("memory_search", {"query": "where does the heron stand"}, HERON),
    ("memory_get", {"path": "heron.md"}, HERON),
    ("memory_list", {}, "heron.md"),
    ("memory_write", {"content": "A crane.", "file": "crane.md"}, "crane.md"),
)
"""Tool, arguments, and what its answer says."""

HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "hostile", "version": "1"},
    },
}
METHODS = (
    "tools/call",
    "tools/list",
    "ping",
    "initialize",
    "resources/list",
    "resources/read",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
    "notifications/cancelled",
    "rpc.x",
    "",
    "\u202e",
)
TOOLS = (
    "memory_search",
    "memory_write",
    "memory_get",
    "memory_list",
    "memory_save",
    "memory_history",
    "memory_link",
    "memory_forget",
    "memory_learn",
    "nope",
    "\x1b[31m",
)
NAMES = (
    "query",
    "content",
    "file",
    "path",
    "from",
    "lines",
    "max_results",
    "min_score",
    "key",
    "type",
    "to",
    "kind",
    "related",
    "id",
)
TEXTS = (
    "fish",
    "",
    "../x.md",
    "/etc/passwd",
    "a\x00.md",
    "%2e%2e/x.md",
    "~/x.md",
    "a\\b.md",
    ".index/x.md",
    "a.md",
    "\ud800",
    "\udfff\ud800",
    "\u202e\u200b\ufeff",
    "x" * 5000,
    '" OR 1=1 --',
    "NEAR(a b)",
    "🐟" * 50,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How a run ended."""

    answered: int
    unanswered: tuple[str, ...]
    stray_lines: int
    wrong: tuple[str, ...]
    """Answers to calls without a flaw that are not what was asked for."""

    is_alive: bool
    """It answered a search afterwards and left when its input ended."""

    took_s: float


def run_frames(
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    frames: int,
    seed: int,
    timeout_s: float = TIMEOUT_S,
) -> Told:
    """Send *frames* frames to a server, write a note, return how it bore them."""
    started = time.monotonic()
    note = Path(env["HIVEMIND_HOME"], "memory", "heron.md")
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(f"{HERON}\n", encoding="utf-8")
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(env),
    ) as process:
        line = _Line(process, timeout_s)
        try:
            line.send(json.dumps(HELLO).encode(), "hello")
            line.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', "")
            for number, (data, given) in enumerate(
                _frames(random.Random(seed), frames)
            ):
                line.send(data, given)
                if number % ONE_VALID_IN == 0:
                    line.call(
                        f"v{number}",
                        *VALID_CALLS[number // ONE_VALID_IN % len(VALID_CALLS)],
                    )
            line.drain()
            line.call("last", "memory_search", {"query": "fish"}, "report")
            line.drain()
            is_alive = process.poll() is None and "last" not in line.open
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            is_alive = False
        finally:
            process.kill()
    return Told(
        answered=line.answered,
        unanswered=tuple(line.open),
        stray_lines=line.stray,
        wrong=tuple(line.wrong),
        is_alive=is_alive,
        took_s=time.monotonic() - started,
    )


class _Line:
    """The two pipes, read and written without waiting for either alone."""

    def __init__(self, process: subprocess.Popen[bytes], timeout_s: float) -> None:
        self._wait_s = timeout_s
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        # A pipe with room for one page would keep a longer write, and both would wait.
        os.set_blocking(self._in, False)
        self._rest = b""
        self.open: Counter[str] = Counter()
        self.answered = self.stray = 0
        self._wanted: dict[str, str] = {}
        self.wrong: list[str] = []

    def call(
        self, given: str, tool: str, arguments: Mapping[str, str], wanted: str
    ) -> None:
        """Send a call without a flaw, whose answer has to say what is *wanted*."""
        self._wanted[given] = wanted
        params = {"name": tool, "arguments": arguments}
        frame = {"jsonrpc": "2.0", "id": given, "method": "tools/call"}
        self.send(json.dumps({**frame, "params": params}).encode(), given)

    def send(self, data: bytes, given: str) -> None:
        """Send a line; *given* is the id that must be answered, if any."""
        if given:
            self.open[given] += 1
        rest = memoryview(data.replace(b"\n", b" ") + b"\n")
        while rest:
            may_write = len(self.open) < WINDOW
            wanted = [self._in] if may_write else []
            readable, writable, _ = select.select([self._out], wanted, [], self._wait_s)
            if readable:
                self._read()
            if writable:
                rest = rest[os.write(self._in, rest[:65536]) :]
            if not readable and not writable:
                return  # what is open stays open, and is told

    def drain(self) -> None:
        """Read until nothing is open, or nothing comes any more."""
        while self.open and select.select([self._out], [], [], self._wait_s)[0]:
            self._read()

    def _read(self) -> None:
        data = os.read(self._out, 1 << 16)
        if not data:
            raise BrokenPipeError
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                answer = json.loads(line)
                is_protocol = answer["jsonrpc"] == "2.0"
            except (ValueError, KeyError, TypeError):
                is_protocol = False
            self.stray += not is_protocol
            given = str(answer.get("id")) if is_protocol else ""
            wanted = self._wanted.pop(given, "")
            result = answer.get("result", {}) if wanted else {}
            if wanted and (result.get("isError") or wanted not in json.dumps(result)):
                self.wrong.append(f"{given}: {line[:300]!r}")
            if given in self.open:
                self.answered += 1
                self.open[given] -= 1
                if not self.open[given]:
                    del self.open[given]


def _frames(rng: random.Random, count: int) -> Iterator[tuple[bytes, str]]:
    """Yield frames with the id that each must be answered by, empty for none."""
    for number in range(count):
        given = f"n{number}"
        kind = rng.random()
        if kind < 0.55:
            yield _call(rng, given)
        elif kind < 0.65:
            yield _deep(rng, given)
        elif kind < 0.75:
            yield _odd_envelope(rng, given)
        else:
            yield _mutated(rng, given)


def _call(rng: random.Random, given: str) -> tuple[bytes, str]:
    """Return a well-formed request with senseless content."""
    method = rng.choice(METHODS) if rng.random() < 0.3 else "tools/call"
    names = rng.sample(NAMES, rng.randrange(4))
    params = {
        "name": rng.choice(TOOLS) if rng.random() < 0.9 else _value(rng),
        "arguments": {name: _value(rng) for name in names},
    }
    if rng.random() < 0.1:
        params["_meta"] = {"progressToken": _value(rng), "x": _value(rng)}
    frame = {"jsonrpc": "2.0", "id": given, "method": method, "params": params}
    return json.dumps(frame, ensure_ascii=True).encode(), given


def _value(rng: random.Random, depth: int = 0) -> object:
    """Return a value of any type."""
    kind = rng.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 7:
        return {rng.choice(TEXTS): _value(rng, depth + 1)}
    return (
        rng.choice(TEXTS),
        rng.choice(TEXTS),
        rng.choice((0, 1, -1, 2**31, 10**40, -(10**400))),
        rng.choice((0.0, 0.5, 1e308, float("inf"), float("nan"), -0.0)),
        rng.choice((True, False, None)),
        str(rng.choice((3, 0.4, "NaN", "1e999", "[[", "null"))),
    )[kind]


def _deep(rng: random.Random, given: str) -> tuple[bytes, str]:
    """Return a request with deep nesting or a number without end."""
    depth = rng.choice((50, 150, 250, 900, 1500, 20_000))
    opening, closing = rng.choice((("[", "]"), ('{"a":', "}")))
    inner = opening * depth + "1" + closing * depth
    if rng.random() < 0.3:
        inner = "1" * rng.choice((400, 5000))
    frame = (
        f'{{"jsonrpc":"2.0","id":"{given}","method":"tools/call","params":'
        f'{{"name":"memory_search","arguments":{{"query":{inner}}}}}}}'
    )
    return frame.encode(), given


def _odd_envelope(rng: random.Random, given: str) -> tuple[bytes, str]:
    """Return a request whose outermost object is not as it should be."""
    frame: dict[str, object] = {"jsonrpc": "2.0", "id": given, "method": "ping"}
    part = rng.choice(("jsonrpc", "method", "params"))
    frame[part] = _value(rng)
    if rng.random() < 0.3:
        frame.pop(rng.choice(("jsonrpc", "method")), None)
    if rng.random() < 0.2:
        return json.dumps([frame]).encode(), given if "method" in frame else ""
    if frame.get("method") == "notifications/cancelled":
        frame["params"] = {}
    return json.dumps(frame).encode(), given


def _mutated(rng: random.Random, given: str) -> tuple[bytes, str]:
    """Return a request with broken bytes behind its id."""
    frame = (
        f'{{"jsonrpc":"2.0","id":"{given}","method":"tools/call","params":'
        '{"name":"memory_search","arguments":{"query":"fish \\u00e9"}}}'
    )
    head = frame.index('"method"')
    data = bytearray(frame.encode())
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(head, len(data))
        what = rng.randrange(4)
        if what == 0:
            data[at] = rng.randrange(256)
        elif what == 1:
            del data[at:]
            data += b"   " if len(data) <= head else b""
            head = min(head, len(data) - 1)
        elif what == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(3))
        else:
            data[at:at] = data[head:at]
    return bytes(data), given


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--patience", type=float, default=TIMEOUT_S, help="seconds without an answer"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HIVEMIND_HOME": home,
            "HIVEMIND_EMBEDDING_PROVIDER": "none",
        }
        told = run_frames(
            COMMAND,
            env,
            frames=given.frames,
            seed=given.seed,
            timeout_s=given.patience,
        )
    print(
        f"{given.frames:,} frames in {told.took_s:.0f} s: {told.answered:,} answered,"
        f" {len(told.unanswered)} unanswered, {told.stray_lines} stray lines,"
        f" {len(told.wrong)} wrong,"
        f" {'alive and left' if told.is_alive else 'DEAD OR STUCK'}"
    )
    for request in told.unanswered[:10]:
        print("unanswered:", request)
    for answer in told.wrong[:10]:
        print("wrong:", answer)
    is_well = told.is_alive and not (told.unanswered or told.stray_lines or told.wrong)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
