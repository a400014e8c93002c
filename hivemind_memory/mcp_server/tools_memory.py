"""The tools for memories: memory_save, memory_history, memory_link, memory_forget.

None of them purges: only a person may delete something for good.
"""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from hivemind_memory.errors import UsageError
from hivemind_memory.mcp_server.save_output import SaveOut, render_saved
from hivemind_memory.mcp_server.shaping import (
    LIMIT_CHARS,
    ResultPart,
    one_line,
)
from hivemind_memory.mcp_server.tools import (
    ALWAYS_LOAD,
    CHANGES,
    READS,
    SourceRef,
    ToolCall,
    ToolRunner,
    Tools,
    TypeName,
    WriteScopeName,
    client_name,
    make_tool,
)
from hivemind_memory.model.curation import (
    ForgetResult,
    History,
    MemorySelector,
    NewMemory,
    StoredMemory,
)
from hivemind_memory.model.display import count_text, lines_text
from hivemind_memory.model.keys import operand
from hivemind_memory.model.memories import EDGE_KINDS
from hivemind_memory.redaction import mask

_NO_IMPORTANCE = -1.0
_FACT_CHARS = 500
_Ref = Annotated[str, Field(description="key, id or path")]
_Refs = Annotated[list[str], Field(description="keys or ids", max_length=50)]
_Words = Annotated[list[str], Field(max_length=50)]


class VersionOut(BaseModel):
    """One version of a memory."""

    id: str
    path: str
    start_line: int
    end_line: int
    status: str = Field(description="active, or superseded by a newer version")
    type: str = ""
    at: str = Field(default="", description="when it was written, ISO 8601")
    by: str = ""
    reason: str = Field(default="", description="why it replaced the version before")
    text: str


class HistoryOut(BaseModel):
    """What memory_history returns."""

    key: str
    scope: str = ""
    memories: list[VersionOut] = Field(description="newest first")
    missing: list[str] = Field(
        default_factory=list, description="ids of versions that no longer exist"
    )
    continuation: str = Field(
        default="", description="what was cut, and how to get the rest"
    )


class LinkOut(ResultPart):
    """What memory_link returns."""

    kind: str
    from_path: str
    to_path: str
    weight: float
    is_changed: bool = Field(description="false: the link already existed")
    is_indexed: bool


class AffectedOut(ResultPart):
    """One memory or entry."""

    path: str
    start_line: int
    end_line: int
    id: str = ""
    key: str = ""


class ForgetOut(BaseModel):
    """What memory_forget returns."""

    forgotten: list[AffectedOut]
    already: int = Field(default=0, description="how many were already forgotten")
    failed: list[str] = Field(default_factory=list)
    is_indexed: bool = Field(description="searches no longer show them")
    undo: str = Field(default="", description="command with which a person undoes it")


class MemoryTools:
    """Saves, explains, links and forgets memories."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tools."""
        self._runner = runner

    def tools(self) -> Tools:
        """Yield the tools."""
        yield make_tool(self.memory_save, "Save a memory by key", CHANGES, ALWAYS_LOAD)
        yield make_tool(self.memory_history, "Show earlier versions", READS)
        yield make_tool(self.memory_link, "Link two memories", CHANGES)
        yield make_tool(self.memory_forget, "Forget a memory", CHANGES)

    async def memory_save(  # noqa: PLR0913, PLR0917 - the arguments that clients know
        self,
        key: Annotated[str, Field(description="short lasting name, e.g. deploy-day")],
        content: str,
        context: Context[Any],
        type: TypeName = "",  # noqa: A002 - the name that clients know
        supersede_reason: Annotated[
            str, Field(description="why it replaces the active one")
        ] = "",
        importance: Annotated[
            float,
            Field(
                ge=_NO_IMPORTANCE,  # what clients were told to send instead of nothing
                le=1,
                description="default: by type",
                json_schema_extra={"minimum": 0, "default": None},
            ),
        ] = _NO_IMPORTANCE,
        scope: WriteScopeName = "",
        visibility: Annotated[
            str, Field(json_schema_extra={"enum": ["public", "private"]})
        ] = "",
        related: _Refs = [],  # noqa: B006 - the SDK copies it
        contradicts: _Refs = [],  # noqa: B006
        expires: Annotated[str, Field(description="YYYY-MM-DD")] = "",
        tags: _Words = [],  # noqa: B006
        source_ref: SourceRef = "",
    ) -> Annotated[CallToolResult, SaveOut]:
        """Save the one current answer under a key.

        Call it for a decision, preference, convention, lesson, goal, or fact about the
        user. If the key has an active memory, the call is refused and shows it: check
        a contradiction with the user, then call again with supersede_reason
        ("minor correction" for a slip).
        """
        by = client_name(context)

        def work(call: ToolCall) -> SaveOut:
            call.check_scope(scope)
            new = NewMemory(
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
                source_ref=source_ref,
                by=by,
                session=call.session,
                source="agent",
            )
            saved = SaveOut.model_validate(call.memory.curation.save(new))
            saved.warnings += call.scope_warnings(scope, saved.scope)
            return saved

        return await self._runner.run("memory_save", context, work, render_saved)

    async def memory_history(
        self, key: _Ref, context: Context[Any]
    ) -> Annotated[CallToolResult, HistoryOut]:
        """Show a memory's versions, newest first, and why each was replaced.

        Call it for a hit marked superseded or disputed, or before you replace a memory
        whose reasons you do not know.
        """

        def work(call: ToolCall) -> HistoryOut:
            return _shape_history(call.memory.curation.history(key))

        return await self._runner.run("memory_history", context, work, render_history)

    async def memory_link(
        self,
        from_: Annotated[
            str,
            Field(
                validation_alias="from",
                description="key, id or path of the memory that changes",
            ),
        ],
        to: _Ref,
        kind: Annotated[
            str,
            Field(json_schema_extra={"enum": [*EDGE_KINDS]}),
        ],
        context: Context[Any],
        weight: Annotated[float, Field(ge=0, le=1)] = 1.0,
    ) -> Annotated[CallToolResult, LinkOut]:
        """Link two memories.

        Call it when one memory updates another (searches then show only the newer) or
        contradicts it (searches then mark the older as disputed).
        """

        def work(call: ToolCall) -> LinkOut:
            linked = call.memory.curation.link(from_, to, kind, weight=weight)
            return LinkOut.model_validate(linked)

        return await self._runner.run("memory_link", context, work, render_linked)

    async def memory_forget(
        self,
        context: Context[Any],
        id: Annotated[  # noqa: A002 - the name that clients know
            str, Field(description="id of a memory or entry")
        ] = "",
        key: Annotated[str, Field(description="key of a memory, instead of id")] = "",
    ) -> Annotated[CallToolResult, ForgetOut]:
        """Hide a memory or entry from searches and new sessions.

        Call it when the user asks, or when something is wrong and nothing replaces it;
        to replace it, call memory_save. A person can undo it.
        """

        def work(call: ToolCall) -> ForgetOut:
            name = id or key
            if not name.strip():
                raise UsageError(
                    "the call names neither id nor key.",
                    hint="memory_search shows ids and keys.",
                    effect="Nothing was forgotten",
                )
            selector = MemorySelector(name=name)
            return _shape_forgotten(call.memory.forget(selector))

        return await self._runner.run("memory_forget", context, work, render_forgotten)


