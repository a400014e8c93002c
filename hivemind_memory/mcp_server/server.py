"""The MCP server: the SDK's, with one-sentence errors and escaped output.

It serves whatever transport hands it; ``stdio`` and ``http`` are the transports.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, InputRequiredResult, Tool
from pydantic import BaseModel, ValidationError

from hivemind_memory.errors import HivemindError
from hivemind_memory.mcp_server.activity_recorder import (
    CURRENT_CALL,
    ActivityRecorder,
    RecordedCall,
)
from hivemind_memory.mcp_server.connections import Connections
from hivemind_memory.mcp_server.errors import (
    expected_error,
    invalid_argument_error,
    unexpected_error,
    unknown_argument_error,
    unknown_tool_error,
)
from hivemind_memory.mcp_server.http_tokens import token_of
from hivemind_memory.mcp_server.instructions import INSTRUCTIONS
from hivemind_memory.mcp_server.offered_scopes import kinds_of, offer_scopes
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.mcp_server.tools import ToolRunner
from hivemind_memory.mcp_server.tools_learn import LearnTool
from hivemind_memory.mcp_server.tools_list import ListTool
from hivemind_memory.mcp_server.tools_memory import MemoryTools
from hivemind_memory.mcp_server.tools_notes import NoteTools
from hivemind_memory.mcp_server.tools_search import SearchTool
from hivemind_memory.mcp_server.tools_sessions import SessionTool
from hivemind_memory.mcp_server.toolsets import tools_of
from hivemind_memory.mcp_server.upgrade import UpgradeCheck
from hivemind_memory.model.display import escape_text
from hivemind_memory.redaction import mask
from hivemind_memory.version import __version__

logger = logging.getLogger(__name__)

NAME = "hivemind-memory"
TITLE = "Hivemind Memory"
DESCRIPTION = "One memory for every coding agent on your machine."


def make_server(
    server_state: ServerState, session: str, *, asks_for_roots: bool = False
) -> MemoryServer:
    """Return a server with its tools; nothing is opened before a tool is called.

    Args:
        server_state: Opens the memory.
        session: Name of this process, recorded in the entries that it writes.
        asks_for_roots: Whether the folder of this process says nothing of the client's
            project, so that one on standard input is asked for its roots too.
    """
    connections = Connections(
        session,
        has_projects=server_state.has_projects,
        asks_for_roots=asks_for_roots,
    )

    async def heed_roots(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Ask a client for its roots again when it says that they have changed."""
        if ctx.method == "notifications/roots/list_changed":
            connections.forget_roots()
        return await call_next(ctx)

    async def offer_own_scopes(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Offer the scopes of the server, and of the token of the request."""
        result = await call_next(ctx)
        if ctx.method == "tools/list" and isinstance(result, dict):
            token = token_of(ctx.request)
            own = () if token is None else (token.workspace, token.teams)
            more = kinds_of(*own, has_tree=False) if own else ()
            offer_scopes(result["tools"], (*server_state.more_scopes, *more))
        return result

    runner = ToolRunner(server_state, connections)
    server = MemoryServer(
        NAME,
        title=TITLE,
        description=DESCRIPTION,
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        tools=[
            *SearchTool(runner).tools(),
            *NoteTools(runner).tools(),
            *ListTool(runner).tools(),
            *MemoryTools(runner).tools(),
            *LearnTool(runner).tools(),
            *(SessionTool(runner).tools() if server_state.has_activity else ()),
            *tools_of(server_state.toolsets, runner),
        ],
        subscriptions=False,
        middleware=[_escape_results, _advertise_tools, offer_own_scopes, heed_roots],
    )
    server.upgrade_check = UpgradeCheck()
    server.connections = connections
    server.has_projects = server_state.has_projects
    server.more_scopes = server_state.more_scopes
    server.recorder = server_state.recorder
    return server


_EMPTY: tuple[object, ...] = ("", [], None)


class MemoryServer(MCPServer[Any]):
    """An ``MCPServer`` whose errors are sentences."""

    upgrade_check: UpgradeCheck
    connections: Connections
    has_projects: bool
    """Whether connections may bring projects of their own."""

    more_scopes: tuple[str, ...]
    """team, workspace or both, if the server was started with them."""

    recorder: ActivityRecorder | None
    """Records calls; None: they are not recorded."""

    async def serve(self, received: Any, to_send: Any) -> None:
        """Serve one client over a pair of streams until the first one ends."""
        low = self._lowlevel_server
        await low.run(received, to_send, low.create_initialization_options())

    async def list_tools(self) -> list[Tool]:
        """Return the tools without what costs tokens in a schema and says nothing.

        That is titles and, in arguments, defaults that are empty: an argument that is
        not required may be left out.
        """
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = _without_titles(tool.input_schema)
            for argument in tool.input_schema["properties"].values():
                if argument.get("default") in _EMPTY:
                    argument.pop("default", None)
                argument.pop("maxItems", None)
            if tool.output_schema is not None:
                tool.output_schema = _without_titles(tool.output_schema)
        return tools

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, and have the call recorded if calls are.

        Raises:
            ToolError: The call failed; the message is for the model.
        """
        if self.recorder is None:
            return await self._call_tool(name, arguments, context)
        call = RecordedCall(tool=name, arguments=arguments)
        CURRENT_CALL.set(call)
        try:
            return await self._call_tool(name, arguments, context)
        except Exception as error:
            call.error = str(error)
            raise
        finally:
            self.recorder.put(call)

    async def _call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; see ``call_tool``."""
        try:
            self.upgrade_check.refuse_if_upgraded()
        except HivemindError as error:
            raise expected_error(name, error) from error
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            names = (known.name for known in self._tool_manager.list_tools())
            raise unknown_tool_error(name, names)
        known = tool.parameters.get("properties", {})
        arguments = _with_types(arguments, known)
        required = tool.parameters.get("required", ())
        arguments = {
            key: value if key in required else _without_blanks(value)
            for key, value in arguments.items()
            if key in required or key not in known or not _is_blank(value)
        }
        unknown = unknown_argument_error(name, known, arguments)
        if unknown is not None:
            raise unknown
        question = None if context is None else self.connections.question(context)
        if question is not None:
            return question
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            logger.exception("%s failed", name)
            raise unexpected_error(name, _cause(error)) from error
        except ToolError as error:
            cause = _cause(error)
            if isinstance(cause, ValidationError):
                raise invalid_argument_error(name, known, cause) from cause
            # The SDK puts its own words before the message.
            raise ToolError(mask(str(cause))) from error


def _with_types(arguments: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with ``type`` as ``types`` where a tool takes several.

    Other tools take one ``type``, and models send that name here too.

    >>> _with_types({"type": "goal"}, {"types": {}})
    {'types': 'goal'}
    """
    is_other_name = "type" in arguments and "type" not in known and "types" in known
    if not is_other_name or not _is_blank(arguments.get("types")):
        return arguments
    rest = {key: value for key, value in arguments.items() if key != "type"}
    return {**rest, "types": arguments["type"]}


def _is_blank(value: object) -> bool:
    """Whether a value stands for an argument that is left out.

    Models and strict schemas send null or an empty text where they mean nothing.

    >>> _is_blank(None), _is_blank(" "), _is_blank(0), _is_blank([])
    (True, True, False, False)
    """
    return value is None or (isinstance(value, str) and not value.strip())


def _without_blanks(value: Any) -> Any:
    """Return a list without its blank items; anything else as it is."""
    if isinstance(value, list):
        return [item for item in value if not _is_blank(item)]
    return value


def _masked(value: Any) -> Any:
    """Return what an error repeats of a request, without secrets in its texts."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {_masked(key): _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


async def _escape_results(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Escape everything that goes out, results and errors alike."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        raise MCPError(
            code=error.error.code,
            message=escape_texts(mask(error.error.message)),
            data=escape_texts(_masked(error.error.data)),
        ) from error
    if isinstance(result, BaseModel):
        return result
    escaped: HandlerResult = escape_texts(result)
    return escaped


async def _advertise_tools(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Advertise the tools alone; the SDK would name prompts and resources too.

    There are none, and a client that reads of them asks for two empty lists.
    """
    if ctx.method == "prompts/get":
        raise MCPError(code=INVALID_PARAMS, message="This server has no prompts.")
    result = await call_next(ctx)
    if ctx.method in {"initialize", "server/discover"} and isinstance(result, dict):
        tools = result["capabilities"]["tools"]
        return {**result, "capabilities": {"tools": tools}}
    return result


def escape_texts(value: Any) -> Any:
    r"""Return a value made of plain types with control characters in its texts escaped.

    A note, a file name or an argument can hold control characters, invisible ones, and
    lone surrogates that no encoding takes. Keys of objects are ours and stay.

    >>> escape_texts({"text": "a\x1b[31m"})
    {'text': 'a\\x1b[31m'}
    """
    if isinstance(value, str):
        return escape_text(value)
    if isinstance(value, dict):
        return {key: escape_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escape_texts(item) for item in value]
    return value


def _cause(error: ToolError) -> Exception:
    """Return the exception that the SDK wrapped, or the error itself."""
    cause = error.__cause__
    return cause if isinstance(cause, Exception) else error


def _without_titles(schema: Any) -> Any:
    """Return a JSON schema without its titles; a property may still be named title."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: part
        for key, part in schema.items()
        if key != "title" or not isinstance(part, str)
    }
    return {key: _without_titles(item) for key, item in kept.items()}
