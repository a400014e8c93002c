"""A real ``hm serve`` in a process of its own, and real clients of it."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from hivemind_memory import opening
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.model.curation import NewMemory
from tests.support.forked import HM, start

TIMEOUT_S = 120.0
"""Machines are busy; a test that waits so long has failed."""

NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For ``verify``: the servers speak plain HTTP, and certificates take 20 ms."""


@dataclass(frozen=True)
class Served:
    """A server that is there."""

    process: subprocess.Popen[str]
    url: str
    """Without a path: ``http://127.0.0.1:40123``."""

    token: str
    """Its own."""

    announced: tuple[str, ...]
    """What it said when it started."""

    def ask(
        self,
        method: str,
        path: str,
        *,
        token: str | None = "",
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> httpx.Response:
        """Send a request and return its answer.

        Args:
            method: Of the request.
            path: With its query.
            token: Who asks; empty: the server's own token, None: a visitor.
            headers: Further ones.
            more: What else ``httpx.request`` takes: ``json``, ``content``, ``params``.
        """
        sent = (
            {} if token is None else {"Authorization": f"Bearer {token or self.token}"}
        )
        return httpx.request(
            method,
            self.url + path,
            headers={**sent, **(headers or {})},
            timeout=TIMEOUT_S,
            trust_env=False,
            verify=NO_CERTIFICATES,
            **more,
        )


@contextmanager
def serving(*words: str, max_files: int = 0) -> Iterator[Served]:
    """Run a server on a free port, from when it says where it is.

    Args:
        words: Further arguments of ``hm serve``.
        max_files: How many files it may have open; 0: as many as this process.
    """
    with start(
        [*HM, "serve", "--port", "0", *words],
        max_files=max_files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as process:
        try:
            assert process.stderr is not None
            lines = [process.stderr.readline()]
            while lines[-1] and not lines[-1].startswith("programs:"):
                lines.append(process.stderr.readline())
            assert lines[-1], "".join(lines)
            file = Path(lines[1].removeprefix("token in ").strip())
            token = file.read_text(encoding="utf-8").strip()
            yield Served(process, lines[0].split()[-1], token, tuple(lines))
        finally:
            process.kill()
            assert process.stdout is not None
            assert process.stdout.read() == ""


def add_token(name: str, **scopes: Any) -> str:
    """Make a named token in the home of the environment; return it."""
    with opening.open_memory() as memory:
        tokens = AccessTokens(memory.state(), memory.clocks, memory.caller)
        return tokens.add(name, **scopes)


def save(key: str, content: str, scope: str = "global", **more: Any) -> str:
    """Save a memory as the owner; return its id."""
    new = NewMemory(key=key, content=content, scope=scope, **more)
    with opening.open_memory() as memory:
        return memory.curation.save(new).id
