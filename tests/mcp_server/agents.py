"""What agents do in these tests: the SDK's client in memory, and bytes on pipes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.types import CallToolResult, TextContent

from hivemind_memory.mcp_server.server import MemoryServer
from tests.support.forked import HM, start

ROOT = Path(__file__).parents[2]
MODES = ("auto", "legacy", "2026-07-28")
COMMAND = (*HM, "mcp")
TIMEOUT_S = 120.0
"""Machines are busy; a test that waits so long has failed."""


def initialize_request(number: int, client: str) -> dict[str, Any]:
    """The first request of a client in the older protocols."""
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": client, "version": "1"},
        },
    }


def environ() -> dict[str, str]:
    """The environment of this process, in which the package is found."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def call(
    server: MemoryServer, tool: str, mode: str = "auto", **arguments: Any
) -> CallToolResult:
    """Call a tool as a client does that speaks a version of the protocol."""
    [result] = calls(server, [(tool, arguments)], mode)
    return result


def calls(
    server: MemoryServer,
    wanted: Sequence[tuple[str, dict[str, Any]]],
    mode: str = "auto",
) -> list[CallToolResult]:
    """Call tools one after the other over one connection."""

    async def run() -> list[CallToolResult]:
        async with Client(server, mode=mode) as client:
            return [await client.call_tool(tool, given) for tool, given in wanted]

    return anyio.run(run)


def text_of(result: CallToolResult) -> str:
    """The text that some clients show instead of the object."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def found(result: CallToolResult) -> dict[str, Any]:
    """The object that some clients show instead of the text."""
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


def refused(result: CallToolResult) -> str:
    """The sentence with which a call was refused."""
    assert result.is_error
    text = text_of(result)
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) < 1200
    return text


def is_frame(line: bytes) -> bool:
    """Whether a line that a server printed is one whole message of the protocol."""
    frame = json.loads(line)
    kinds = {"method", "result", "error"} & frame.keys()
    return line.endswith(b"\n") and frame["jsonrpc"] == "2.0" and len(kinds) == 1


def recorded(command: Sequence[str], file: Path) -> list[str]:
    """Return a command whose standard output is also kept in a file."""
    return ["sh", "-c", 'file=$1; shift; "$@" | tee "$file"', "sh", str(file), *command]


class Pipes:
    """A client that speaks raw bytes to a server process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._in = process.stdin
        # A pipe with room for one page would keep a longer write, and both would wait.
        os.set_blocking(self._in.fileno(), False)
        self._out = process.stdout.fileno()
        self.rest = b""
        """What it has printed of a line that is not ended."""
        self.raw: list[bytes] = []
        """Every line that the server has printed."""

    def send(self, *frames: bytes) -> None:
        """Send lines, reading what comes meanwhile so that nobody blocks."""
        for frame in frames:
            rest = memoryview(frame + b"\n")
            while rest:
                readable, writable, _ = select.select(
                    [self._out], [self._in], [], TIMEOUT_S
                )
                assert readable or writable, "the server hangs"
                if readable:
                    self._read()
                if writable:
                    rest = rest[os.write(self._in.fileno(), rest[:65536]) :]

    def ask(self, method: str, given: object = 1, **params: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        frame = {"jsonrpc": "2.0", "id": given, "method": method, "params": params}
        self.send(json.dumps(frame).encode())
        return self.answer_to(given)

    def call(self, tool: str, given: object = 1, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        answer = self.ask("tools/call", given, name=tool, arguments=arguments)
        result: dict[str, Any] = answer["result"]
        return result

    def initialize(self) -> dict[str, Any]:
        """Shake hands."""
        answer = self.ask(
            "initialize",
            "hello",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "piper", "version": "1"},
        )
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def answer_to(self, given: object) -> dict[str, Any]:
        """Wait for the answer with an id."""
        until_s = time.monotonic() + TIMEOUT_S
        seen = 0
        while True:
            for line in self.raw[seen:]:
                answer: dict[str, Any] = json.loads(line)
                if answer.get("id") == given:
                    return answer
            seen = len(self.raw)
            left_s = until_s - time.monotonic()
            assert left_s > 0, f"no answer to {given!r}"
            if select.select([self._out], [], [], left_s)[0]:
                assert self._read(), f"the server ended before it answered {given!r}"

    def read_to_end(self) -> None:
        """Close the input and read what is left."""
        self._in.close()
        while self._read():
            pass

    def _read(self) -> bool:
        """Take in what is there; return False at the end."""
        data = os.read(self._out, 1 << 16)
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.raw += lines
        return bool(data)


@contextmanager
def piped(command: Sequence[str] = COMMAND) -> Iterator[Pipes]:
    """Run a server over pipes; all that it printed must be JSON-RPC."""
    with start(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ(),
    ) as process:
        pipes = Pipes(process)
        try:
            yield pipes
        finally:
            process.kill()
    assert all(is_frame(line + b"\n") for line in pipes.raw)
    if process.returncode == 0:  # killed, it may have been in the midst of a line
        assert pipes.rest == b""
