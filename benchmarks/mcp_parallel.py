"""Call one memory from many clients at once, over stdio and over HTTP.

    python -m benchmarks.mcp_parallel [--clients 32] [--calls 200] [--seconds 600]
        [--projects 4] [--workspaces 2] [--notes 0]

Over stdio each client has a server process of its own; over HTTP all clients of a
workspace share one, whatever their projects. Every client saves a memory of its project
under a key that the other projects use as well, searches, writes to its workspace and
reads in turn. Each answer has to be its own, of its scopes alone. At the end every
acknowledged text has to be in one note of its scope, under the id that was answered,
and a search has to find it. Prints the calls made, the failures and the latency; exits
with 1 if a call failed or was not made, or if a text is not where it should be. The
first call of each client is measured apart: over stdio it is made while other servers
still start.
``--seconds`` bounds each of the two runs: a client that has not made all its calls by
then stops. With ``--some`` that is no failure: what was made is measured.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.agents import PROJECT_HEADER
from hivemind_memory.model.query import Query
from tests.support.sandbox import Sandbox

TRANSPORTS = ("stdio", "http")
SOUGHT_AT_ONCE = 20
"""Texts that one search looks for at the end."""

_ID = re.compile(r"(?:<!-- hm id=|id: )(\w{26})\b")
_SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "-")
COMMAND = (sys.executable, "-m", "hivemind_memory.cli", "mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Who a client is: its number, and the scopes that it works in."""

    number: int
    project: str
    workspace: str
    group: int
    """The same for one client of each project: these use the same keys."""

    @property
    def own_scopes(self) -> tuple[str, str]:
        """Folders of the scopes besides the global one."""
        return f"projects/{self.project}", f"workspaces/{self.workspace}"

    def is_visible(self, path: str) -> bool:
        """Whether a note is in a scope of the client."""
        scope = "/".join(path.split("/")[:2])
        is_global = not path.startswith(("projects/", "workspaces/"))
        return is_global or scope in self.own_scopes


def work_of(number: int, options: argparse.Namespace) -> Work:
    """Return what one of the clients works in."""
    group, project = divmod(number, options.projects)
    return Work(
        number=number,
        project=f"reed-{project}",
        workspace=f"marsh-{group % options.workspaces}",
        group=group,
    )


