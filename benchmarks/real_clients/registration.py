"""Clients that keep a list of servers: added by their own command, and connected.

Codex only keeps its settings and connects when it runs; what it does then is shown in
``agents``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.real_clients.check import Check, FailedError, tail
from benchmarks.real_clients.scratch import NAME, Scratch

STRANGER = "stranger"
"""The name under which the server is added once more, with a wrong token."""

WRONG = "not-the-token-of-this-server"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lister:
    """A client that lists its servers and says which of them it reaches."""

    program: str
    stdio: tuple[str, ...]
    """Words after ``mcp add``, up to the server's command."""

    http: Callable[[str, str, str], tuple[str, ...]]
    """From name, address and token to the words after ``mcp add``."""

    reached: str
    """What its line of the list holds when it has reached a server."""

    refused: str
    """What it holds when the token is wrong."""


def _claude_http(name: str, url: str, token: str) -> tuple[str, ...]:
    header = ("--header", f"Authorization: Bearer {token}")
    return ("--scope", "user", "--transport", "http", name, url, *header)


def _gemini_http(name: str, url: str, token: str) -> tuple[str, ...]:
    header = ("--header", f"Authorization: Bearer {token}")
    return ("--scope", "user", "--transport", "http", *header, name, url)


def _opencode_http(name: str, url: str, token: str) -> tuple[str, ...]:
    return (name, "--url", url, "--header", f"Authorization=Bearer {token}")


LISTERS = (
    Lister(
        program="claude",
        stdio=("--scope", "user", NAME, "--"),
        http=_claude_http,
        reached="✔ Connected",
        refused="✘ Failed to connect — Server rejected the configured"
        " Authorization header (HTTP 401)",
    ),
    Lister(
        program="gemini",
        stdio=("--scope", "user", NAME),
        http=_gemini_http,
        reached="✓ NAME",
        refused="Disconnected",
    ),
    Lister(
        program="opencode",
        stdio=(NAME, "--"),
        http=_opencode_http,
        reached="✓ NAME connected",
        refused="✗ NAME failed",
    ),
    Lister(
        program="qwen",
        stdio=("--scope", "user", NAME),
        http=_gemini_http,
        reached="✓ NAME",
        refused="Disconnected",
    ),
)


def checks() -> list[Check]:
    """Return the checks."""
    over_stdio = [
        Check(
            name=f"{lister.program} mcp list, stdio",
            programs=(lister.program,),
            run=partial(_over_stdio, lister),
            is_quick=lister.program == "claude",
        )
        for lister in LISTERS
    ]
    over_http = [
        Check(
            name=f"{lister.program} mcp list, HTTP, right and wrong token",
            programs=(lister.program,),
            run=partial(_over_http, lister),
            needs_http=True,
        )
        for lister in LISTERS
    ]
    codex = Check(
        name="codex mcp add, list, get",
        programs=("codex",),
        run=_codex,
        needs_server=False,
    )
    return [*over_stdio, *over_http, codex]


def _over_stdio(client: Lister, place: Scratch) -> str:
    """Add the server's command; the list says that it answers."""
    place.must(client.program, "mcp", "add", *client.stdio, *place.server)
    line = line_of(client, place, NAME)
    see(line, client.reached, NAME)
    return client.reached.replace("NAME", NAME)


def _over_http(client: Lister, place: Scratch) -> str:
    """Add the address twice; the list tells the right token from the wrong one."""
    with place.http() as (url, token):
        for name, given in ((NAME, token), (STRANGER, WRONG)):
            place.must(client.program, "mcp", "add", *client.http(name, url, given))
        see(line_of(client, place, NAME), client.reached, NAME)
        see(line_of(client, place, STRANGER), client.refused, STRANGER)
    good, bad = client.reached, client.refused
    return f"{good.replace('NAME', NAME)}; wrong: {bad.replace('NAME', STRANGER)}"


def line_of(client: Lister, place: Scratch, name: str) -> str:
    """Return what the client's list says of a server.

    Raises:
        FailedError: It does not list it.
    """
    # An exit code of 0 says nothing: Claude Code lists what it does not reach too.
    trusting = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    done = place.run(client.program, "mcp", "list", env=trusting)
    for line in _COLOUR.sub("", done.text).splitlines():
        if name in line:
            return line.strip()
    raise FailedError(f"{name} is not listed: {tail(done.text)!r}")


def see(line: str, wanted: str, name: str) -> None:
    """See that a line of the list says what it must.

    Raises:
        FailedError: It does not.
    """
    if wanted.replace("NAME", name) not in line:
        raise FailedError(f"listed as {line!r}")


def _codex(place: Scratch) -> str:
    """Add, list, show: the command is kept as it was given."""
    place.must("codex", "mcp", "add", NAME, "--env", "A=B", "--", *place.server)
    [listed] = json.loads(place.must("codex", "mcp", "list", "--json"))
    kept = [listed["transport"]["command"], *listed["transport"]["args"]]
    if kept != [*place.server]:
        raise FailedError(f"listed as {kept}")
    shown = place.must("codex", "mcp", "get", NAME)
    if "enabled: true" not in shown:
        raise FailedError(f"shown as {tail(shown)!r}")
    return "added, listed, enabled (it connects only when it runs)"
