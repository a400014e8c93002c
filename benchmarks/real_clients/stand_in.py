"""A model on loopback that plays a script: calls the tools it is offered, in order.

It says nothing of whether a real model would call them; it shows what the agent sends
to its model, and that a tool's answer finds its way back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.real_clients.dialects import (
    LOOK,
    Body,
    Dialect,
    Say,
    Tool,
    Turn,
    Use,
    dialect_of,
)
from benchmarks.real_clients.web_server import serving

LAST_WORDS = "The stand-in is done."
MAX_LOOKS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A call that the model makes when it is its turn."""

    tool: str
    """Its name as the server gives it; clients put words before it."""

    arguments: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of an agent to its model."""

    text: str
    """The whole request, as readable text."""

    offered: tuple[Tool, ...]
    answers: tuple[str, ...]
    """What tools have answered so far."""

    looks: int
    """How often the model has looked for tools that were not offered."""


@dataclass(slots=True)
class StandIn:
    """What is played, and what was asked."""

    calls: Sequence[ScriptedCall]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    """Requests that no dialect knows."""

    prompt_tokens: int = 10
    """How long Gemini CLI and Qwen Code are told that their request was."""

    @property
    def first_prompts(self) -> list[str]:
        """Requests in which no tool has answered yet."""
        return [one.text for one in self.asked if not one.answers]

    @property
    def answers(self) -> tuple[str, ...]:
        """What the tools have answered in the longest of the conversations."""
        return max((one.answers for one in self.asked), key=len, default=())

    @property
    def had_to_look(self) -> bool:
        """Whether the tools were not among those that were offered first."""
        return any(one.looks for one in self.asked)

    @property
    def offered(self) -> set[str]:
        """Names of all tools that were ever offered."""
        return {tool.name for one in self.asked for tool in one.offered}

    def turn_for(self, asked: Asked) -> Turn:
        """Return what the model does next: each call once, then its last words.

        Where a tool is not offered it first calls one of the agent's own. Claude Code
        and Codex wait about a second for a server, and Claude Code's interface not at
        all: the one tells its model that servers are still connecting and that
        ToolSearch waits for what it looks for; the other offers what has connected
        since with its next request. Qwen Code offers no tool of a server before its
        model has looked for it with tool_search.
        """
        number = len(asked.answers)
        if number == len(self.calls):
            return Say(text=LAST_WORDS)
        call = self.calls[number]
        tool = _named(call.tool, asked)
        if tool is not None:
            return Use(tool=tool, arguments=call.arguments, id=f"call_{number}")
        looks: dict[str, Body] = {
            "ToolSearch": {"query": call.tool},
            "tool_search": {"query": call.tool},
            "exec_command": {"cmd": "sleep 3"},
        }
        for name, arguments in looks.items():
            looking = _named(name, asked)
            if looking is not None and asked.looks < MAX_LOOKS:
                given = f"{LOOK}_{asked.looks}"
                return Use(tool=looking, arguments=arguments, id=given)
        return Say(text=LAST_WORDS)

    def answer(self, path: str, raw: bytes) -> tuple[str, bytes] | None:
        """Return content type and bytes for a request, or nothing for a strange one."""
        speaker = dialect_of(path)
        if speaker is None:
            self.strange.append(path)
            return None
        body = json.loads(raw)
        asked = _read(speaker, body)
        self.asked.append(asked)
        is_streamed = bool(body.get("stream")) or ":stream" in path
        kind, data = speaker.reply(self.turn_for(asked), is_streamed=is_streamed)
        for name in (b"promptTokenCount", b"prompt_tokens"):
            told = b'"%b": %d' % (name, self.prompt_tokens)
            data = data.replace(b'"%b": 10' % name, told)
        return kind, data


@contextmanager
def playing(*calls: ScriptedCall) -> Iterator[StandIn]:
    """Serve a scripted model on a free port."""
    model = StandIn(calls)
    with serving(model.answer) as url:
        model.url = url
        yield model


def _read(speaker: Dialect, body: Body) -> Asked:
    """Return what a request holds."""
    return Asked(
        text=_readable(body),
        offered=tuple(speaker.offered(body)),
        answers=tuple(speaker.answers(body)),
        looks=speaker.looks(body),
    )


def _named(name: str, asked: Asked) -> Tool | None:
    """Return the tool that is offered under a name, with or without words before it."""
    return next((one for one in asked.offered if one.name.endswith(name)), None)


def _readable(value: object) -> str:
    """Return every text in a request, one after the other, unescaped."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(_readable(one) for one in value.values())
    if isinstance(value, list):
        return "\n".join(_readable(one) for one in value)
    return ""
