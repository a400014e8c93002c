"""What the tools take and return, as rows for a reader; made from their schemas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.types import Tool

from hivemind_memory.errors import HivemindError
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState

Rows = list[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedTool:
    """One tool, as ``docs/mcp-tools.md`` shows it."""

    name: str
    description: str
    arguments: Rows
    results: Rows
    hints: str
    """What the client may rely on, as a clause."""


def described_tools() -> list[DescribedTool]:
    """Return every tool of the server, in its order."""
    server = make_server(ServerState(_no_memory), session="")
    return [_described(tool) for tool in anyio.run(server.list_tools)]


def _no_memory() -> Any:
    """Refuse to open anything: describing needs no notes."""
    raise HivemindError("nothing is opened to describe the tools")


def _described(tool: Tool) -> DescribedTool:
    """Return one tool."""
    arguments = list(_arguments(tool.input_schema)) or [("", "none")]
    results = list(_results(tool.output_schema or {}, tool.output_schema or {}, ""))
    return DescribedTool(
        name=tool.name,
        description=tool.description or "",
        arguments=arguments,
        results=results,
        hints=_hints(tool),
    )


def _arguments(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and meaning of each argument."""
    required = schema.get("required", ())
    for name, one in schema["properties"].items():
        said = [one["type"], "required" if name in required else _default(one)]
        bounds = [one[key] for key in ("minimum", "maximum") if key in one]
        if len(bounds) == 2:
            said.append(f"{bounds[0]} to {bounds[1]}")
        elif bounds:
            said.append(f"at least {bounds[0]}")
        if "description" in one:
            said.append(one["description"])
        yield name, "; ".join(said)


def _results(
    root: dict[str, Any], schema: dict[str, Any], before: str
) -> Iterator[tuple[str, str]]:
    """Yield place and meaning of each field, those of inner objects too."""
    for name, one in schema["properties"].items():
        inner = one.get("items", one)
        place = f"{before}{name}" + ("[]" if "items" in one else "")
        if "$ref" in inner:
            key = inner["$ref"].rpartition("/")[2]
            yield from _results(root, root["$defs"][key], f"{place}.")
            continue
        said = [inner["type"]]
        if "description" in one:
            said.append(one["description"])
        yield place, "; ".join(said)


def _default(schema: dict[str, Any]) -> str:
    """Return what counts when an argument is not given."""
    return f"default {schema['default']}" if schema.get("default") != "" else "optional"


def _hints(tool: Tool) -> str:
    """Return what the client may rely on."""
    hints = tool.annotations
    if hints is None:
        return "none"
    said = ["only reads" if hints.read_only_hint else "adds and never destroys"]
    if hints.idempotent_hint:
        said.append("may be repeated")
    if (tool.meta or {}).get("anthropic/alwaysLoad"):
        said.append("to be loaded at once")
    return ", ".join(said)
