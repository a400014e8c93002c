"""The tool get_memory_bulletin, of the toolset briefing."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from hivemind_memory.context.briefing import briefing_fields, find_briefing
from hivemind_memory.mcp_server.tools import (
    READS,
    ScopeName,
    ToolCall,
    ToolRunner,
    Tools,
    make_tool,
)
from hivemind_memory.model.display import count_text


class BriefingOut(BaseModel):
    """A briefing, or why there is none."""

    body: str = Field(description="empty: there is none")
    scope: str
    generated_at: str
    is_model: bool = Field(default=False, description="a language model wrote it")
    model: str = Field(default="", description="name of that model")
    is_stale: bool = Field(default=False, description="memories were saved since")
    sources: list[str] = Field(
        default=[], description="ids of the memories, for memory_get"
    )
    why: str = Field(default="", description="why there is none")
    warning: str = Field(default="", description="why it may be out of date")


class BriefingTool:
    """Returns briefings."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tool."""
        self._runner = runner

    def tools(self) -> Tools:
        """Yield the tool."""
        yield make_tool(self.get_memory_bulletin, "Read the briefing of a scope", READS)

    async def get_memory_bulletin(
        self, context: Context[Any], scope: ScopeName = ""
    ) -> Annotated[CallToolResult, BriefingOut]:
        """Return what matters most in a scope, in about 120 words.

        The first sentences of its decisions, goals, preferences and lessons, or what a
        language model made of them. Search for the rest.
        """

        def work(call: ToolCall) -> BriefingOut:
            return BriefingOut(**briefing_fields(find_briefing(call.memory, scope)))

        return await self._runner.run("get_memory_bulletin", context, work, _render)


def _render(shown: BriefingOut) -> str:
    """Return the same as text; what is quoted begins each line with a bar."""
    warning = f"\n{shown.warning}" if shown.warning else ""
    if not shown.body:
        return f"No briefing of {shown.scope}: {shown.why}{warning}"
    quoted = "\n".join(f"| {line}" for line in shown.body.split("\n"))
    count = count_text(len(shown.sources), "memory", "memories")
    by = f", written by {shown.model} on {shown.generated_at[:10]}"
    is_old = shown.is_stale and not shown.warning
    stale = "; memories were saved since" if is_old else ""
    made = f"{by}{stale}" if shown.is_model else ""
    return f"Briefing of {shown.scope}, from {count}{made}:\n{quoted}{warning}"
