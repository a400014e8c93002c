"""The tools for typed memories: save, history, link, forget. See ``tools``.

None of them can purge: what is gone for good is for a person to decide.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field

from hivemind_memory.errors import UsageError
from hivemind_memory.mcp_server import render as wording
from hivemind_memory.mcp_server import shape as shaping
from hivemind_memory.mcp_server.schemas import ForgetOut, HistoryOut, LinkOut, SaveOut
from hivemind_memory.mcp_server.tools_notes import (
    READS,
    NoteTools,
    add_tool,
    client_name,
)
from hivemind_memory.model.curation import MemorySelector, NewMemory

_NO_IMPORTANCE = -1.0
# The same call again changes nothing more, and a person can undo it.
_CHANGES = ToolAnnotations(
    read_only_hint=False,
    destructive_hint=False,
    idempotent_hint=True,
    open_world_hint=False,
)
_Ref = Annotated[str, Field(description="key, id or path of a memory")]
_Names = Annotated[list[str], Field(description="keys or ids", max_length=50)]
_Words = Annotated[list[str], Field(max_length=50)]


class MemoryTools:
    """Four more tools of one server process."""

    def __init__(self, tools: NoteTools) -> None:
        """Take the tools whose memory and session these share."""
        self._tools = tools

    def add_to(self, server: MCPServer) -> None:
        """Make the tools known to *server*."""
        add_tool(server, self.memory_save, "Save a memory by its key", _CHANGES)
        add_tool(server, self.memory_history, "What a memory was before", READS)
        add_tool(server, self.memory_link, "Join two memories", _CHANGES)
        add_tool(server, self.memory_forget, "Forget a memory", _CHANGES)

    async def memory_save(  # noqa: PLR0913, PLR0917 - as clients of the seed call it
        self,
        key: Annotated[
            str, Field(description="short lasting name, such as deploy-day")
        ],
        content: Annotated[
            str, Field(description="what to remember, in sentences that stand alone")
        ],
        context: Context[Any],
        type: Annotated[  # noqa: A002 - the name that clients know
            str,
            Field(
                description="identity, lesson, decision, preference, goal, todo,"
                " context, fact, event, observation, reference, historical, summary"
                " or checkpoint",
                json_schema_extra={"default": "context"},
            ),
        ] = "",
        supersede_reason: Annotated[
            str, Field(description="why the memory in force under this key is replaced")
        ] = "",
        importance: Annotated[
            float,
            Field(ge=-1, le=1, description="0 to 1; left out: as its type"),
        ] = _NO_IMPORTANCE,
        scope: Annotated[
            str, Field(description="global, project, team or workspace")
        ] = "",
        visibility: Annotated[str, Field(description="public or private")] = "",
        related: _Names = [],  # noqa: B006 - the SDK copies it
        contradicts: _Names = [],  # noqa: B006
        expires: Annotated[str, Field(description="day on which it is over")] = "",
        tags: _Words = [],  # noqa: B006
    ) -> Annotated[CallToolResult, SaveOut]:
        """Save one memory under a key; at most one of a key is in force.

        Call it for what has a name and may change: a decision, a preference, a lesson,
        a goal, who somebody is. If a memory of that key is in force, the call is
        refused with its text; call again with supersede_reason to replace it ("minor
        correction" for a slip), and the old one stays in memory_history. For a passing
        note use memory_write. Never save passwords or keys.
        """
        wanted = NewMemory(
            key=key,
            content=content,
            type=type,
            reason=supersede_reason,
            importance=None if importance < 0 else importance,
            scope=scope,
            visibility=visibility,
            related=tuple(related),
            contradicts=tuple(contradicts),
            expires=expires,
            tags=tuple(tags),
            by=client_name(context),
            session=self._tools.session,
            source="agent",
        )
        return await self._tools.answer(
            "memory_save", partial(self._save, wanted), wording.render_saved
        )

    async def memory_history(self, key: _Ref) -> Annotated[CallToolResult, HistoryOut]:
        """Show what a memory was before, and why it was replaced, newest first.

        Call it when a hit is marked as superseded or disputed, or before you replace a
        memory whose reasons you do not know.
        """
        return await self._tools.answer(
            "memory_history", partial(self._history, key), wording.render_history
        )

    async def memory_link(
        self,
        from_: Annotated[
            str,
            Field(
                validation_alias="from", description="key, id or path; it is changed"
            ),
        ],
        to: _Ref,
        kind: Annotated[str, Field(description="related_to, updates or contradicts")],
        weight: Annotated[float, Field(ge=0, le=1)] = 1.0,
    ) -> Annotated[CallToolResult, LinkOut]:
        """Join two memories: related_to, updates or contradicts.

        Call it when you notice that one memory updates another (then only the newer
        answers), or that two say different things (then a search marks the older as
        disputed).
        """
        return await self._tools.answer(
            "memory_link",
            partial(self._link, from_, to, kind, weight),
            wording.render_linked,
        )

    async def memory_forget(
        self,
        id: Annotated[  # noqa: A002 - the name that clients know
            str, Field(description="id of a memory or an entry, as a hit shows it")
        ] = "",
        key: Annotated[str, Field(description="or the key of a memory")] = "",
    ) -> Annotated[CallToolResult, ForgetOut]:
        """Forget a memory or an entry: no search and no new session shows it again.

        Call it when the user asks for it, or when a memory is wrong and nothing takes
        its place; to replace it, call memory_save with supersede_reason. A person can
        restore it.
        """
        return await self._tools.answer(
            "memory_forget", partial(self._forget, id or key), wording.render_forgotten
        )

    def _save(self, wanted: NewMemory) -> SaveOut:
        """Save a memory."""
        return shaping.shape_saved(self._tools.memory().curation.save(wanted))

    def _history(self, key: str) -> HistoryOut:
        """Look back."""
        return shaping.shape_history(self._tools.memory().curation.history(key))

    def _link(self, start: str, end: str, kind: str, weight: float) -> LinkOut:
        """Join two memories."""
        linked = self._tools.memory().curation.link(start, end, kind, weight=weight)
        return shaping.shape_linked(linked)

    def _forget(self, name: str) -> ForgetOut:
        """Hide a memory."""
        if not name.strip():
            raise UsageError(
                "Nothing was forgotten: neither id nor key is given.",
                hint="memory_search shows ids and keys.",
            )
        forgotten = self._tools.memory().curation.forget(MemorySelector(name=name))
        return shaping.shape_forgotten(forgotten)
