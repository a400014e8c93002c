"""The tool memory_learn: saves a claim with its confidence."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from hivemind_memory.mcp_server.save_output import SaveOut, render_saved
from hivemind_memory.mcp_server.tools import (
    CHANGES,
    TYPES,
    SourceRef,
    ToolCall,
    ToolRunner,
    Tools,
    WriteScopeName,
    client_name,
    make_tool,
)
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memory_types import CONFIDENCES, DEFAULT_CONFIDENCE

_NOT_GIVEN = -1


class LearnTool:
    """Saves claims."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tool."""
        self._runner = runner

    def tools(self) -> Tools:
        """Yield the tool."""
        yield make_tool(self.memory_learn, "Save a claim and its certainty", CHANGES)

    async def memory_learn(  # noqa: PLR0913, PLR0917 - the arguments that clients know
        self,
        topic: Annotated[str, Field(description="a few words, e.g. sqlite locks")],
        claim: str,
        context: Context[Any],
        confidence: Annotated[
            str, Field(json_schema_extra={"enum": list(CONFIDENCES)})
        ] = DEFAULT_CONFIDENCE,
        corroborated: Annotated[
            int,
            Field(
                ge=0,
                description="independent sources; default: counted by domain",
                json_schema_extra={"default": None},
            ),
        ] = _NOT_GIVEN,
        domains: Annotated[
            list[str], Field(description="of the sources, e.g. sqlite.org")
        ] = [],  # noqa: B006 - the SDK copies it
        verified: Annotated[str, Field(description="YYYY-MM-DD; default: today")] = "",
        type: Annotated[  # noqa: A002 - the name that clients know
            str, Field(json_schema_extra={"enum": list(TYPES)})
        ] = "",
        scope: WriteScopeName = "",
        source_ref: SourceRef = "",
    ) -> Annotated[CallToolResult, SaveOut]:
        """Save a claim and how certain it is.

        Call it for what sources or tests confirm. Saving it again updates it. With
        high confidence and two sources it becomes a lesson, else a reference, which
        only searches show.
        """
        by = client_name(context)

        def work(call: ToolCall) -> SaveOut:
            call.check_scope(scope)
            wanted = NewMemory(
                key="",
                content=claim,
                type=type,
                scope=scope,
                source_ref=source_ref,
                by=by,
                session=call.session,
                source="agent",
            )
            learned = call.memory.curation.learn(
                wanted,
                topic=topic,
                confidence=confidence,
                domains=domains,
                corroborated=None if corroborated < 0 else corroborated,
                verified=verified,
            )
            saved = SaveOut.model_validate(learned)
            saved.warnings += call.scope_warnings(scope, saved.scope)
            return saved

        return await self._runner.run("memory_learn", context, work, render_saved)
