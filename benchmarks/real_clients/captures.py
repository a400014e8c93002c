"""The hooks of `hm connect --capture`, and what counts as the user's words.

A user types three prompts, runs a command with `!`, and has the session compacted; then
the session ends. It is queued once, what the user typed is the user's, what the command
put out is a tool's, and the agent's end does not wait for a model: there is none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.real_clients.agents import (
    GEMINI_SETTINGS,
    KEY,
    MODEL,
    QWEN_WORDS,
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
_LONG = 100_000
"""Tokens that Qwen Code finds worth compressing, and does not compress by itself."""

_TYPE_HERE = "Type your message"
_REMINDER = "Before you finish: did this session teach"
_OPTIONS = {
    "llm_provider": "openai",
    "llm_model": "none-there",
    "llm_base_url": "http://127.0.0.1:9/v1",
    "capture": "inbox",
}


Start = Callable[[Scratch, Path, StandIn], tuple[Sequence[str], Mapping[str, str]]]
"""Returns the words and the variables that start an agent's interface."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """An agent's interface, as far as it is typed into."""

    agent: str
    start: Start
    is_ready: str
    """What it shows when it takes a prompt."""

    compress: str
    end: str
    keeps_shell: bool = False
    """Whether it stays a shell after a command, until somebody leaves it."""


def checks() -> list[Check]:
    """Return the checks."""
    interfaces = (
        Interface(
            agent="claude",
            start=_claude,
            is_ready="shift+tab",
            compress="/compact",
            end="/exit",
        ),
        Interface(
            agent="codex",
            start=_codex,
            is_ready=f"{MODEL} default",
            compress="/compact",
            end="/quit",
        ),
        Interface(
            agent="gemini",
            start=_gemini,
            is_ready="for shortcuts",
            compress="/compress",
            end="/quit",
            keeps_shell=True,
        ),
        Interface(
            agent="qwen",
            start=_qwen,
            is_ready=_TYPE_HERE,
            compress="/compress",
            end="/quit",
            keeps_shell=True,
        ),
    )
    return [
        Check(
            name=f"{interface.agent} --capture, its interface in tmux, {what}",
            programs=(interface.agent, "git", "tmux"),
            run=partial(run, interface),
            needs_server=False,
            needs_hm=True,
        )
        for interface in interfaces
        for what, run in (
            ("the end of a session", _capture),
            ("a reminder without a language model", _remind),
        )
        if run is _capture or interface.agent in ("codex", "qwen")
    ]


def _capture(interface: Interface, place: Scratch) -> str:
    """Play a session to its end; look at its transcript and at the queue."""
    agent = interface.agent
    _, took_s = _session(interface, place, _OPTIONS)
    said = [message for file in _files(place, agent) for message in file]
    typed = [message.text for message in said if message.role == USER]
    shell = [message.role for message in said if PUT_OUT in message.text]
    kept = set() if agent == "qwen" else {TOOL}  # its transcript has no commands
    if typed != PROMPTS or set(shell) != kept:
        raise FailedError(f"typed {typed}, the command is of {shell}")
    jobs = place.run(place.hm, "jobs").text
    if jobs.count(f"{agent}:") != 1:
        raise FailedError(f"queued: {tail(jobs)!r}")
    if took_s > MAX_END_S:
        raise FailedError(f"the end took {took_s:.1f} s")
    return f"3 prompts are the user's; queued once; ended after {took_s:.1f} s"


def _remind(interface: Interface, place: Scratch) -> str:
    """The third prompt is followed by a reminder, which is not the user's."""
    model, _ = _session(interface, place, {"capture": _OPTIONS["capture"]})
    told = [one.text.count(_REMINDER) for one in model.asked]
    said = [message for file in _files(place, interface.agent) for message in file]
    typed = [message.text for message in said if message.role == USER]
    if max(told, default=0) != 1 or typed != PROMPTS:
        raise FailedError(f"reminded {told}, typed {typed}")
    return "reminded once, and 3 prompts are the user's"


def _session(
    interface: Interface, place: Scratch, options: Mapping[str, str]
) -> tuple[StandIn, float]:
    """Play a session; return what was asked, and how many seconds its end took."""
    worktree = place.worktree()
    for name, value in options.items():
        place.run(place.hm, "config", "set", name, value)
    with playing() as model:
        words, env = interface.start(place, worktree, model)
        run_hm(place, "connect", interface.agent, "--capture")
        try:
            start_pane(place, worktree, words, env)
            took_s = _play(place, interface, model)
        finally:
            end_pane(place)
    return model, took_s


def _claude(
    place: Scratch, worktree: Path, model: StandIn
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return what starts Claude Code."""
    place.put(".claude.json", "{}")
    settle(place, worktree)
    return (place.setting.find("claude") or "claude",), claude_env(model)


def _codex(
    place: Scratch, worktree: Path, model: StandIn
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return what starts Codex, in a folder that it trusts."""
    trusted = (
        f'[projects."{folder}"]\ntrust_level = "trusted"\n'
        for folder in (worktree, place.root / "lighthouse")
    )
    place.put(".codex/config.toml", "".join(trusted))
    codex = place.setting.find("codex") or "codex"
    words = (codex, "--dangerously-bypass-hook-trust", *codex_words(model))
    return ("env", "-u", "CI", *words), {"OPENAI_API_KEY": KEY}


def _gemini(
    place: Scratch, _worktree: Path, model: StandIn
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return what starts Gemini CLI."""
    place.put(".gemini/settings.json", json.dumps(GEMINI_SETTINGS))
    gemini = place.setting.find("gemini") or "gemini"
    words = ("env", "-u", "CI", gemini, "--model", "gemini-2.5-flash")
    return words, gemini_env(model)


def _qwen(
    place: Scratch, _worktree: Path, model: StandIn
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return what starts Qwen Code."""
    qwen = place.setting.find("qwen") or "qwen"
    return ("env", "-u", "CI", qwen, *QWEN_WORDS), qwen_env(model)


def _play(place: Scratch, interface: Interface, model: StandIn) -> float:
    """Type what the user types; return how long the end took, in seconds."""
    wait_for(place, interface.is_ready)
    time.sleep(_PAUSE_S)
    first, second, third = PROMPTS
    _type(place, first)
    wait_for(place, LAST_WORDS)
    _type(place, "!")
    _type(place, COMMAND)
    if interface.keeps_shell:
        tmux(place, "send-keys", "-t", f"={SESSION}:", "Escape")
        # A letter that follows at once would be read as Alt and that letter.
        wait_for(place, _TYPE_HERE)
        time.sleep(1)
    if interface.agent == "qwen":
        model.prompt_tokens = _LONG
    _type(place, second)
    _type(place, interface.compress)
    model.prompt_tokens = 10
    time.sleep(_PAUSE_S)
    _type(place, third)
    _type(place, interface.end, pause_s=0)
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
