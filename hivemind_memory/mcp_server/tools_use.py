"""The tool memory_record_use, of the toolset skills."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from hivemind_memory.mcp_server.tools import (
    CHANGES,
    ScopeName,
    ToolCall,
    ToolRunner,
    Tools,
    make_tool,
)
from hivemind_memory.model.display import count_text
from hivemind_memory.model.keys import operand
from hivemind_memory.model.uses import OUTCOMES


class UseOut(BaseModel):
    """What memory_record_use returns."""

    key: str
    id: str
    outcome: str
    is_new: bool = Field(description="false: this session was counted before")
    applied: int = Field(description="sessions in which it was applied")
    days: int = Field(description="days on which it was applied")
    against: int = Field(
        default=0, description="times it was contradicted or corrected"
    )
    offer: str = Field(
        default="", description="command with which a person makes it a skill"
    )


class UseTool:
    """Records uses."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tool."""
        self._runner = runner

    def tools(self) -> Tools:
        """Yield the tool."""
        yield make_tool(self.memory_record_use, "Record a use of a memory", CHANGES)

    async def memory_record_use(
        self,
        ref: Annotated[str, Field(description="key, id or path of the memory")],
        outcome: Annotated[str, Field(json_schema_extra={"enum": list(OUTCOMES)})],
        context: Context[Any],
        scope: ScopeName = "",
    ) -> Annotated[CallToolResult, UseOut]:
        """Record whether following a memory worked.

        Call it once the result is known. applied: you followed it and it worked.
        ignored: it did not matter. contradicted: it turned out to be wrong. corrected:
        it was right only after a change, which you should save. What works again and
        again is offered to the person as a skill.
        """

        def work(call: ToolCall) -> UseOut:
            memory = call.memory
            done = memory.curation.uses(memory.settings.skill_uses).record(
                ref, outcome, session=call.session, scope=scope
            )
            offer = f"hm skill promote {operand(done.key)}" if done.is_offered else ""
            return UseOut(
                key=done.key,
                id=done.id,
                outcome=done.outcome,
                is_new=done.is_new,
                applied=done.counts.applied,
                days=done.counts.days,
                against=done.counts.against,
                offer=offer,
            )

        return await self._runner.run("memory_record_use", context, work, _render)


def _render(shown: UseOut) -> str:
    """Return the same as text."""
    sessions = count_text(shown.applied, "session")
    days = f" on {count_text(shown.days, 'day')}" if shown.days else ""
    text = f"Recorded: {shown.key} was {shown.outcome}."
    if not shown.is_new:
        text = f"{shown.key} was {shown.outcome}; this session was counted before."
    text += f" Applied in {sessions}{days}."
    if shown.offer:
        text += f" Tell the person that it can become a skill: `{shown.offer}`."
    return text
