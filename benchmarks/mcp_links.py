"""Swap folders and notes for links while an agent uses every tool: does one lead out?

    python -m benchmarks.mcp_links --seconds 60

An MCP client reads, writes, searches and lists through the server's tools; meanwhile
another process puts links in the places of a folder, a note in it and a note at the
top, each to its like outside, as fast as it can. Prints what the tools answered and how
often; exits 1 if one answer or the index holds a word from outside, if a file outside
was changed or made, or if an entry that was confirmed is in no note.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.types import CallToolResult, TextContent

from hivemind_memory import opening
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState

SECRET = "zanzibarite"
INSIDE = "The harbour is inside."
FILES = ("a/b.md", "top.md")
ONLY_OUTSIDE = "a/only.md"
"""A note that is there only while the folder is a link."""

_READS = 5
"""Reads of each note in a round: they are quick, and the swapping has many moments."""

_PLACE = re.compile(r"Saved in (\S+?):[\d-]+ \(id (\w+)\)")
# Whatever the server makes in a place that is empty for a moment is moved aside too, so
# that it can hinder the swapping only once. What is moved aside is kept: it is inside.
SWAP = """
import os, sys, contextlib
os.chdir(sys.argv[1])
os.makedirs("../aside", exist_ok=True)
def swap(name, target, n):
    aside = f"../aside/{n}-{name.replace('/', '-')}"
    with contextlib.suppress(OSError):
        os.rename(name, aside)
    with contextlib.suppress(OSError):
        os.symlink(target, name)
        if n == 0:
            print("ready", flush=True)
        os.unlink(name)
    with contextlib.suppress(OSError):
        os.rename(aside, name)
n = 0
while True:
    swap("a", "../outside", n)
    swap("a/b.md", "../../outside/b.md", n)
    swap("top.md", "../outside/b.md", n)
    n += 1
"""


@dataclass(slots=True)
class Seen:
    """What came back, and how often."""

    answers: Counter[str] = field(default_factory=Counter)
    escapes: list[str] = field(default_factory=list)
    confirmed: set[str] = field(default_factory=set)

    @property
    def tries(self) -> int:
        """How many calls were made."""
        return self.answers.total()


def race(home: Path, *, seconds: float, mode: str = "auto") -> Seen:
    """Use the tools while another process swaps links."""
    notes, outside, seen = home / "memory", home / "outside", Seen()
    (notes / "a").mkdir(parents=True)
    outside.mkdir()
    for name in FILES:
        (notes / name).write_text(f"{INSIDE}\n", encoding="utf-8")
    for name in ("b.md", "only.md"):
        (outside / name).write_text(f"{SECRET} {name}\n", encoding="utf-8")
    before = _held(outside)
    server_state = ServerState(lambda: opening.open_memory(home=str(home)))
    with _swapping(notes):
        anyio.run(_use, make_server(server_state, "5e551017"), seconds, mode, seen)
    server_state.close(within_s=5)
    if _held(outside) != before:
        seen.escapes.append(f"outside holds {sorted(_held(outside))}")
    seen.escapes += _leaks(notes / ".index")
    # The swapping may put a note back over one that was just written; what it removed
    # comes back with the next sync.
    with opening.open_memory(home=str(home)) as memory:
        memory.sync()
    seen.escapes += _lost(home, seen.confirmed)
    return seen


async def _use(server: Any, seconds: float, mode: str, seen: Seen) -> None:
    """Call one tool after the other until the time is over."""
    until_s = time.monotonic() + seconds
    async with Client(server, mode=mode) as client:
        for number in itertools.count():
            if time.monotonic() > until_s:
                return
            for tool, arguments in _calls(number):
                _judge(tool, await client.call_tool(tool, arguments), seen)


def _calls(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield one round of calls."""
    for file in (*FILES, ONLY_OUTSIDE) * _READS:
        yield "memory_get", {"path": file}
    yield "memory_search", {"query": f"{SECRET} harbour", "min_score": 0}
    yield "memory_list", {}
    file = FILES[number % len(FILES)]
    yield "memory_write", {"content": f"Entry {number} is ours.", "file": file}


def _judge(tool: str, result: CallToolResult, seen: Seen) -> None:
    """Count what a tool answered, and look whether it is from outside."""
    [content] = result.content
    assert isinstance(content, TextContent)
    text = content.text
    saved = _PLACE.search(text)
    if saved is not None:
        seen.confirmed.add(saved[2])
    kind = "answered"
    if result.is_error:
        kind = re.sub(r"'[^']*'", "…", text.partition(". ")[0])
    seen.answers[f"{tool}: {kind}"] += 1
    # The question comes back in no answer, so the word can only be a note's; the name
    # comes back in a refusal.
    both = f"{text} {result.structured_content}"
    if SECRET in both or (ONLY_OUTSIDE in both and not result.is_error):
        seen.escapes.append(f"{tool} answered {text[:200]!r}")


def _held(folder: Path) -> dict[str, bytes]:
    """Return the names and bytes of all files in a folder."""
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def _leaks(index: Path) -> list[str]:
    """Return which files of the index hold a word from outside."""
    files = [one for one in index.rglob("*") if one.is_file()]
    return [
        f"{file.name} holds what is outside"
        for file in files
        if SECRET.encode() in file.read_bytes()
    ]


def _lost(home: Path, confirmed: set[str]) -> list[str]:
    """Return which entries that were confirmed are in no note, moved aside or not."""
    held = "".join(
        note.read_text(encoding="utf-8", errors="replace")
        for folder in ("memory", "aside")
        for note in (home / folder).rglob("*")
        if note.is_file() and ".index" not in note.parts
    )
    return [f"entry {one} is lost" for one in sorted(confirmed) if one not in held]


@contextlib.contextmanager
def _swapping(root: Path) -> Iterator[None]:
    """Swap links in a process of its own."""
    command = [sys.executable, "-c", SWAP, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def main() -> int:
    """Run it, and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--mode", default="auto", help="version of the protocol")
    given = parser.parse_args()
    os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
    with tempfile.TemporaryDirectory() as home:
        seen = race(Path(home), seconds=given.seconds, mode=given.mode)
    for answer, count in sorted(seen.answers.items()):
        print(f"{count:10,}  {answer}")
    for escape in seen.escapes[:20]:
        print(escape)
    print(f"{seen.tries:10,}  calls, {len(seen.escapes)} outside")
    return 1 if seen.escapes else 0


if __name__ == "__main__":
    sys.exit(main())
