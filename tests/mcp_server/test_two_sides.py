"""A result as object and as text: neither may know what the other does not.

Claude Code and Codex show their model the object alone, Gemini CLI and OpenCode the
text (each was tried; `benchmarks/real_clients` looks again). So a field that the words
forget is unknown to half of the agents.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from hivemind_memory.mcp_server.save_output import SaveOut, render_saved
from hivemind_memory.mcp_server.search_output import SearchOut, render_search
from hivemind_memory.mcp_server.server import MemoryServer
from hivemind_memory.mcp_server.tools_list import (
    MemoriesOut,
    NotesOut,
    render_list,
)
from hivemind_memory.mcp_server.tools_memory import (
    ForgetOut,
    HistoryOut,
    LinkOut,
    render_forgotten,
    render_history,
    render_linked,
)
from hivemind_memory.mcp_server.tools_notes import (
    PassageOut,
    WriteOut,
    render_passage,
    render_written,
)
from tests.mcp_server.agents import call, found, piped, text_of

SIDES: tuple[tuple[type[BaseModel], Callable[[Any], str]], ...] = (
    (SearchOut, render_search),
    (PassageOut, render_passage),
    (NotesOut, render_list),
    (MemoriesOut, render_list),
    (WriteOut, render_written),
    (SaveOut, render_saved),
    (HistoryOut, render_history),
    (LinkOut, render_linked),
    (ForgetOut, render_forgotten),
)
MEANT: dict[str, tuple[str, str]] = {"status": ("superseded", "pending")}
"""Fields whose words are a closed list: two of them."""

SAVED: tuple[dict[str, Any], ...] = (
    {"key": "deploy-day", "content": "We deploy on Tuesdays only.", "type": "decision"},
    {"key": "deploy-hour", "content": "We deploy before noon.", "type": "decision"},
)
"""Typed memories that are there before each of these calls."""

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "deploy rollback staging"}),
    ("memory_search", {"query": "deploy rollback staging", "max_results": 1}),
    ("memory_search", {"query": "zebra"}),
    ("memory_get", {"path": "deploy.md"}),
    ("memory_get", {"path": "deploy.md", "from": 5, "lines": 2}),
    ("memory_get", {"path": "deploy.md:5-90"}),
    ("memory_list", {}),
    ("memory_list", {"after": "odd.md"}),
    ("memory_list", {"types": ["decision"]}),
    ("memory_list", {"types": ["todo"]}),
    ("memory_list", {"scope": "global"}),
    ("memory_search", {"query": "", "types": ["decision"]}),
    ("memory_learn", {"topic": "sqlite", "claim": "One writer.", "domains": ["a.org"]}),
    ("memory_write", {"content": "one\ntwo"}),
    ("memory_save", {"key": "editor", "content": "We use vim.", "type": "preference"}),
    ("memory_save", SAVED[0]),
    (
        "memory_save",
        {**SAVED[0], "content": "On Mondays.", "supersede_reason": "the fair moved"},
    ),
    ("memory_history", {"key": "deploy-day"}),
    ("memory_link", {"from": "deploy-day", "to": "deploy-hour", "kind": "related_to"}),
    ("memory_forget", {"key": "deploy-hour"}),
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture
def with_memories(server: MemoryServer) -> MemoryServer:
    """A server whose memory holds typed memories too."""
    for arguments in SAVED:
        found(call(server, "memory_save", **arguments))
    return server


def full(shape: type[BaseModel], fresh: Iterator[int]) -> dict[str, Any]:
    """A result in which every field says something of its own."""
    return {
        name: _value(name, field.annotation, fresh)
        for name, field in shape.model_fields.items()
    }


def _value(name: str, kind: Any, fresh: Iterator[int]) -> Any:
    if get_origin(kind) is list:
        return [_value(name, get_args(kind)[0], fresh)]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return full(kind, fresh)
    if kind is bool:
        return True
    if kind is str:
        return MEANT[name][0] if name in MEANT else f"word{next(fresh)}"
    return next(fresh)


def changed(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every result that differs from this one in one field, and which field that is."""
    if isinstance(value, dict):
        for key, one in value.items():
            for place, other in changed(one, key):
                yield f"{name}.{place}", {**value, key: other}
    elif isinstance(value, list):
        for place, other in changed(value[0], name):
            yield place, [other]
    elif isinstance(value, bool):
        yield name, not value
    elif isinstance(value, str):
        yield name, MEANT[name][1] if name in MEANT else f"{value}x"
    else:
        yield name, value + 1


@pytest.mark.parametrize(("shape", "word"), SIDES, ids=lambda one: one.__name__)
def test_the_text_tells_every_field(
    shape: type[BaseModel], word: Callable[[Any], str]
) -> None:
    """Of two results that differ the texts differ, whatever the field is."""
    whole = full(shape, itertools.count(4711, 17))
    said = word(shape.model_validate(whole))

    silent = [
        place
        for place, other in changed(whole)
        if word(shape.model_validate(other)) == said
    ]

    assert silent == []


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_the_object_holds_every_number_of_the_text(
    with_memories: MemoryServer, tool: str, arguments: dict[str, Any]
) -> None:
    """The other way round; only what counts the object's own items may be more."""
    result = call(with_memories, tool, **arguments)
    shape = found(result)
    held = json.dumps(shape, ensure_ascii=False)
    count = len(shape.get("hits", shape.get("memories", ())))

    numbers = set(NUMBER.findall(text_of(result)))
    counting = {str(number) for number in range(count + 1)}

    assert numbers - set(NUMBER.findall(held)) - counting == set()


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_the_object_has_nothing_that_says_nothing(
    with_memories: MemoryServer, tool: str, arguments: dict[str, Any]
) -> None:
    """A model pays for every field, and reads null as a fact."""

    def empty(value: Any) -> bool:
        if isinstance(value, dict):
            return any(empty(one) for one in value.values())
        if isinstance(value, list):
            return any(empty(one) for one in value)
        return value is None

    shape = found(call(with_memories, tool, **arguments))
    optional = {"files", "memories", "hits", "text"}  # empty, they are the answer

    assert not empty(shape)
    for part in (shape, shape.get("report", {}), *shape.get("hits", ())):
        assert not [
            name
            for name, one in part.items()
            if one in ("", []) and name not in optional
        ]


def test_what_goes_over_the_wire_has_no_white_space_of_its_own(home: object) -> None:
    """Indented, a result of ten hits would cost a third more."""
    with piped() as pipes:
        pipes.initialize()
        pipes.call("memory_search", "compact", query="deploy rollback staging")
        [line] = [one for one in pipes.raw if b'"compact"' in one]

    assert len(line) == len(
        json.dumps(json.loads(line), separators=(",", ":"), ensure_ascii=False).encode()
    )
