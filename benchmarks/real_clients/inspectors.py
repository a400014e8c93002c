"""Command-line clients: the MCP Inspector in each protocol era, mcporter, mcp-cli."""

from __future__ import annotations

import json
import shlex
from functools import partial
from typing import Any

from benchmarks.real_clients.check import Check, FailedError, expect, tail
from benchmarks.real_clients.programs import Done
from benchmarks.real_clients.registration import WRONG
from benchmarks.real_clients.scratch import NAME, PORT, QUESTION, Scratch

ERAS = ("legacy", "auto", "modern")
CALLS: tuple[tuple[str, dict[str, object], str], ...] = (
    # A tool that is listed and not here is counted in what the check says.
    ("memory_write", {"content": "Seals rest here.", "file": "seals.md"}, "seals.md"),
    ("memory_search", {"query": QUESTION}, PORT),
    ("memory_get", {"path": "projects/harbour.md", "from": 1, "lines": 1}, PORT),
    ("memory_list", {}, "projects/harbour.md"),
    ("memory_save", {"key": "tide", "content": "Spring tide."}, "tide"),
    ("memory_history", {"key": "tide"}, "Spring tide."),
    ("memory_save", {"key": "neap", "content": "A low tide."}, "neap"),
    ("memory_link", {"from": "tide", "to": "neap", "kind": "related_to"}, "neap.md"),
    ("memory_forget", {"key": "tide"}, "tide"),
    ("memory_learn", {"topic": "tides", "claim": "Two a day."}, "learn:tides"),
)
"""Every tool: name, arguments, and what both sides of its result must hold."""

LOAD_REQUESTS = 200
LOAD_CONCURRENCY = 4
TOOL_ERROR = 5  # exit codes of the inspector
NO_ACCESS = 3
INSPECTOR = "mcp-inspector"


def checks() -> list[Check]:
    """Return the checks."""
    by_era = [
        Check(
            name=f"inspector, {era} era, stdio: strict list, every tool, errors",
            programs=(INSPECTOR,),
            run=partial(_era, era),
            is_quick=era == "modern",
        )
        for era in ERAS
    ]
    others = (
        ("inspector, HTTP: strict list, every tool, wrong token", INSPECTOR, _http),
        ("inspector, load, stdio", INSPECTOR, _load_stdio),
        ("inspector, load, HTTP", INSPECTOR, _load_http),
        ("mcporter list, call, HTTP", "mcporter", _mcporter_http),
        ("mcp-cli call-tool", "mcp-cli", _mcp_cli),
    )
    rest = [
        Check(name=name, programs=(needs,), run=run, needs_http="HTTP" in name)
        for name, needs, run in others
    ]
    mcporter = Check(
        name="mcporter list, call, stdio",
        programs=("mcporter",),
        run=_mcporter_stdio,
        is_quick=True,
    )
    return [*by_era, *rest, mcporter]


def _era(era: str, place: Scratch) -> str:
    """List strictly, call every tool, and call wrongly, in one protocol era."""
    way = (*place.server, "--protocol-era", era)
    said = _list_and_call(place, way)
    for wrong in (("memory_get", {"path": "/etc/passwd"}), ("no_such_tool", {})):
        done = _call(place, way, *wrong)
        if done.code != TOOL_ERROR:
            raise FailedError(f"{wrong[0]}: exit {done.code}: {tail(done.text)!r}")
    return f"{said}; exit {TOOL_ERROR} for a wrong call"


def _http(place: Scratch) -> str:
    """The same with a token; without it the inspector says what is missing."""
    with place.http() as (url, token):
        said = _list_and_call(place, _to(url, token))
        done = _inspect(
            place, _to(url, WRONG), "--method", "tools/list", "--stored-auth-only"
        )
    if done.code != NO_ACCESS or "auth_required" not in done.text:
        raise FailedError(f"wrong token: exit {done.code}: {tail(done.text)!r}")
    return f"{said}; wrong token: auth_required"


def _list_and_call(place: Scratch, way: tuple[str, ...]) -> str:
    """List the tools strictly and call each; return how many of how many."""
    done = _inspect(place, way, "--method", "tools/list", "--strict")
    listed = {one["name"] for one in _result(done)["tools"]}
    missing = {name for name, _, _ in CALLS} - listed
    if missing:
        raise FailedError(f"not listed: {sorted(missing)}")
    for name, arguments, wanted in CALLS:
        result = _result(_call(place, way, name, arguments))
        expect(result["content"][0]["text"], wanted)
        expect(json.dumps(result["structuredContent"]), wanted)
    called = {name for name, _, _ in CALLS}
    return f"{len(called)} of {len(listed)} listed tools called"


