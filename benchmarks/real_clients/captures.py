"""The hooks of `hm connect --capture`, and what counts as the user's words.

A user types three prompts, runs a command with `!`, and has the session compacted; then
the session ends. It is queued once, what the user typed is the user's, what the command
put out is a tool's, and the agent's end does not wait for a model: there is none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.real_clients.agents import KEY, claude_env
from benchmarks.real_clients.check import Check, FailedError, tail
from benchmarks.real_clients.connect import run_hm
from benchmarks.real_clients.pane import (
    SESSION,
    end_pane,
    settle,
    start_pane,
    tmux,
    wait_for,
)
from benchmarks.real_clients.scratch import Scratch
from benchmarks.real_clients.stand_in import LAST_WORDS, StandIn, playing
from hivemind_memory.transcripts.message import TOOL, USER, FileState, Message
from hivemind_memory.transcripts.sources import LineSource, all_sources

PROMPTS = ["The first prompt.", "The second prompt.", "The third prompt."]
COMMAND, PUT_OUT = "echo SHELL-$((40+2))", "SHELL-42"
MAX_END_S = 15.0
"""A busy machine takes seconds to start a hook; a model would take longer."""

_PAUSE_S = 6.0
_OPTIONS = {
    "llm_provider": "openai",
    "llm_model": "none-there",
    "llm_base_url": "http://127.0.0.1:9/v1",
    "capture": "inbox",
}


def checks() -> list[Check]:
    """Return the checks."""
    return [
        Check(
            name=f"{agent} --capture, its interface in tmux, the end of a session",
            programs=(agent, "git", "tmux"),
            run=partial(_capture, agent),
            needs_server=False,
            needs_hm=True,
        )
        for agent in ("claude", "gemini")
    ]


def _capture(agent: str, place: Scratch) -> str:
    """Play a session to its end; look at its transcript and at the queue."""
    worktree = place.worktree()
    for name, value in _OPTIONS.items():
        place.run(place.hm, "config", "set", name, value)
    start = _claude if agent == "claude" else _gemini
    with playing() as model:
        words, env = start(place, worktree, model)
        run_hm(place, "connect", agent, "--capture")
        try:
            start_pane(place, worktree, words, env)
            took_s = _play(place, agent)
        finally:
            end_pane(place)
    said = [message for file in _files(place, agent) for message in file]
    typed = [message.text for message in said if message.role == USER]
    shell = [message.role for message in said if PUT_OUT in message.text]
    if typed != PROMPTS or set(shell) != {TOOL}:
        raise FailedError(f"typed {typed}, the command is of {shell}")
    jobs = place.run(place.hm, "jobs").text
    if jobs.count(f"{agent}:") != 1:
        raise FailedError(f"queued: {tail(jobs)!r}")
    if took_s > MAX_END_S:
        raise FailedError(f"the end took {took_s:.1f} s")
    return f"3 prompts are the user's; queued once; ended after {took_s:.1f} s"


def _claude(
    place: Scratch, worktree: Path, model: StandIn
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return what starts Claude Code."""
    place.put(".claude.json", "{}")
    settle(place, worktree)
    return (place.setting.find("claude") or "claude",), claude_env(model)


def _gemini(
    place: Scratch, _worktree: Path, model: StandIn
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return what starts Gemini CLI."""
    auth = {"auth": {"selectedType": "gemini-api-key"}}
    place.put(".gemini/settings.json", json.dumps({"security": auth}))
    gemini = place.setting.find("gemini") or "gemini"
    env = {
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_API_KEY": KEY,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return ("env", "-u", "CI", gemini, "--model", "gemini-2.5-flash"), env


def _play(place: Scratch, agent: str) -> float:
    """Type what the user types; return how long the end took, in seconds."""
    wait_for(place, "for shortcuts" if agent == "gemini" else "shift+tab")
    time.sleep(_PAUSE_S)
    first, second, third = PROMPTS
    _type(place, first)
    wait_for(place, LAST_WORDS)
    _type(place, "!")
    _type(place, COMMAND)
    if agent == "gemini":
        tmux(place, "send-keys", "-t", f"={SESSION}:", "Escape")
        # A letter that follows at once would be read as Alt and that letter.
        wait_for(place, "Type your message")
    _type(place, second)
    _type(place, "/compress" if agent == "gemini" else "/compact")
    time.sleep(_PAUSE_S)
    _type(place, third)
    _type(place, "/quit" if agent == "gemini" else "/exit", pause_s=0)
    began_s = time.monotonic()
    while SESSION in tmux(place, "list-sessions"):
        if time.monotonic() - began_s > 4 * MAX_END_S:
            break
        time.sleep(0.1)
    return time.monotonic() - began_s


def _type(place: Scratch, text: str, *, pause_s: float = _PAUSE_S) -> None:
    """Type a line into the pane, and give the program time."""
    tmux(place, "send-keys", "-t", f"={SESSION}:", "-l", text)
    if text == "!":  # a mode, not a line
        time.sleep(1)
        return
    time.sleep(1)
    tmux(place, "send-keys", "-t", f"={SESSION}:", "Enter")
    time.sleep(pause_s)


def _files(place: Scratch, agent: str) -> Iterator[list[Message]]:
    """Yield the messages of each transcript of an agent, as capture reads them."""
    for source in all_sources(str(place.home), {}):
        if source.name != agent or not isinstance(source, LineSource):
            continue
        for file in place.home.glob(f".{agent}/**/*.jsonl"):
            state = FileState()
            lines = file.read_text(encoding="utf-8").splitlines()
            records = [json.loads(line) for line in lines]
            yield [m for r in records for m in source.read_record(r, state)]
