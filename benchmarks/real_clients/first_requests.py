"""Measures how often an agent's first request to its model holds our tools.

Each start is a whole start of the agent, connected by `hm connect`, while two busy
loops load the machine. An agent does not wait long for a server, so a slow first answer
means a first prompt without a memory. The interface of Claude Code waits for its hooks
only, so without them nothing is promised of it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_clients.agents import (
    QWEN_WORDS,
    ask_qwen,
    claude_env,
    codex_words,
    qwen_env,
)
from benchmarks.real_clients.pane import end_pane, settle, start_pane, wait_for
from benchmarks.real_clients.scratch import QUESTION, Scratch, Setting, scratch
from benchmarks.real_clients.stand_in import LAST_WORDS, StandIn, playing

BUSY_LOOPS = 2
WANTED = "memory_search"

Start = Callable[[Scratch, Path, StandIn], None]
"""Starts an agent in a worktree and waits until it has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How an agent is connected and started."""

    name: str
    program: str
    start: Start
    options: tuple[str, ...] = ()
    """Of `hm connect`."""

    is_promised: bool = True
    """Whether every first request must hold our tools."""


def lines(setting: Setting, starts: int, only: str) -> Iterator[tuple[bool, str]]:
    """Yield whether what is promised of an agent was so, and a line about it.

    Args:
        setting: Where the programs are.
        starts: How often to start each.
        only: Part of the names of the ways to try.
    """
    for way in (one for one in _WAYS if only in one.name):
        if setting.find(way.program) is None:
            yield False, f"{way.name}: not installed"
            continue
        held, least = _count(setting, way, starts)
        yield (
            held == starts or not way.is_promised,
            (
                f"{way.name}: {held} of {starts} first requests hold our tools, at"
                f" least {least} of them, with {BUSY_LOOPS} busy loops"
            ),
        )


def _count(setting: Setting, way: _Way, starts: int) -> tuple[int, int]:
    """Return how many first requests hold our tools, and the least number of tools."""
    held, least = 0, 99
    with scratch(setting) as place, _load():
        worktree = place.worktree()
        place.must(*setting.hm, "connect", way.program, "--yes", *way.options)
        for _ in range(starts):
            with playing() as model:
                way.start(place, worktree, model)
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


def _start_qwen_interface(place: Scratch, worktree: Path, model: StandIn) -> None:
    """Start Qwen Code in a terminal, with a question on its command line."""
    qwen = place.setting.find("qwen") or "qwen"
    words = ("env", "-u", "CI", qwen, *QWEN_WORDS, "--prompt-interactive", QUESTION)
    try:
        start_pane(place, worktree, words, qwen_env(model))
        wait_for(place, LAST_WORDS)
    finally:
        end_pane(place)


def _start_interface(place: Scratch, worktree: Path, model: StandIn) -> None:
    """Start Claude Code in a terminal, with a question on its command line."""
    settle(place, worktree)
    claude = place.setting.find("claude") or "claude"
    try:
        start_pane(place, worktree, (claude, QUESTION), claude_env(model))
        wait_for(place, LAST_WORDS)
    finally:
        end_pane(place)


_WAYS = (
    _Way(name="claude -p", program="claude", start=_start_claude),
    _Way(
        name="claude in a terminal, without hooks",
        program="claude",
        start=_start_interface,
        is_promised=False,
    ),
    _Way(
        name="claude in a terminal, with --hooks",
        program="claude",
        start=_start_interface,
        options=("--hooks",),
    ),
    _Way(name="codex", program="codex", start=_start_codex),
    _Way(name="qwen", program="qwen", start=_start_qwen),
    _Way(name="qwen in a terminal", program="qwen", start=_start_qwen_interface),
)


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
