"""Which tools belong to a toolset, beside those that are always offered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mcp.server.mcpserver.tools import Tool

from hivemind_memory.mcp_server.tools import ToolRunner, Tools
from hivemind_memory.mcp_server.tools_briefing import BriefingTool
from hivemind_memory.mcp_server.tools_context import ContextTool
from hivemind_memory.mcp_server.tools_use import UseTool

_TOOLS: dict[str, Callable[[ToolRunner], Tools]] = {
    "context": lambda runner: ContextTool(runner).tools(),
    "briefing": lambda runner: BriefingTool(runner).tools(),
    "skills": lambda runner: UseTool(runner).tools(),
}
"""Name in ``TOOLSETS`` of the settings -> what makes its tools; a test compares."""


def tools_of(toolsets: Iterable[str], runner: ToolRunner) -> Iterator[Tool]:
    """Yield the tools of some toolsets, each toolset once."""
    for name in dict.fromkeys(toolsets):
        yield from _TOOLS[name](runner)