def _shape_history(history: History) -> HistoryOut:
    """Return the versions up to the limit."""
    left_chars = LIMIT_CHARS
    versions: list[VersionOut] = []
    for memory in history.memories:
        left_chars -= len(memory.text)
        if left_chars < 0 and versions:
            break
        versions.append(_shape_version(memory))
    rest = len(history.memories) - len(versions)
    continuation = ""
    if rest:
        after = history.memories[len(versions)].path
        continuation = f"{rest} older versions are left out; memory_get reads {after}"
    continuation = "; ".join(filter(None, (history.warning, continuation)))
    return HistoryOut(
        key=one_line(history.key, _FACT_CHARS),
        scope=history.scope,
        memories=versions,
        missing=list(history.missing),
        continuation=continuation,
    )


def _shape_version(memory: StoredMemory) -> VersionOut:
    """Return one version, its secrets masked."""
    return VersionOut(
        id=memory.id,
        path=memory.path,
        start_line=memory.start_line,
        end_line=memory.end_line,
        status=memory.status,
        type=memory.type,
        at=one_line(memory.updated or memory.created, _FACT_CHARS),
        by=one_line(memory.by, _FACT_CHARS),
        reason=one_line(memory.reason, _FACT_CHARS),
        text=mask(memory.text),
    )


def _shape_forgotten(forgotten: ForgetResult) -> ForgetOut:
    """Return what is hidden now."""
    memories = [AffectedOut.model_validate(memory) for memory in forgotten.memories]
    return ForgetOut(
        forgotten=memories,
        already=forgotten.already,
        failed=[f"{item.what}: {item.why}" for item in forgotten.failed],
        is_indexed=forgotten.is_indexed,
        undo="; ".join(_undo_of(memory) for memory in memories),
    )


def _undo_of(forgotten: AffectedOut) -> str:
    """Return the command that brings one of them back, as a shell takes it."""
    return f"hm restore {operand(forgotten.id or forgotten.path)}"


def render_history(history: HistoryOut) -> str:
    """Return the versions, newest first, each with its text quoted."""
    versions = count_text(len(history.memories), "version")
    where = f" in {history.scope}" if history.scope else ""
    parts = [f"{history.key}{where}: {versions}, newest first"]
    for memory in history.memories:
        place = lines_text(memory.path, memory.start_line, memory.end_line)
        head = f"{place} {memory.status} {memory.type}"
        for name, value in (
            ("at", memory.at),
            ("by", memory.by),
            ("because", memory.reason),
        ):
            if value:
                head += f" {name} {value}"
        head += f" id {memory.id}" if memory.id else ""
        parts += [head, *(f"> {line}" for line in memory.text.split("\n"))]
    parts += [f"missing version: {version}" for version in history.missing]
    if history.continuation:
        parts.append(f"[{history.continuation}]")
    return "\n".join(parts)


def render_linked(linked: LinkOut) -> str:
    """Return how two memories are linked now, as text."""
    link = f"{linked.from_path} {linked.kind} {linked.to_path}, weight {linked.weight}"
    if not linked.is_changed:
        return f"Unchanged, they were linked already: {link}."
    later = "" if linked.is_indexed else "; it is not indexed yet"
    return f"Linked: {link}{later}."


def render_forgotten(forgotten: ForgetOut) -> str:
    """Return what is hidden now, as text."""
    lines = [
        f"Forgotten: {lines_text(item.path, item.start_line, item.end_line)}"
        + (f" key {item.key}" if item.key else "")
        + (f" id {item.id}" if item.id else "")
        for item in forgotten.forgotten
    ]
    if forgotten.already:
        lines.append(f"{forgotten.already} already forgotten")
    lines += [f"failed: {item}" for item in forgotten.failed]
    if not forgotten.is_indexed:
        lines.append("the next search updates the index first")
    if forgotten.undo:
        lines.append(f"a person can undo this with `{forgotten.undo}`")
    return "\n".join(lines)