@dataclass(slots=True)
class Outcome:
    """What came of the calls."""

    first_ms: list[float] = field(default_factory=list)
    """How long the first call of each client took."""

    then_ms: list[float] = field(default_factory=list)
    """How long each later call took."""

    failures: list[str] = field(default_factory=list)
    acknowledged: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Text that a server says it has written -> its scope, and the id that it
    answered."""


async def use(client: Client, work: Work, calls: int, until_s: float) -> Outcome:
    """Make a client's calls."""
    outcome = Outcome()
    for turn in range(calls):
        if time.monotonic() > until_s:
            break
        tool, arguments = _call(work, turn)
        start_s = time.monotonic()
        try:
            result = await client.call_tool(tool, arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
            outcome.failures.append(f"{tool}: {error!r}")
            continue
        if result.is_error:
            texts = [one.text for one in result.content if isinstance(one, TextContent)]
            outcome.failures.append(f"{tool}: {' '.join(texts)}")
            continue
        took_ms = (time.monotonic() - start_s) * 1000
        answer = result.structured_content or {}
        if _is_answer_to(tool, arguments, answer, work, turn):
            (outcome.then_ms if turn else outcome.first_ms).append(took_ms)
        else:
            outcome.failures.append(f"{tool}: {arguments} is not answered by {answer}")
        if "content" in arguments:
            scope = work.own_scopes[tool == "memory_write"]
            outcome.acknowledged[arguments["content"]] = scope, str(answer.get("id"))
    return outcome


def _call(work: Work, turn: int) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments of one call."""
    word = _word(work.number, turn // 4)
    key = f"crane-{_word(work.group, turn // 4)}"
    crane = {"key": key, "content": f"Crane c{word} is tall.", "scope": "project"}
    heron = {"content": f"Heron h{word} was seen.", "scope": "workspace"}
    return (
        ("memory_save", crane),
        ("memory_search", {"query": f"how tall is crane c{word}"}),
        ("memory_write", heron),
        ("memory_history", {"key": key}),
    )[turn % 4]


def _word(number: int, turn: int) -> str:
    """Return a word that stands for two numbers, in letters: a search splits at digits.

    Its end is none that a stemmer takes away.
    """
    digits = (int(digit) if digit != "-" else 10 for digit in f"{number}-{turn}")
    return "".join(_SYLLABLES[digit] for digit in digits).replace("-", "x") + "z"


def _is_answer_to(
    tool: str,
    arguments: dict[str, Any],
    answer: dict[str, Any],
    work: Work,
    turn: int,
) -> bool:
    """Whether a call was answered, and not that of another client or project.

    What a write answers shows at the end, see ``where_not``.
    """
    project, workspace = work.own_scopes
    word = _word(work.number, turn // 4)
    if tool == "memory_save":
        return bool(answer.get("key") == arguments["key"]) and (
            answer.get("scope") == project
        )
    if tool == "memory_search":
        hits = answer.get("hits", ())
        is_first = any(f"c{word}" in hit["snippet"] for hit in hits[:1])
        return is_first and all(work.is_visible(hit["path"]) for hit in hits)
    if tool == "memory_history":
        versions = [version["text"] for version in answer.get("memories", ())]
        return versions == [f"Crane c{word} is tall."]
    return "id" in answer and answer.get("scope") == workspace


def where_not(home: str, acknowledged: dict[str, tuple[str, str]]) -> list[str]:
    """Return what servers say they have written, and where it is not.

    Args:
        home: The home of the memory.
        acknowledged: Text -> its scope, and the id of its memory or entry.
    """
    sandbox = Sandbox(Path(home))
    ids: dict[str, list[tuple[str, str]]] = {text: [] for text in acknowledged}
    for note in sandbox.notes.rglob("*.md"):
        last = ""
        scope = "/".join(note.relative_to(sandbox.notes).parts[:2])
        for line in note.read_text(encoding="utf-8").splitlines():
            found = _ID.match(line)
            last = found[1] if found else last
            if line in ids:
                ids[line].append((scope, last))
    problems = [
        f"{text!r} was acknowledged as {acknowledged[text]}, and is in the notes as"
        f" {there}"
        for text, there in ids.items()
        if there != [acknowledged[text]]
    ]
    with sandbox.memory() as memory:
        texts = list(acknowledged)
        for at in range(0, len(texts), SOUGHT_AT_ONCE):
            some = texts[at : at + SOUGHT_AT_ONCE]
            unfound = _not_found(memory, some)
            # Among many hits one may be left out.
            problems += [
                f"{text!r} was acknowledged, and no search finds it"
                for text in unfound
                if _not_found(memory, [text])
            ]
    return problems


def _not_found(memory: Memory, texts: list[str]) -> list[str]:
    """Return the texts that a search for their rarest words does not find."""
    words = " ".join(text.split()[1] for text in texts)
    answer = memory.search(Query(text=words, min_score=0.0, max_results=100))
    found = "\n".join(hit.snippet for hit in answer.hits)
    return [text for text in texts if text not in found]


@asynccontextmanager
async def stdio_client(environ: dict[str, str], work: Work) -> AsyncIterator[Client]:
    """Yield a client with a server process of its own."""
    words = [*COMMAND[1:], "--project", work.project, "--workspace", work.workspace]
    server = StdioServerParameters(command=COMMAND[0], args=words, env=environ)
    async with Client(server) as client:
        yield client


@asynccontextmanager
async def http_client(url: str, token: str, work: Work) -> AsyncIterator[Client]:
    """Yield a client of the shared server of its workspace."""
    headers = {"Authorization": f"Bearer {token}", PROJECT_HEADER: work.project}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as connection:
        transport = streamable_http_client(url, http_client=connection)
        async with Client(transport) as client:
            yield client


async def measure(transport: str, options: argparse.Namespace, home: str) -> Outcome:
    """Run all clients over one transport."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("HIVEMIND_")}
    environ = {
        **own,
        "HIVEMIND_HOME": home,
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
    }
    outcomes: list[Outcome] = []
    until_s = time.monotonic() + options.seconds

    async def run(client: Any, work: Work) -> None:
        async with client as opened:
            outcomes.append(await use(opened, work, options.calls, until_s))

    works = [work_of(number, options) for number in range(options.clients)]
    servers = {}
    try:
        if transport == "http":
            for name in sorted({work.workspace for work in works}):
                servers[name] = _start_http(environ, name)
        async with anyio.create_task_group() as group:
            for work in works:
                client = (
                    http_client(*servers[work.workspace][1:], work)
                    if servers
                    else stdio_client(environ, work)
                )
                group.start_soon(run, client, work)
    finally:
        for process, _, _ in servers.values():
            process.terminate()
            process.communicate()
    return Outcome(
        first_ms=list(itertools.chain(*(one.first_ms for one in outcomes))),
        then_ms=list(itertools.chain(*(one.then_ms for one in outcomes))),
        failures=list(itertools.chain(*(one.failures for one in outcomes))),
        acknowledged={
            text: told for one in outcomes for text, told in one.acknowledged.items()
        },
    )


def latency(outcome: Outcome) -> str:
    """Return how long the first calls took, and the others."""
    said = []
    if outcome.first_ms:
        middle, worst = statistics.median(outcome.first_ms), max(outcome.first_ms)
        said.append(f"first calls: median {middle:.0f} ms, worst {worst:.0f} ms")
    if outcome.then_ms:
        ordered = sorted(outcome.then_ms)
        p99 = ordered[int(len(ordered) * 0.99)]
        said.append(
            f"then median {statistics.median(ordered):.0f} ms, p99 {p99:.0f} ms"
        )
    return "; ".join(said)


def write_notes(home: str, count: int) -> None:
    """Write the notes that are there before the first call."""
    folder = os.path.join(home, "memory", "cranes")
    os.makedirs(folder)
    for number in range(count):
        with open(os.path.join(folder, f"{number}.md"), "w", encoding="utf-8") as file:
            file.write(f"# Crane {number}\n\nIt stands in field {number % 97}.\n")


def _start_http(
    environ: dict[str, str], workspace: str
) -> tuple[subprocess.Popen[str], str, str]:
    """Return a server over HTTP, its address and its token."""
    process = subprocess.Popen(
        [*COMMAND, "--http", "--port", "0", "--workspace", workspace],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    )
    assert process.stderr is not None
    url = process.stderr.readline().split()[-1]
    file = process.stderr.readline().removeprefix("token in ").strip()
    with open(file, encoding="utf-8") as opened:
        return process, url, opened.read().strip()


def main() -> int:
    """Run both transports and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--projects", type=int, default=4)
    parser.add_argument("--workspaces", type=int, default=2)
    parser.add_argument("--notes", type=int, default=0, help="notes there are before")
    parser.add_argument("--transport", choices=TRANSPORTS, help="only this one")
    parser.add_argument("--some", action="store_true", help="calls may be left unmade")
    options = parser.parse_args()
    problems = 0
    for transport in (options.transport,) if options.transport else TRANSPORTS:
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory() as home:
            write_notes(home, options.notes)
            outcome = anyio.run(measure, transport, options, home)
            took_s = time.monotonic() - began_s
            missing = where_not(home, outcome.acknowledged)
        wanted = options.clients * options.calls
        timed = len(outcome.first_ms) + len(outcome.then_ms)
        made = timed + len(outcome.failures)
        problems += len(outcome.failures) + len(missing)
        print(
            f"{transport}: {made:,} of {wanted:,} calls in {took_s:.0f} s, "
            f"{len(outcome.failures)} failed; {len(outcome.acknowledged):,} texts"
            f" acknowledged, {len(missing)} missing"
        )
        if made < wanted and not options.some:
            problems += 1
            print(f"  cut short after {options.seconds:g} s")
        if timed:
            print(f"  {latency(outcome)}")
        for failure in (*outcome.failures[:5], *missing[:5]):
            print(f"  {failure[:500]}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
