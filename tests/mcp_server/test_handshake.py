"""The first answers: given before the SDK is imported, and the same as the SDK's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.mcp_server.handshake import TOOLS_FILE, Handshake, shake_hands
from hivemind_memory.mcp_server.instructions import INSTRUCTIONS
from hivemind_memory.mcp_server.server_description import first_answers
from hivemind_memory.mcp_server.streams import LineReader
from tests.mcp_server.agents import piped

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x")
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
LIST_OF_CODEX = {**LIST, "params": {"_meta": {"progressToken": 0}}}
CALL = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "x"}}


def hello(version: str = "2025-06-18", **more: Any) -> dict[str, Any]:
    """A client's first request."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {**params, **more},
    }


def modern(method: str, given: str | int = 1, **more: Any) -> dict[str, Any]:
    """A request that carries its version, as Claude Code sends it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {
            "name": "test",
            "title": "Test",
            "version": "1",
        },
        "io.modelcontextprotocol/clientCapabilities": {
            "roots": {"listChanged": True},
            "elicitation": {"form": {}, "url": {}},
        },
    }
    params = {"_meta": {**meta, **more}}
    return {"jsonrpc": "2.0", "id": given, "method": method, "params": params}


@pytest.fixture
def pipes() -> Iterator[tuple[int, int, int, int]]:
    """Two pipes: to the server and from it."""
    ends = (*os.pipe(), *os.pipe())
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue  # the test has closed it


def shake(
    pipes: tuple[int, int, int, int],
    *messages: dict[str, Any],
    listed: Callable[[int], None] = lambda _: None,
) -> tuple[Handshake, list[dict[str, Any]]]:
    """Send messages and leave; return what was made of them, and the answers."""
    source, to_server, from_server, sink = pipes
    lines = [json.dumps(message).encode() + b"\n" for message in messages]
    os.write(to_server, b"".join(lines))
    os.close(to_server)
    reader = LineReader(source, sink)
    done = shake_hands(reader, sink, lambda: None, lambda: listed(len(messages)))
    os.close(sink)
    with open(from_server, "rb", closefd=False) as answers:
        return done, [json.loads(line) for line in answers]


def test_the_generated_answers_are_the_sdks() -> None:
    """`scripts/generate_docs.py --write` writes the file after a tool has changed."""
    assert json.loads(Path(TOOLS_FILE).read_text(encoding="utf-8")) == first_answers()


@pytest.mark.parametrize("version", VERSIONS)
def test_the_sdk_would_have_answered_the_same(home: Path, version: str) -> None:
    """Anything unusual, here a field that no client sends, leaves the answer to it."""
    answers = []
    for more in ({}, {"_meta": {"x": 1}}):
        with piped() as server:
            server.send(json.dumps(hello(version, **more)).encode())
            first = server.answer_to(1)
            server.send(json.dumps(READY).encode(), json.dumps(LIST).encode())
            answers.append((first, server.answer_to(2)))

    assert answers[0] == answers[1]


EMPTY_LISTS = ("prompts/list", "resources/list", "resources/templates/list")
LONG = {"padding": "x" * 70_000}


@pytest.mark.parametrize(
    ("opening", "request_of_client", "the_same_for_the_sdk"),
    [
        ([hello(), READY], LIST_OF_CODEX, {**LIST, "params": {"_meta": LONG}}),
        (
            [hello(), READY],
            {**LIST, "method": "ping", "params": {}},
            {**LIST, "method": "ping", "params": {"_meta": LONG}},
        ),
        (
            [],
            modern("server/discover", 2, progressToken="a"),
            modern("server/discover", 2, **LONG),
        ),
        ([], modern("tools/list", 2), modern("tools/list", 2, **LONG)),
        (
            [modern("server/discover", "probe")],
            modern("tools/list", 2),
            modern("tools/list", 2, **LONG),
        ),
        *(
            (
                [hello(), READY],
                {**LIST, "method": method},
                {**LIST, "method": method, "params": {"_meta": LONG}},
            )
            for method in EMPTY_LISTS
        ),
        *(([], modern(name, 2), modern(name, 2, **LONG)) for name in EMPTY_LISTS),
    ],
)
def test_what_clients_really_send_is_answered_as_the_sdk_does(
    home: Path,
    opening: list[dict[str, Any]],
    request_of_client: dict[str, Any],
    the_same_for_the_sdk: dict[str, Any],
) -> None:
    """What is long is left to the SDK, and means the same."""
    answers = []
    for last in (request_of_client, the_same_for_the_sdk):
        with piped() as server:
            for message in (*opening, last):
                server.send(json.dumps(message).encode())
            answers.append(server.answer_to(2))

    assert "result" in answers[0]
    assert answers[0] == answers[1]


def test_notifications_reach_the_sdk_in_their_order(
    pipes: tuple[int, int, int, int],
) -> None:
    """A cancelled request has its answer, and the SDK must not cancel its copy."""
    cancelled = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    }
    changed = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    done, _ = shake(pipes, hello(), READY, cancelled, changed, CALL)

    assert [json.loads(line) for line, _ in done.lines] == [
        hello(),
        READY,
        changed,
        CALL,
    ]


def test_no_empty_lists_are_advertised(home: Path) -> None:
    """A client that reads of prompts and resources asks for both."""
    for first in (hello(), hello(_meta=LONG), modern("server/discover")):
        with piped() as server:
            server.send(json.dumps(first).encode())
            capabilities = server.answer_to(1)["result"]["capabilities"]

        assert list(capabilities) == ["tools"]


def test_a_prompt_that_is_asked_for_all_the_same_is_unknown(home: Path) -> None:
    """It was an internal server error, with a traceback on standard error."""
    asked = {"method": "prompts/get", "params": {"name": "none"}}
    with piped() as server:
        server.send(json.dumps(hello()).encode())
        server.answer_to(1)
        server.send(json.dumps(READY).encode())
        server.send(json.dumps({"jsonrpc": "2.0", "id": 2, **asked}).encode())
        error = server.answer_to(2)["error"]

    assert (error["code"], error["message"]) == (-32602, "This server has no prompts.")


def test_a_protocol_that_the_connection_does_not_speak_is_left_to_the_sdk(
    pipes: tuple[int, int, int, int],
) -> None:
    """What the client has opened with decides, and the SDK explains it."""
    done, answers = shake(pipes, hello(), READY, modern("tools/list", 2))

    assert [answer["id"] for answer in answers] == [1]
    assert len(done.lines) == 3


def test_tools_are_listed_before_the_sdk_is_imported(
    pipes: tuple[int, int, int, int],
) -> None:
    """Importing it takes most of a second, and the first prompt does not wait."""
    done, answers = shake(pipes, hello(), READY, LIST)

    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["instructions"] == INSTRUCTIONS
    assert len(answers[1]["result"]["tools"]) == 9
    assert [json.loads(line)["method"] for line, _ in done.lines] == [
        "initialize",
        "notifications/initialized",
    ]
    assert done.answered == {1}


def test_empty_lists_are_answered_before_the_sdk_is_imported(
    pipes: tuple[int, int, int, int],
) -> None:
    """Qwen Code asks for two of them before the tools; the first took seconds.

    They are no tools that a client has got.
    """
    lists = [
        {**LIST, "id": number, "method": method}
        for number, method in enumerate(EMPTY_LISTS, 2)
    ]
    listed: list[int] = []

    done, answers = shake(pipes, hello(), READY, *lists, listed=listed.append)

    assert [answer["result"] for answer in answers[1:]] == [
        {"prompts": []},
        {"resources": []},
        {"resourceTemplates": []},
    ]
    assert listed == []
    assert len(done.lines) == 2


def test_what_the_handshake_cannot_answer_is_left_to_the_sdk(
    pipes: tuple[int, int, int, int],
) -> None:
    """Nothing that was read is lost."""
    done, answers = shake(pipes, hello(), READY, CALL, LIST)

    assert [answer["id"] for answer in answers] == [1]
    assert [json.loads(line) for line, _ in done.lines] == [hello(), READY, CALL]
    assert not done.has_client_left


def test_a_client_that_leaves_at_once_needs_no_sdk(
    pipes: tuple[int, int, int, int],
) -> None:
    """A server that nothing asks has nothing to import."""
    done, answers = shake(pipes, hello())

    assert done.has_client_left
    assert len(answers) == 1


CLAUDE_CODE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {
        "name": "claude-code",
        "title": "Claude Code",
        "version": "2.1.330",
        "description": "Anthropic's agentic coding tool",
        "websiteUrl": "https://claude.com/claude-code",
    },
    "io.modelcontextprotocol/clientCapabilities": {"roots": {"listChanged": True}},
}
"""What every request of Claude Code says about it."""


def alone(given: int | str, method: str, **more: Any) -> dict[str, Any]:
    """A request of the protocol without a handshake."""
    params = {"_meta": CLAUDE_CODE, **more}
    return {"jsonrpc": "2.0", "id": given, "method": method, "params": params}


DISCOVER = alone("server-discover-probe-1", "server/discover")
STATELESS = (DISCOVER, alone(2, "tools/list"))
"""What Claude Code 2.1.330 sends before its first prompt."""

CODEX = (hello(), READY, {**LIST, "params": {"_meta": {"progressToken": 0}}})
"""What Codex 0.169.0 sends."""


@pytest.mark.parametrize(
    ("sent", "known"),
    [(STATELESS, STATELESS[:1]), (CODEX, CODEX[:2])],
    ids=["claude", "codex"],
)
def test_real_clients_get_the_tools_before_the_sdk_is_imported(
    pipes: tuple[int, int, int, int],
    sent: tuple[dict[str, Any], ...],
    known: tuple[dict[str, Any], ...],
) -> None:
    """They ask in ways that were left to the SDK, and their first prompt did not wait.

    Claude Code waits some two seconds for the answer to its first question, Codex one
    for all of them.
    """
    done, answers = shake(pipes, *sent)

    given = [message["id"] for message in sent if "id" in message]
    assert [answer["id"] for answer in answers] == given
    assert len(answers[-1]["result"]["tools"]) == 9
    assert [json.loads(line) for line, _ in done.lines] == list(known)


def test_the_sdk_would_have_answered_a_client_without_a_handshake_the_same(
    home: Path,
) -> None:
    """Anything unusual, here another argument, leaves the answer to it."""
    answers = []
    for more in ({}, {"x": 1}):
        with piped() as server:
            for request in STATELESS:
                params = {**request["params"], **more}
                server.send(json.dumps({**request, "params": params}).encode())
            answers.append([server.answer_to(one["id"]) for one in STATELESS])

    assert answers[0] == answers[1]


def test_a_tool_is_called_after_the_early_answers_to_a_client_without_a_handshake(
    home: Path,
) -> None:
    """The SDK takes over in the protocol that the client speaks."""
    call = alone(3, "tools/call", name="memory_list", arguments={})

    with piped() as server:
        server.send(*(json.dumps(one).encode() for one in (*STATELESS, call)))
        answer = server.answer_to(3)

    assert "error" not in answer
    assert not answer["result"].get("isError")
