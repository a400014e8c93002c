"""Skills in the agents themselves: Claude Code lists one that is promoted meanwhile.

Also Codex, in its next session, and the validator of the format.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.real_clients.agents import KEY, claude_env, play_codex
from benchmarks.real_clients.check import Check, FailedError, tail
from benchmarks.real_clients.pane import (
    SESSION,
    end_pane,
    start_pane,
    tmux,
    wait_for,
)
from benchmarks.real_clients.scratch import Scratch
from benchmarks.real_clients.stand_in import LAST_WORDS, StandIn, playing

NAME = "light-the-lamp"
WHAT = "How the fresnel lamp is lit at dusk"
STEP = "Trim the wick to four millimetres"
OTHER_STEP = "Trim the wick to five millimetres"
SKILLS = ".claude/skills"
_NOTICE_S = 10.0
_PAUSE_S = 0.2
_LOOK_S = 4.0
"""How long Claude Code waits until it reads a folder that has changed."""


def checks() -> list[Check]:
    """Return the checks."""
    return [
        Check(
            name="claude lists a promoted skill without a restart, and runs it",
            programs=("claude", "git", "tmux"),
            run=_while_it_runs,
            needs_server=False,
            needs_hm=True,
        ),
        Check(
            name="codex is told of a promoted skill",
            programs=("codex", "git"),
            run=_in_codex,
            needs_server=False,
            needs_hm=True,
        ),
        Check(
            name="agentskills: the reference validator takes a skill",
            programs=("agentskills", "git"),
            run=_validated,
            needs_server=False,
            needs_hm=True,
        ),
    ]


def _save(place: Scratch, worktree: Path, step: str = STEP) -> None:
    """Save the memory, or replace it."""
    text = f"{WHAT}: <every> evening\n\n1. {step}.\n2. Light it.\n"
    reason = ("--reason", "it smoked") if step != STEP else ()
    place.must(place.hm, "save", "light the lamp", *reason, text, cwd=worktree)


def _while_it_runs(place: Scratch) -> str:
    """Promote, sync and demote while Claude Code runs, and look at what it sends."""
    worktree = place.worktree()
    _settle(place, worktree)
    (worktree / SKILLS).mkdir(parents=True)
    _save(place, worktree)
    with playing() as model:
        try:
            claude = place.setting.find("claude") or "claude"
            start_pane(place, worktree, (claude, "Good evening"), claude_env(model))
            pane = wait_for(place, LAST_WORDS)
            _expect(not _told(model, 0, WHAT), "it knew the skill before", pane)
            place.must(place.hm, "skill", "promote", NAME, cwd=worktree)
            time.sleep(_LOOK_S)
            asked = _ask(place, model, "And now?")
            _expect(_told(model, asked, WHAT), "the skill is not in its list", pane)
            asked = _ask(place, model, f"/{NAME}")
            _expect(_told(model, asked, STEP), "the skill does not run", pane)
            _save(place, worktree, OTHER_STEP)
            place.must(place.hm, "skill", "sync", cwd=worktree)
            time.sleep(_LOOK_S)
            asked = _ask(place, model, f"/{NAME}")
            _expect(_told(model, asked, OTHER_STEP), "the old text runs", pane)
            place.must(place.hm, "skill", "demote", NAME, cwd=worktree)
            time.sleep(_LOOK_S)
            tmux(place, "send-keys", "-t", f"={SESSION}:", f"/{NAME}", "Enter")
            pane = wait_for(place, "Unknown")
            _expect("Unknown" in pane, "it still runs after the demotion", pane)
        finally:
            end_pane(place)
    shown = place.git(worktree, "status", "--porcelain", "--untracked-files=all")
    _expect(not shown.strip(), f"git sees {shown!r}", pane)
    return "listed, run, updated and gone, in one session"


def _in_codex(place: Scratch) -> str:
    """Promote, and look at what Codex sends at its start."""
    worktree = place.worktree()
    _save(place, worktree)
    place.must(place.hm, "skill", "promote", NAME, "--to", "codex", cwd=worktree)
    with playing() as model:
        printed = play_codex(place, worktree, model)
    _expect(_told(model, 0, WHAT), "the skill is not in its first prompt", printed)
    return "in its first prompt"


def _validated(place: Scratch) -> str:
    """Promote, and validate the folder."""
    worktree = place.worktree()
    _save(place, worktree)
    place.must(place.hm, "skill", "promote", NAME, cwd=worktree)
    folder = worktree / SKILLS / NAME
    done = place.run("agentskills", "validate", str(folder))
    _expect(done.code == 0, "it is not valid", done.text)
    read = json.loads(place.must("agentskills", "read-properties", str(folder)))
    _expect(WHAT in read["description"], "the description is another", str(read))
    return f"valid: {sorted(read)}"


def _ask(place: Scratch, model: StandIn, question: str) -> int:
    """Type a question; return how many requests there were before it."""
    before = len(model.asked)
    for word in (question, "Enter"):
        tmux(place, "send-keys", "-t", f"={SESSION}:", word)
        time.sleep(_PAUSE_S)
    _wait(lambda: len(model.asked) > before)
    time.sleep(_PAUSE_S)
    return before


def _told(model: StandIn, since: int, text: str) -> bool:
    """Return whether a request since then holds a text."""
    return any(text in one.text for one in model.asked[since:])


def _wait(is_done: Callable[[], bool]) -> None:
    """Wait until something is so, or patience ends."""
    until_s = time.monotonic() + _NOTICE_S
    while time.monotonic() < until_s and not is_done():
        time.sleep(_PAUSE_S)


def _expect(is_so: bool, why: str, seen: str) -> None:
    """Fail unless something is so."""
    if not is_so:
        raise FailedError(f"{why}: {tail(seen)!r}")


def _settle(place: Scratch, worktree: Path) -> None:
    """Answer beforehand what the program asks a person at its first start."""
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {
            str(folder): trusted for folder in (worktree, place.root / "lighthouse")
        },
    }
    place.put(".claude.json", json.dumps(settings))
