"""Measures how often an agent's first request to its model holds our tools.

Each start is a whole start of the agent, connected by `hm connect`, while two busy
loops load the machine. An agent does not wait long for a server, so a slow first answer
means a first prompt without a memory.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.real_clients.agents import ask_qwen, claude_env, codex_words
from benchmarks.real_clients.scratch import QUESTION, Scratch, Setting, scratch
from benchmarks.real_clients.stand_in import StandIn, playing

BUSY_LOOPS = 2
WANTED = "memory_search"

Start = Callable[[Scratch, Path, StandIn], None]
"""Starts an agent in a worktree and waits until it has ended."""


def lines(setting: Setting, starts: int) -> Iterator[tuple[bool, str]]:
    """Yield whether an agent always had our tools, and a line about it."""
    for name, start in _STARTS.items():
        if setting.find(name) is None:
            yield False, f"{name}: not installed"
            continue
        held, least = _count(setting, name, start, starts)
        yield (
            held == starts,
            (
                f"{name}: {held} of {starts} first requests hold our tools, at least"
                f" {least} of them, with {BUSY_LOOPS} busy loops"
            ),
        )


def _count(setting: Setting, name: str, start: Start, starts: int) -> tuple[int, int]:
    """Return how many first requests hold our tools, and the least number of tools."""
    held, least = 0, 99
    with scratch(setting) as place, _load():
        worktree = place.worktree()
        place.must(*setting.hm, "connect", name, "--yes")
        for _ in range(starts):
            with playing() as model:
                start(place, worktree, model)
            # A request without any tool asks for a title, or the like.
            first = next((one.offered for one in model.asked if one.offered), ())
            ours = [tool.name for tool in first if "memory_" in tool.name]
            held += any(one.endswith(WANTED) for one in ours)
            least = min(least, len(ours))
    return held, least


def _start_claude(place: Scratch, worktree: Path, model: StandIn) -> None:
    """Start Claude Code with a question."""
    place.run("claude", "-p", QUESTION, cwd=worktree, env=claude_env(model))


def _start_codex(place: Scratch, worktree: Path, model: StandIn) -> None:
    """Start Codex with a question; the model is named for this start alone."""
    place.run("codex", "exec", *codex_words(model), QUESTION, cwd=worktree)


def _start_qwen(place: Scratch, worktree: Path, model: StandIn) -> None:
    """Start Qwen Code with a question."""
    ask_qwen(place, worktree, model)


_STARTS: dict[str, Start] = {
    "claude": _start_claude,
    "codex": _start_codex,
    "qwen": _start_qwen,
}


@contextmanager
def _load() -> Iterator[None]:
    """Keep the machine busy."""
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(BUSY_LOOPS)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
