"""The hooks of `hm connect --hooks`: who gets the section, and how often.

Wants an `hm` that is installed, as ``connect`` does. Codex is told to trust the hooks,
for nobody is there to do so.
"""

from __future__ import annotations

import json
import time
from functools import partial

from benchmarks.real_clients.agents import (
    GEMINI_SETTINGS,
    HEADING,
    QWEN_WORDS,
    ask_qwen,
    claude_env,
    codex_words,
    gemini_env,
    qwen_env,
)
from benchmarks.real_clients.check import Check, FailedError, tail
from benchmarks.real_clients.connect import run_hm
from benchmarks.real_clients.pane import (
    SESSION,
    end_pane,
    start_pane,
    tmux,
    wait_for,
)
from benchmarks.real_clients.scratch import QUESTION, Scratch
from benchmarks.real_clients.stand_in import (
    LAST_WORDS,
    Asked,
    ScriptedCall,
    StandIn,
    playing,
)

TASK = "Look for the lamp of the tide gauge."
SUBAGENT = ScriptedCall(
    tool="Agent",
    arguments={"description": "look", "prompt": TASK, "subagent_type": "Explore"},
)
PROMPTS = ("The first prompt.", "The second prompt.", "The third prompt.")
_STARTED = "Type your message"
_COMPRESS = "/compress"
_COMPRESSED = "history compressed"  # both say so
_WAIT_S = 60.0
_HOOK_S = 6.0
_LONG = {"gemini": 900_000, "qwen": 100_000}
"""Tokens that are worth compressing, and not yet compressed without being asked."""


def checks() -> list[Check]:
    """Return the checks."""
    return [
        Check(
            name="claude --hooks, a subagent that is given no files",
            programs=("claude", "git"),
            run=_claude,
            needs_server=False,
            needs_hm=True,
        ),
        Check(
            name="claude --worktree, without and with --hooks",
            programs=("claude", "git"),
            run=_claude_worktree,
            needs_server=False,
            needs_hm=True,
        ),
        Check(
            name="codex --hooks, trusted",
            programs=("codex", "git"),
            run=_codex,
            needs_server=False,
            needs_hm=True,
        ),
        Check(
            name="gemini --hooks, its interface in tmux, a compression",
            programs=("gemini", "git", "tmux"),
            run=partial(_compression, "gemini"),
            needs_server=False,
            needs_hm=True,
        ),
        Check(
            name="qwen --hooks, without its interface",
            programs=("qwen", "git"),
            run=_qwen,
            needs_server=False,
            needs_hm=True,
        ),
        Check(
            name="qwen --hooks, its interface in tmux, a compression",
            programs=("qwen", "git", "tmux"),
            run=partial(_compression, "qwen"),
            needs_server=False,
            needs_hm=True,
        ),
    ]


def _claude(place: Scratch) -> str:
    """A section in CLAUDE.md reaches the session, and the hook the subagent."""
    worktree = place.worktree()
    place.must(place.hm, "inject", "--agent", "claude", cwd=worktree)
    run_hm(place, "connect", "claude", "--hooks")
    ask = ("claude", "-p", QUESTION, "--allowedTools", SUBAGENT.tool)
    with playing(SUBAGENT) as model:
        printed = place.run(*ask, cwd=worktree, env=claude_env(model)).text
    own = [one for one in model.asked if TASK in one.text and QUESTION not in one.text]
    _see_once(own[:1], printed)
    return "the section is once in its first request"


def _claude_worktree(place: Scratch) -> str:
    """It runs no hook of git in a worktree that it makes; its own hook it does."""
    place.worktree()
    repository = place.root / "lighthouse"
    place.must(place.hm, "git-hook", "install", cwd=repository)
    for number, expected in enumerate((0, 1)):
        if expected:
            run_hm(place, "connect", "claude", "--hooks")
        with playing() as model:
            words = ("claude", "--worktree", f"lens{number}", "-p", QUESTION)
            printed = place.run(*words, cwd=repository, env=claude_env(model)).text
        counts = [one.text.count(HEADING) for one in model.asked[:1]]
        if counts != [expected]:
            raise FailedError(f"the section is in {counts}: {tail(printed)!r}")
    return "no section by git's hook, one by its own"


def _codex(place: Scratch) -> str:
    """The section is in the first request, without any file."""
    worktree = place.worktree()
    run_hm(place, "connect", "codex", "--hooks")
    with playing() as model:
        words = ("exec", "--dangerously-bypass-hook-trust", *codex_words(model))
        printed = place.run("codex", *words, QUESTION, cwd=worktree).text
    _see_once(model.asked[:1], printed)
    return "the section is once in the first request"


def _qwen(place: Scratch) -> str:
    """The section is in the first request, without any file."""
    worktree = place.worktree()
    run_hm(place, "connect", "qwen", "--hooks")
    with playing() as model:
        printed = ask_qwen(place, worktree, model)
    _see_once([one for one in model.asked if QUESTION in one.text][:1], printed)
    return "the section is once in the first request"


def _compression(agent: str, place: Scratch) -> str:
    """The section comes again after a compression, and with no other prompt."""
    worktree = place.worktree()
    if agent == "gemini":
        place.put(".gemini/settings.json", json.dumps(GEMINI_SETTINGS))
    run_hm(place, "connect", agent, "--hooks")
    with playing() as model:
        model.prompt_tokens = _LONG[agent]
        program = place.setting.find(agent) or agent
        more = QWEN_WORDS if agent == "qwen" else ("--model", "gemini-2.5-flash")
        words = ("env", "-u", "CI", program, *more)
        env = qwen_env(model) if agent == "qwen" else gemini_env(model)
        try:
            start_pane(place, worktree, words, env)
            wait_for(place, _STARTED)
            # It takes a prompt before its hook has ended, and then tells it later.
            time.sleep(_HOOK_S)
            for word in (*PROMPTS[:1], _COMPRESS, *PROMPTS[1:]):
                _type(place, word)
                if word == _COMPRESS:
                    wait_for(place, _COMPRESSED)
                    model.prompt_tokens = 10
                else:
                    _wait_for_prompt(model, word)
            pane = wait_for(place, LAST_WORDS)
        finally:
            end_pane(place)
    found = [one for word in PROMPTS for one in _asked(model, word)[:1]]
    if len(found) != len(PROMPTS):
        raise FailedError(f"{len(found)} prompts arrived: {tail(pane)!r}")
    _see_once(found, pane)
    return "the section is once in each request, before and after a compression"


def _type(place: Scratch, text: str) -> None:
    """Type a line into the pane; a paste with its end would be one text."""
    tmux(place, "send-keys", "-t", f"={SESSION}:", "-l", text)
    time.sleep(1)
    tmux(place, "send-keys", "-t", f"={SESSION}:", "Enter")


def _asked(model: StandIn, prompt: str) -> list[Asked]:
    """Return the requests that have a prompt and may call tools."""
    return [one for one in model.asked if prompt in one.text and one.offered]


def _wait_for_prompt(model: StandIn, prompt: str) -> None:
    """Wait until a prompt has arrived and its answer is shown, or for a while."""
    until_s = time.monotonic() + _WAIT_S
    while not _asked(model, prompt) and time.monotonic() < until_s:
        time.sleep(0.2)
    time.sleep(1)


def _see_once(asked: list[Asked], printed: str) -> None:
    """See that each request has the section once."""
    counts = [one.text.count(HEADING) for one in asked]
    if not counts or set(counts) != {1}:
        raise FailedError(f"the section is in {counts}: {tail(printed)!r}")
