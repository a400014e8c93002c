"""Agents over HTTP whose PWD names another folder than the one that they work in.

A program that starts an agent elsewhere leaves PWD as it was; a service has none. The
header that `hm connect --http` writes is made of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.real_clients.agents import (
    GEMINI_SETTINGS,
    LEARNED,
    LOG,
    WRITE,
    ask_claude,
    ask_gemini,
    ask_opencode,
    ask_qwen,
    opencode_settings,
)
from benchmarks.real_clients.check import Check, FailedError, tail
from benchmarks.real_clients.scratch import NAME, Scratch
from benchmarks.real_clients.stand_in import StandIn, playing
from hivemind_memory.connect.agents import AGENTS
from hivemind_memory.connect.entries import RemoteServer, server_entry

Settings = Callable[[StandIn], Mapping[str, Any]]
Ask = Callable[[Scratch, Path, StandIn, Mapping[str, str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """An agent, and how it is started with a scripted model."""

    name: str
    file: str
    settings: Settings
    ask: Ask
    extra: Mapping[str, Any]
    """What else its entry needs, so that it asks nobody."""

    follows_pwd: bool = False
    """Whether it works in the folder that PWD names, wherever it was started."""


CLIENTS = (
    Client(
        name="claude",
        file=".claude.json",
        settings=lambda _: {},
        ask=ask_claude,
        extra={},
    ),
    Client(
        name="gemini",
        file=".gemini/settings.json",
        settings=lambda _: GEMINI_SETTINGS,
        ask=ask_gemini,
        extra={"trust": True},
    ),
    Client(
        name="opencode",
        file=".config/opencode/opencode.json",
        settings=opencode_settings,
        ask=ask_opencode,
        extra={},
        follows_pwd=True,
    ),
    Client(
        name="qwen",
        file=".qwen/settings.json",
        settings=lambda _: {},
        ask=ask_qwen,
        extra={"trust": True},
    ),
)


def checks() -> list[Check]:
    """Return the checks."""
    return [
        Check(
            name=f"{client.name} over HTTP, PWD is {what}",
            programs=(client.name, "git"),
            run=partial(_writes, client, is_stale=is_stale),
            needs_http=True,
        )
        for client in CLIENTS
        for what, is_stale in (("of another folder", True), ("empty", False))
    ]


def _writes(client: Client, place: Scratch, *, is_stale: bool) -> str:
    """Let the agent write; see that its own project has the entry."""
    worktree = place.worktree()
    other = place.root / "bakery"
    other.mkdir()
    place.git(other, "init", "--quiet")
    agent = next(agent for agent in AGENTS if agent.name == client.name)
    with place.http() as (url, token), playing(WRITE) as model:
        entry = server_entry(agent, RemoteServer(url=url, token=token))
        settings = {
            **client.settings(model),
            agent.table: {NAME: {**entry, **client.extra}},
        }
        place.put(client.file, json.dumps(settings))
        pwd = {"PWD": str(other) if is_stale else ""}
        printed = client.ask(place, worktree, model, pwd)
    if not model.answers:
        raise FailedError(f"no tool answered: {tail(printed)!r}")
    found = [
        str(log.parent.relative_to(place.notes))
        for log in place.notes.rglob(LOG)
        if LEARNED in log.read_text(encoding="utf-8")
    ]
    folder = other if is_stale and client.follows_pwd else place.root / "lighthouse"
    if found != [f"projects/{folder.name}"]:
        raise FailedError(f"written to {found}: {tail(model.answers[0])!r}")
    return "written to the project of its folder"
