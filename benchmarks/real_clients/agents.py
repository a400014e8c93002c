"""Agents end to end: the section is in the first prompt, the tools are called.

The model is scripted; all else is as the agent's maker ships it. Every agent works
in a linked worktree, and git must not see that anything was injected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.real_clients.check import Check, FailedError, expect, tail
from benchmarks.real_clients.scratch import (
    NAME,
    PORT,
    PREFERENCE,
    QUESTION,
    Scratch,
)
from benchmarks.real_clients.stand_in import LAST_WORDS, ScriptedCall, StandIn, playing

HEADING = "## Hivemind Memory (auto-injected, do not edit)"
LEARNED = "The tide gauge was read by an agent."
LOG = "log.md"
SEARCH = ScriptedCall(tool="memory_search", arguments={"query": QUESTION})
WRITE = ScriptedCall(tool="memory_write", arguments={"content": LEARNED, "file": LOG})
KEY = "no-key-is-needed"
MODEL = "stand-in"
GEMINI_SETTINGS = {"security": {"auth": {"selectedType": "gemini-api-key"}}}

QWEN_WORDS = ("--auth-type", "openai", "--yolo")

Play = Callable[[Scratch, Path, StandIn], str]
"""Runs an agent in a worktree, and returns what it printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent and how it is started with another model."""

    name: str
    """As the program and as ``hm inject --agent`` call it."""

    play: Play
    has_tools: bool = True


def checks() -> list[Check]:
    """Return the checks."""
    agents = (
        Agent(name="claude", play=play_claude),
        Agent(name="codex", play=play_codex),
        Agent(name="gemini", play=play_gemini),
        Agent(name="opencode", play=play_opencode),
        Agent(name="aider", play=_play_aider, has_tools=False),
    )
    return [
        Check(
            name=f"{agent.name} end to end in a linked worktree",
            programs=(agent.name, "git"),
            run=partial(_end_to_end, agent),
            needs_server=agent.has_tools,
            needs_hm=True,
        )
        for agent in agents
    ]


def _end_to_end(agent: Agent, place: Scratch) -> str:
    """Inject, run, and look at what the model was sent."""
    worktree = place.worktree()
    place.must(place.hm, "inject", "--agent", agent.name, cwd=worktree)
    with playing(*((SEARCH, WRITE) if agent.has_tools else ())) as model:
        printed = agent.play(place, worktree, model)
    see_section(model, printed)
    expect(printed, LAST_WORDS)
    if agent.has_tools:
        see_tools(model, place)
    see_clean(place, worktree)
    tools = f"{called(model)} and answered" if agent.has_tools else "no MCP"
    return f"section in the first prompt; {tools}; git sees nothing"


def see_section(model: StandIn, printed: str) -> None:
    """See that the model was sent the injected section, once, before any tool."""
    prompts = [one for one in model.first_prompts if HEADING in one]
    if not prompts:
        raise FailedError(
            f"no section in {len(model.asked)} requests: {tail(printed)!r}"
        )
    if any(one.count(HEADING) != 1 for one in prompts):
        raise FailedError("the section came twice")
    expect(prompts[0].partition(HEADING)[2], PREFERENCE, "`global.md:1`")


def see_tools(model: StandIn, place: Scratch) -> None:
    """See that both tools answered, and that the note is on the disk."""
    if len(model.answers) != 2:
        ours = sorted(one for one in model.offered if "memory_" in one)
        raise FailedError(f"{len(model.answers)} tools answered; offered: {ours}")
    found, written = model.answers
    expect(found, PORT, "projects/harbour.md")
    expect(written, LOG)
    # What an agent learns in a repository belongs to its project.
    log = place.notes / "projects" / "lighthouse" / LOG
    if not log.exists() or LEARNED not in log.read_text(encoding="utf-8"):
        raise FailedError("memory_write answered, and the note does not hold it")


def called(model: StandIn) -> str:
    """Return what was called, and whether it was there from the start."""
    late = " (not offered at first)" if model.had_to_look else ""
    return f"search and write called{late}"


def see_clean(place: Scratch, worktree: Path) -> None:
    """See that git shows nothing, whatever the agent did."""
    status = place.git(worktree, "status", "--porcelain")
    if status:
        raise FailedError(f"git status shows {status!r}")


def claude_env(model: StandIn) -> dict[str, str]:
    """Return what makes Claude Code ask the scripted model alone."""
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def codex_words(model: StandIn) -> list[str]:
    """Return what makes Codex ask the scripted model, for one start."""
    provider = {
        "model": MODEL,
        "model_provider": "loopback",
        "model_providers.loopback.name": "loopback",
        "model_providers.loopback.base_url": f"{model.url}/v1",
        "model_providers.loopback.wire_api": "responses",
    }
    return [word for key, one in provider.items() for word in ("-c", f'{key}="{one}"')]


ALLOWED = tuple(f"mcp__{NAME}__{tool}" for tool in ("memory_search", "memory_write"))


def play_claude(place: Scratch, worktree: Path, model: StandIn) -> str:
    """Run Claude Code without its interface."""
    add = ("mcp", "add", "--scope", "user", NAME, "--", *place.server)
    place.must("claude", *add)
    printed = ask_claude(place, worktree, model)
    # It asks git with all filters off, and tells its model what that says.
    if any(" M CLAUDE.md" in one for one in model.first_prompts):
        raise FailedError("the model was told that CLAUDE.md is changed")
    return printed


def ask_claude(
    place: Scratch, folder: Path, model: StandIn, env: Mapping[str, str] | None = None
) -> str:
    """Start Claude Code in a folder, and return what it printed."""
    ask = ("claude", "-p", QUESTION, "--allowedTools", *ALLOWED)
    return place.run(*ask, cwd=folder, env={**claude_env(model), **(env or {})}).text


def play_codex(place: Scratch, worktree: Path, model: StandIn) -> str:
    settings = f"""\