def _call(
    place: Scratch, way: tuple[str, ...], tool: str, arguments: dict[str, Any]
) -> Done:
    """Call a tool with the inspector."""
    given = json.dumps(arguments)
    call = ("--method", "tools/call", "--tool-name", tool, "--tool-args-json", given)
    return _inspect(place, way, *call)


def _inspect(place: Scratch, way: tuple[str, ...], *words: str) -> Done:
    """Run the inspector."""
    return place.run(INSPECTOR, "--cli", *way, *words, "--format", "json")


def _result(done: Done) -> dict[str, Any]:
    """Return the result that the inspector printed.

    Raises:
        FailedError: It printed none, or ended with another code than 0.
    """
    if done.code != 0:
        raise FailedError(f"exit {done.code}: {tail(done.text)!r}")
    result: dict[str, Any] = json.loads(done.out)["result"]
    return result


def _to(url: str, token: str) -> tuple[str, ...]:
    """Return the words that lead the inspector to a server over HTTP."""
    header = f"Authorization: Bearer {token}"
    return ("--server-url", url, "--transport", "http", "--header", header)


def _load_stdio(place: Scratch) -> str:
    return _load(place, place.server)


def _load_http(place: Scratch) -> str:
    with place.http() as (url, token):
        return _load(place, _to(url, token))


def _load(place: Scratch, way: tuple[str, ...]) -> str:
    """Ask often and at once; every answer must be a good one."""
    bounds = ("--load-requests", str(LOAD_REQUESTS))
    at_once = ("--load-concurrency", str(LOAD_CONCURRENCY))
    arguments = json.dumps({"query": QUESTION})
    ask = ("--tool-name", "memory_search", "--tool-args-json", arguments)
    told = _result(
        _inspect(
            place, way, "--method", "tools/call", *ask, "--load", *bounds, *at_once
        )
    )
    if told["ok"] != LOAD_REQUESTS:  # its exit code is 0 also when tools fail
        raise FailedError(f"{told['ok']} of {LOAD_REQUESTS} answered well: {told}")
    latency = told["latencyMs"]
    return (
        f"{told['ok']} of {LOAD_REQUESTS} ok, {told['throughput']:.0f}/s,"
        f" p50 {latency['p50']:.1f} ms, p99 {latency['p99']:.1f} ms"
    )


def _mcporter_stdio(place: Scratch) -> str:
    return _mcporter(place, ("--stdio", shlex.join(place.server)))


def _mcporter_http(place: Scratch) -> str:
    with place.http() as (url, token):
        header = ("--header", f"Authorization=Bearer {token}")
        return _mcporter(place, ("--http-url", url, "--allow-http", *header))


def _mcporter(place: Scratch, way: tuple[str, ...]) -> str:
    """List and call with mcporter."""
    listed = place.run("mcporter", "list", *way)
    expect(listed.text, *(f"function {name}(" for name, _, _ in CALLS))
    ask = (f"query={QUESTION}", "--output", "json")
    done = place.run("mcporter", "call", *way, "memory_search", *ask)
    if done.code != 0:
        raise FailedError(f"exit {done.code}: {tail(done.text)!r}")
    expect(json.loads(done.out)["hits"][0]["snippet"], PORT)
    return f"{len({name for name, _, _ in CALLS})} signatures listed; search found one"


def _mcp_cli(place: Scratch) -> str:
    """Call with wong2's mcp-cli, which reads a file of servers."""
    command, *words = place.server
    servers = {"mcpServers": {NAME: {"command": command, "args": words}}}
    file = place.put("servers.json", json.dumps(servers))
    given = ("--args", json.dumps({"query": QUESTION}))
    tool = f"{NAME}:memory_search"
    done = place.run("mcp-cli", "-c", str(file), "call-tool", tool, *given)
    if done.code != 0:
        raise FailedError(f"exit {done.code}: {tail(done.text)!r}")
    expect(done.out, PORT, "structuredContent")
    return "search found the note"
