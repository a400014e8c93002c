"""The server: the SDK's, with errors in one sentence and clean text on the way out."""

from __future__ import annotations

import logging
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, InputRequiredResult, Tool
from pydantic import BaseModel, ValidationError

from hivemind_memory.mcp_server.clean import clean
from hivemind_memory.mcp_server.errors import (
    invalid_argument_error,
    unexpected_error,
    unknown_argument_error,
)
from hivemind_memory.mcp_server.instructions import INSTRUCTIONS
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.mcp_server.tools_memory import MemoryTools
from hivemind_memory.mcp_server.tools_notes import NoteTools
from hivemind_memory.version import __version__

logger = logging.getLogger(__name__)

NAME = "hivemind-memory"


def make_server(server_state: ServerState, session: str) -> MemoryServer:
    """Return a server with the tools; nothing is opened before a tool is called.

    Args:
        server_state: Opens the memory.
        session: Name of this process, which the entries carry that it writes.
    """
    server = MemoryServer(
        NAME,
        title="Hivemind Memory",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        subscriptions=False,
        middleware=[_clean_results],
    )
    tools = NoteTools(server_state, session)
    tools.add_to(server)
    MemoryTools(tools).add_to(server)
    return server


class MemoryServer(MCPServer[Any]):
    """An ``MCPServer`` whose failures are sentences."""

    async def serve(self, received: Any, to_send: Any) -> None:
        """Serve one client over a pair of streams until the first one ends."""
        low = self._lowlevel_server
        await low.run(received, to_send, low.create_initialization_options())

    async def list_tools(self) -> list[Tool]:
        """Return the tools without the titles that a model pays for and does not need.

        Of their schemas only: the tools themselves keep theirs.
        """
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = _untitled(tool.input_schema)
            if tool.output_schema is not None:
                tool.output_schema = _untitled(tool.output_schema)
        return tools

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: It failed; the message is for the model.
        """
        tool = self._tool_manager.get_tool(name)
        if tool is not None:
            known = tool.parameters.get("properties", {})
            strange = unknown_argument_error(name, known, arguments)
            if strange is not None:
                raise strange
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            logger.exception("%s failed", name)
            raise unexpected_error(name, _cause(error)) from error
        except ToolError as error:
            cause = _cause(error)
            if isinstance(cause, ValidationError):
                raise invalid_argument_error(name, cause) from cause
            # The SDK puts words before ours.
            raise ToolError(str(cause)) from error


async def _clean_results(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Clean everything that goes out, results and errors alike."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        raise MCPError(
            code=error.error.code,
            message=clean(error.error.message),
            data=clean(error.error.data),
        ) from error
    if isinstance(result, BaseModel):
        return result
    cleaned: HandlerResult = clean(result)
    return cleaned


def _cause(error: ToolError) -> Exception:
    """Return what the SDK wrapped, or the error itself."""
    cause = error.__cause__
    return cause if isinstance(cause, Exception) else error


def _untitled(schema: Any) -> Any:
    """Return a JSON schema without its titles; a property may still be called title."""
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: one
        for key, one in schema.items()
        if key != "title" or not isinstance(one, str)
    }
    return {key: _untitled(one) for key, one in kept.items()}
