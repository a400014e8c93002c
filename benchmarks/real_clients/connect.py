"""`hm connect`, judged by the clients: what it writes is what they read and reach.

Wants an `hm` that is installed: the source tree's needs this shell's environment, which
no client has, and `hm connect` rightly refuses to register it.
"""

from __future__ import annotations

import re
from functools import partial

from benchmarks.real_clients.check import Check, FailedError, SkippedError, tail
from benchmarks.real_clients.registration import LISTERS, Lister, line_of, see
from benchmarks.real_clients.scratch import NAME, Scratch

_ARGS = re.compile(r"args: .*\bmcp$", re.MULTILINE)
_URL = re.compile(r"url: http://127\.0\.0\.1:")
_NOT_INSTALLED = "does not run without the environment"


def checks() -> list[Check]:
    """Return the checks."""
    listed = [
        Check(
            name=f"hm connect {lister.program}, its own list, hm disconnect",
            programs=(lister.program,),
            run=partial(_connect, lister),
            needs_server=False,
            needs_hm=True,
        )
        for lister in LISTERS
    ]
    codex = Check(
        name="hm connect codex, its own list, hm disconnect",
        programs=("codex",),
        run=_codex,
        needs_server=False,
        needs_hm=True,
    )
    switched = Check(
        name="hm connect codex --http and back, Codex still starts",
        programs=("codex",),
        run=_codex_switched,
        needs_server=False,
        needs_hm=True,
    )
    return [*listed, codex, switched]


def _connect(client: Lister, place: Scratch) -> str:
    """Connect; the client's list says so; disconnect, and it is not listed."""
    run_hm(place, "connect", client.program)
    see(line_of(client, place, NAME), client.reached, NAME)
    run_hm(place, "disconnect", client.program)
    try:
        line = line_of(client, place, NAME)
    except FailedError:
        return f"{client.reached.replace('NAME', NAME)}; then not listed"
    raise FailedError(f"after hm disconnect it is listed as {line!r}")


def _codex(place: Scratch) -> str:
    """The same for Codex, which shows what it would start and does not start it."""
    run_hm(place, "connect", "codex")
    shown = place.run("codex", "mcp", "get", NAME)
    if "enabled: true" not in shown.text or not _ARGS.search(shown.text):
        raise FailedError(f"shown as {tail(shown.text)!r}")
    run_hm(place, "disconnect", "codex")
    if place.run("codex", "mcp", "get", NAME).code == 0:
        raise FailedError("after hm disconnect it is there")
    return "shown as enabled; then not there"


def _codex_switched(place: Scratch) -> str:
    """Change from a program to an address and back; Codex reads each of them."""
    for words, wanted in (
        ((), _ARGS),
        (("--http",), _URL),
        ((), _ARGS),
    ):
        run_hm(place, "connect", "codex", *words)
        shown = place.run("codex", "mcp", "get", NAME)
        if shown.code != 0 or not wanted.search(shown.text):
            raise FailedError(f"after {words or 'stdio'}: {tail(shown.text)!r}")
    return "started with each of them"


def run_hm(place: Scratch, *words: str) -> None:
    """Run `hm`, as it is installed, with no question asked."""
    done = place.run(*place.setting.hm, *words, "--yes")
    if _NOT_INSTALLED in done.text:
        raise SkippedError("wants an installed hm: --hm FILE")
    if done.code != 0:
        raise FailedError(f"hm {words[0]}: exit {done.code}: {tail(done.text)!r}")