model = "{MODEL}"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "{model.url}/v1"
wire_api = "responses"
"""
    place.put(".codex/config.toml", settings)
    place.must("codex", "mcp", "add", NAME, "--", *place.server)
    return place.run("codex", "exec", QUESTION, cwd=worktree).text


def play_gemini(place: Scratch, worktree: Path, model: StandIn) -> str:
    place.put(".gemini/settings.json", json.dumps(GEMINI_SETTINGS))
    # --trust: without it every call asks a person who is not there.
    add = ("mcp", "add", "--scope", "user", "--trust", NAME, *place.server)
    place.must("gemini", *add)
    return ask_gemini(place, worktree, model)


def ask_gemini(
    place: Scratch, folder: Path, model: StandIn, env: Mapping[str, str] | None = None
) -> str:
    """Start Gemini CLI in a folder, and return what it printed."""
    # A model by name: else another model is asked first which one to take.
    ask = ("gemini", "--model", "gemini-2.5-flash", "--prompt", QUESTION)
    return place.run(*ask, cwd=folder, env={**gemini_env(model), **(env or {})}).text


def gemini_env(model: StandIn) -> dict[str, str]:
    """Return what makes Gemini CLI ask the scripted model alone."""
    return {
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_API_KEY": KEY,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def play_opencode(place: Scratch, worktree: Path, model: StandIn) -> str:
    place.put(".config/opencode/opencode.json", json.dumps(opencode_settings(model)))
    place.must("opencode", "mcp", "add", NAME, "--", *place.server)
    return ask_opencode(place, worktree, model)


def ask_opencode(
    place: Scratch, folder: Path, _: StandIn, env: Mapping[str, str] | None = None
) -> str:
    """Start OpenCode in a folder, and return what it printed."""
    return place.run("opencode", "run", QUESTION, cwd=folder, env=env).text


def ask_qwen(
    place: Scratch, folder: Path, model: StandIn, env: Mapping[str, str] | None = None
) -> str:
    """Start Qwen Code in a folder, and return what it printed."""
    ask = ("qwen", *QWEN_WORDS, "--prompt", QUESTION)
    return place.run(*ask, cwd=folder, env={**qwen_env(model), **(env or {})}).text


def qwen_env(model: StandIn) -> dict[str, str]:
    """Return what makes Qwen Code ask the scripted model alone."""
    return {
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_API_KEY": KEY,
        "OPENAI_MODEL": MODEL,
    }


def opencode_settings(model: StandIn) -> dict[str, object]:
    """Return what makes OpenCode ask the scripted model alone."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "loopback",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": KEY},
        "models": {MODEL: {"name": MODEL}},
    }
    return {"provider": {"loopback": provider}, "model": f"loopback/{MODEL}"}


def _play_aider(place: Scratch, worktree: Path, model: StandIn) -> str:
    """It knows no MCP, and reads only the files that it is told to read."""
    quiet = (
        "--no-check-update",
        "--no-analytics",
        "--no-show-model-warnings",
        "--no-gitignore",
        "--no-git",
        "--yes-always",
    )
    # Its history would lie in the worktree.
    history = (
        "--input-history-file",
        str(place.home / "input"),
        "--chat-history-file",
        str(place.home / "chat"),
    )
    done = place.must(place.hm, "inject", "--agent", "aider", "--json", cwd=worktree)
    # Of an hm that injects nothing there is nothing to read.
    file = json.loads(done or "{}").get("file", "AGENTS.md")
    ask = ("--model", f"openai/{MODEL}", "--read", file, "--message", QUESTION)
    env = {"OPENAI_API_BASE": f"{model.url}/v1", "OPENAI_API_KEY": KEY}
    return place.run("aider", *quiet, *history, *ask, cwd=worktree, env=env).text
