"""Claude Code with its interface, in a tmux pane, in a linked worktree.

Linux and macOS: tmux. It has a server of its own (`-S`), so nobody's sessions are
touched. No key is sent blindly: that the folder is trusted, and that the key may be
used, stands in the settings beforehand, and the question is an argument.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.real_clients.agents import (
    ALLOWED,
    KEY,
    SEARCH,
    WRITE,
    called,
    claude_env,
    see_clean,
    see_section,
    see_tools,
)
from benchmarks.real_clients.check import Check, FailedError, tail
from benchmarks.real_clients.programs import TIMEOUT_S, end_group
from benchmarks.real_clients.scratch import NAME, QUESTION, Scratch
from benchmarks.real_clients.stand_in import LAST_WORDS, StandIn, playing

SESSION = "lamp"
SHOWN = f"Called {NAME}"
"""What the interface says of a call; the answer itself is folded away."""


def checks() -> list[Check]:
    """Return the checks."""
    return [
        Check(
            name="claude, its interface in tmux, linked worktree",
            programs=("claude", "git", "tmux"),
            run=_in_a_pane,
            needs_hm=True,
        )
    ]


def _in_a_pane(place: Scratch) -> str:
    """Ask by the interface; look at the pane and at what the model was sent."""
    worktree = place.worktree()
    place.must(place.hm, "inject", "--agent", "claude", cwd=worktree)
    place.must("claude", "mcp", "add", "--scope", "user", NAME, "--", *place.server)
    settle(place, worktree)
    with playing(SEARCH, WRITE) as model:
        try:
            _start(place, worktree, model)
            pane = wait_for(place, LAST_WORDS)
        finally:
            end_pane(place)
    see_section(model, pane)
    see_tools(model, place)
    if SHOWN not in pane:
        raise FailedError(f"the pane does not say {SHOWN!r}: {tail(pane)!r}")
    see_clean(place, worktree)
    return f"the pane says {SHOWN!r}; section in the first prompt; {called(model)}"


def settle(place: Scratch, worktree: Path) -> None:
    """Answer beforehand what the program asks a person at its first start."""
    file = place.home / ".claude.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    settings |= {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
    }
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    for folder in (worktree, place.root / "lighthouse"):
        settings.setdefault("projects", {})[str(folder)] = trusted
    file.write_text(json.dumps(settings), encoding="utf-8")


def _start(place: Scratch, worktree: Path, model: StandIn) -> None:
    """Start Claude Code in a pane, with its question."""
    claude = place.setting.find("claude") or "claude"
    ask = (claude, QUESTION, "--allowedTools", *ALLOWED)
    start_pane(place, worktree, ask, claude_env(model))


def start_pane(
    place: Scratch, worktree: Path, words: Sequence[str], env: Mapping[str, str]
) -> None:
    """Start a program in a pane."""
    given = [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
    size = ("-x", "120", "-y", "50")
    made = tmux(
        place,
        *("-f", "/dev/null", "new-session", "-d", "-s", SESSION),
        *size,
        *given,
        *("-c", str(worktree), "--", *words),
    )
    if made.strip():
        raise FailedError(f"tmux says {made.strip()!r}")


def wait_for(place: Scratch, wanted: str) -> str:
    """Return what the pane shows once it shows *wanted*, or at the end of patience."""
    until_s = time.monotonic() + TIMEOUT_S
    pane = ""
    while time.monotonic() < until_s:
        now = tmux(place, "capture-pane", "-p", "-t", f"={SESSION}:")
        if "no server running" in now or "can't find" in now:
            return pane  # it has ended
        pane = now
        if wanted in pane:
            break
        time.sleep(0.2)
    return pane


def end_pane(place: Scratch) -> None:
    """End the program and then its tmux, or it would go on writing for a while."""
    told = tmux(place, "display-message", "-p", "-t", f"={SESSION}:", "#{pane_pid}")
    if told.strip().isdigit():
        end_group(int(told))
    tmux(place, "kill-server")


def tmux(place: Scratch, *words: str) -> str:
    """Run tmux with a server of this check's own."""
    return place.run("tmux", "-S", str(place.root / "tmux"), *words).text
