"""The tool memory_search."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from hivemind_memory.errors import NotesMissingError
from hivemind_memory.mcp_server.search_output import (
    SearchOut,
    empty_search,
    render_search,
    shape_search,
)
from hivemind_memory.mcp_server.tools import (
    ALWAYS_LOAD,
    READS,
    ScopeName,
    ToolCall,
    ToolRunner,
    Tools,
    TypeNames,
    make_tool,
)
from hivemind_memory.model.filters import DEFAULT_FILTER
from hivemind_memory.model.query import Query

MAX_RESULTS = 100

# An argument that was left out follows the settings; the schema shows their defaults.
_NOT_GIVEN = -1

_MAX_SESSIONS = 1_000


class SearchTool:
    """Searches the memory."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tool."""
        self._runner = runner
        # Why a search is not hybrid seldom changes, so each session reads it once.
        self._reasons: dict[str, str] = {}

    def tools(self) -> Tools:
        """Yield the tool."""
        yield make_tool(self.memory_search, "Search the memory", READS, ALWAYS_LOAD)

    async def memory_search(
        self,
        query: Annotated[str, Field(description="plain words, in any language")],
        context: Context[Any],
        max_results: Annotated[
            int, Field(ge=1, le=MAX_RESULTS, json_schema_extra={"default": 10})
        ] = _NOT_GIVEN,
        min_score: Annotated[
            float,
            Field(
                ge=0,
                le=1,
                allow_inf_nan=False,
                description="lower finds more",
                json_schema_extra={"default": 0.3},
            ),
        ] = _NOT_GIVEN,
        *,
        types: TypeNames = [],  # noqa: B006 - the SDK copies it
        scope: ScopeName = "",
        inbox: Annotated[
            bool, Field(description="include claims that await review")
        ] = False,
        source_ref: Annotated[
            str, Field(description="only from sources that begin with this")
        ] = "",
    ) -> Annotated[CallToolResult, SearchOut]:
        """Search the notes that all agents on this machine share.

        Call it before answering questions about earlier work, decisions, preferences,
        setup, people or projects, and before work that may have been done before.
        If nothing is known, say so; the places in nearest are not answers.
        """

        def work(call: ToolCall) -> SearchOut:
            memory = call.memory
            narrowing = {
                "types": ",".join(types),
                "scope": scope,
                "inbox": inbox,
                "source_ref": source_ref,
            }
            most = memory.settings.max_results if max_results < 0 else max_results
            asked = Query(
                text=query,
                max_results=min(most, MAX_RESULTS),
                min_score=None if min_score < 0 else min_score,
                search_filter=memory.parse_filter(**narrowing)
                if any(narrowing.values())
                else DEFAULT_FILTER,
            )
            try:
                answer = memory.search(asked)
            except NotesMissingError as error:
                return empty_search(f"{error}; memory_write creates the first note")
            memory.record_recall(answer, call.agent or "agent")
            shown = shape_search(answer)
            reason = shown.report.reason
            if self._reasons.get(call.session) == reason:
                shown.report.reason = ""
            if len(self._reasons) >= _MAX_SESSIONS:
                self._reasons.clear()
            self._reasons[call.session] = reason
            return shown

        return await self._runner.run("memory_search", context, work, render_search)
