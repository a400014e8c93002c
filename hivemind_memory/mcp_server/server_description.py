"""Describes the server, for ``docs/mcp-tools.md`` and ``tools.json``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse, jsonrpc_message_adapter
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from hivemind_memory.config.settings import TOOLSETS
from hivemind_memory.errors import HivemindError
from hivemind_memory.mcp_server.handshake import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    SERVER_KEY,
    VERSION_KEY,
)
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ActivityParts, ServerState
from hivemind_memory.model.value import replaced

Rows = list[tuple[str, str]]

_EMPTY_LISTS = ("prompts/list", "resources/list", "resources/templates/list")
"""Of what the server has none of, and what clients ask for all the same."""

_ONLY = (
    ". The tool is listed only if the option `activity` or `session_sources` is set"
    " when the server starts"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedTool:
    """One tool, as ``docs/mcp-tools.md`` shows it."""

    name: str
    description: str
    arguments: Rows
    results: Rows
    hints: str
    """What a client may rely on, as a clause."""


def described_tools() -> list[DescribedTool]:
    """Return every tool that is offered without a toolset, in its order."""
    answers = first_answers()
    always = [_describe(tool) for tool in answers["tools"]]
    more = [_describe(tool) for tool in answers["activityTools"]]
    return [*always, *(replaced(tool, hints=f"{tool.hints}{_ONLY}") for tool in more)]


def described_toolsets() -> dict[str, list[DescribedTool]]:
    """Return the tools of each toolset, by its name."""
    toolsets = first_answers()["toolsets"].items()
    return {name: [_describe(tool) for tool in tools] for name, tools in toolsets}


def first_answers() -> dict[str, Any]:
    """Return the SDK's answers to a client's first requests, for the handshake."""
    list_tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    version = HANDSHAKE_PROTOCOL_VERSIONS[-1]
    client = {"name": "", "version": ""}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    initialize, listed, *empty = anyio.run(
        _ask,
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        list_tools,
        *(
            {"jsonrpc": "2.0", "id": number, "method": method}
            for number, method in enumerate(_EMPTY_LISTS, 3)
        ),
    )
    _, with_activity = anyio.run(
        _ask_with_activity,
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        list_tools,
    )
    meta = {
        VERSION_KEY: MODERN_PROTOCOL_VERSIONS[-1],
        CAPABILITIES_KEY: {},
        CLIENT_KEY: client,
    }
    discover, envelope = anyio.run(
        _ask,
        *(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": method,
                "params": {"_meta": meta},
            }
            for number, method in enumerate(("server/discover", "tools/list"))
        ),
    )
    # Once in the file: the protocols must not differ in them.
    same = (discover.pop("instructions"), envelope.pop("tools"))
    assert same == (initialize["instructions"], listed["tools"])  # noqa: S101
    del initialize["protocolVersion"], initialize["serverInfo"]["version"]
    del envelope["_meta"][SERVER_KEY]["version"]
    return {
        "protocolVersions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "initialize": initialize,
        "discover": {
            key: value for key, value in discover.items() if key not in envelope
        },
        "envelope": envelope,
        "emptyLists": dict(zip(_EMPTY_LISTS, empty, strict=True)),
        "tools": listed["tools"],
        "activityTools": with_activity["tools"][len(listed["tools"]) :],
        "toolsets": {name: _tools_of(name, len(listed["tools"])) for name in TOOLSETS},
    }


def _tools_of(toolset: str, usual: int) -> list[dict[str, Any]]:
    """Return the tools that a toolset adds to so many usual ones."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    meta = {
        VERSION_KEY: MODERN_PROTOCOL_VERSIONS[-1],
        CAPABILITIES_KEY: {},
        CLIENT_KEY: {"name": "", "version": ""},
    }
    request = {**asked, "params": {"_meta": meta}}
    [listed] = anyio.run(lambda: _ask(request, toolsets=(toolset,)))
    tools: list[dict[str, Any]] = listed["tools"][usual:]
    return tools


async def _ask_with_activity(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a server with activity to search."""
    return await _ask(*requests, has_activity=True)


async def _ask(
    *requests: dict[str, Any],
    toolsets: tuple[str, ...] = (),
    has_activity: bool = False,
) -> list[dict[str, Any]]:
    """Return a server's results for requests."""
    server_state = ServerState(
        _refuse_to_open, toolsets=toolsets, activity=ActivityParts(has_activity)
    )
    server = make_server(server_state, session="")
    to_server, received = anyio.create_memory_object_stream[Any](len(requests))
    to_send, answers = anyio.create_memory_object_stream[Any](len(requests))
    results = []
    with to_server, received, to_send, answers:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, received, to_send)
            for request in requests:
                message = jsonrpc_message_adapter.validate_python(request)
                await to_server.send(SessionMessage(message))
                answer = (await answers.receive()).message
                assert isinstance(answer, JSONRPCResponse)  # noqa: S101 - ours to answer
                results.append(answer.model_dump(by_alias=True, exclude_unset=True))
            group.cancel_scope.cancel()
    return [result["result"] for result in results]


def _refuse_to_open() -> Any:
    """Refuse to open a memory: describing the tools needs none."""
    raise HivemindError("Describing the tools opens no memory.")


def _describe(tool: dict[str, Any]) -> DescribedTool:
    """Return one tool."""
    schema = tool["outputSchema"]
    return DescribedTool(
        name=tool["name"],
        description=tool["description"],
        arguments=list(_arguments(tool["inputSchema"])) or [("", "none")],
        results=list(_results(schema, schema, "")),
        hints=_hints(tool),
    )


def _arguments(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and meaning of each argument."""
    required = schema.get("required", ())
    for name, argument in schema["properties"].items():
        parts = [
            argument["type"],
            "required" if name in required else _default(argument),
        ]
        bounds = [argument[key] for key in ("minimum", "maximum") if key in argument]
        if len(bounds) == 2:
            parts.append(f"{bounds[0]} to {bounds[1]}")
        elif bounds:
            parts.append(f"at least {bounds[0]}")
        values = argument.get("enum") or argument.get("items", {}).get("enum")
        if values:
            parts.append(", ".join(values))
        if "description" in argument:
            parts.append(argument["description"])
        yield name, "; ".join(parts)


def _results(
    root: dict[str, Any], schema: dict[str, Any], before: str
) -> Iterator[tuple[str, str]]:
    """Yield place and meaning of each field, those of inner objects too."""
    for name, field in schema["properties"].items():
        inner = field.get("items", field)
        place = f"{before}{name}" + ("[]" if "items" in field else "")
        if "$ref" in inner:
            key = inner["$ref"].rpartition("/")[2]
            yield from _results(root, root["$defs"][key], f"{place}.")
            continue
        parts = [inner["type"]]
        if "description" in field:
            parts.append(field["description"])
        yield place, "; ".join(parts)


def _default(schema: dict[str, Any]) -> str:
    """Return the value that applies when an argument is left out."""
    default = schema.get("default")
    return "optional" if default is None else f"default {default}"


def _hints(tool: dict[str, Any]) -> str:
    """Return what a client may rely on."""
    hints = tool["annotations"]
    hints_text = ["read-only" if hints["readOnlyHint"] else "not destructive"]
    if hints["idempotentHint"]:
        hints_text.append("idempotent")
    if tool.get("_meta", {}).get("anthropic/alwaysLoad"):
        hints_text.append("load at start")
    return ", ".join(hints_text)
