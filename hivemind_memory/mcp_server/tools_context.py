"""The tool context_build, of the toolset context."""

from __future__ import annotations

import os
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.environment import git_environ
from hivemind_memory.files.places import find_above
from hivemind_memory.mcp_server.shaping import one_line
from hivemind_memory.mcp_server.tools import (
    READS,
    ToolCall,
    ToolRunner,
    Tools,
    make_tool,
)
from hivemind_memory.model.display import count_text, escape_line, shorten
from hivemind_memory.redaction import mask
from hivemind_memory.working.task_context import (
    ContextRequest,
    TaskContext,
    build_context,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.working.selection import Selection

DEFAULT_TOKENS = 4_000
MAX_TOKENS = 10_000
"""Clients write a result above some 50,000 characters of JSON to a file."""

_MAX_LEFT_OUT = 30
_LEFT_OUT_PERCENT = 10
"""What the list of what was left out may cost, of the budget."""

_WHY_CHARS = 200
_ID_CHARS = 300


class ContextItem(BaseModel):
    """A piece of the context."""

    id: str
    content: str
    tokens: int
    why: str = Field(default="", description="why it is here")
    source: str = Field(default="", description="file, or hm: and place of a memory")
    lines: str = ""
    untrusted: bool = False
    disputed_by: str = Field(default="", description="newer memory that says otherwise")
    note: str = Field(default="", description="pending, superseded, cut, and so on")


class LeftOutItem(BaseModel):
    """A piece that did not fit."""

    id: str
    why: str
    tokens: int = Field(default=0, description="what it would have cost, if known")


class ContextOut(BaseModel):
    """What fits a task, and what was left out."""

    items: list[ContextItem]
    used_tokens: int
    max_tokens: int
    left_out: list[LeftOutItem] = []
    more_left_out: int = 0
    notes: list[str] = []


class ContextTool:
    """Builds contexts."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tool."""
        self._runner = runner

    def tools(self) -> Tools:
        """Yield the tool."""
        yield make_tool(self.context_build, "Build the context of a task", READS)

    async def context_build(
        self,
        task: Annotated[str, Field(description="what you are about to do, in full")],
        context: Context[Any],
        max_tokens: Annotated[
            int, Field(ge=100, le=MAX_TOKENS, description="budget of the result")
        ] = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, ContextOut]:
        """Return what a task needs to start, within a token budget.

        Call it once, at the start of a task. Returns memories about it, the sections
        of files that it names or shares words with, uncommitted changes and recent
        commits, the most relevant first, and what was left out. Read what you need of
        those with memory_get or your own tools.
        """

        def work(call: ToolCall) -> ContextOut:
            root, why_no_files = self._root(call, is_http=context.headers is not None)
            request = ContextRequest(max_tokens=max_tokens, root=root, task=task)
            built = build_context(call.memory, request, environ=git_environ())
            return _shape(built, why_no_files)

        return await self._runner.run("context_build", context, work, _render)

    def _root(self, call: ToolCall, *, is_http: bool) -> tuple[str, str]:
        """Return the folder that files are read from, or none and why not.

        Over HTTP any folder may stand in a header, and a token may be of one project
        only. The folder of a server on standard input is that of its agent.
        """
        if is_http:
            return "", "no files: over HTTP the server reads memories only"
        named = call.connection.project or ""
        folder = named if os.path.isabs(named) else self._runner.own_folder
        if not folder or not find_above(folder, ".git"):
            return "", "no files: the server was not started in a repository"
        return folder, ""


def _shape(built: TaskContext, why_no_files: str) -> ContextOut:
    """Return a context as the tool shows it."""
    selection = built.built.selection
    items = []
    for entry, chosen in zip(built.built.entries, selection.selected, strict=True):
        said = entry["metadata"]
        item = ContextItem(
            id=entry["id"],
            content=entry["content"],
            tokens=chosen.tokens,
            why=one_line(said.get("why", ""), _WHY_CHARS),
            source=said.get("source", ""),
            lines=said.get("lines", ""),
            untrusted=bool(said.get("untrusted", False)),
            disputed_by=one_line(said.get("disputed_by", ""), _ID_CHARS),
            note=one_line(said.get("note", ""), _WHY_CHARS),
        )
        items.append(item)
    left_out = _left_out(selection)
    return ContextOut(
        items=items,
        used_tokens=selection.used_tokens,
        max_tokens=selection.max_tokens,
        left_out=left_out,
        more_left_out=len(selection.left_out) - len(left_out),
        notes=[*([why_no_files] if why_no_files else []), *built.notes],
    )


def _left_out(selection: Selection) -> list[LeftOutItem]:
    """Return the first ones that were left out, as many as a share of the budget pays.

    Their names may be as long as paths can be.
    """
    room = selection.max_tokens * _LEFT_OUT_PERCENT // 100
    items = []
    for skipped in selection.left_out[:_MAX_LEFT_OUT]:
        item = LeftOutItem(
            id=shorten(mask(skipped.block.id), _ID_CHARS),
            why=skipped.why,
            tokens=skipped.tokens or 0,
        )
        room -= estimate_tokens(item.model_dump_json())
        if room < 0:
            break
        items.append(item)
    return items


def _render(shown: ContextOut) -> str:
    """Return the same as text; what is quoted begins each line with a bar."""
    parts = []
    for item in shown.items:
        mark = " UNTRUSTED" if item.untrusted else ""
        dispute = f"disputed by {item.disputed_by}" if item.disputed_by else ""
        said = "; ".join(filter(None, (item.why, dispute, item.note)))
        head = f"{escape_line(item.id)}{mark} ({item.tokens} tokens; {said})"
        quoted = "\n".join(f"| {line}" for line in item.content.split("\n"))
        parts.append(f"{head}\n{quoted}")
    count = count_text(len(shown.items), "piece")
    last = [f"{count}, {shown.used_tokens:,} of {shown.max_tokens:,} tokens."]
    if number := len(shown.left_out) + shown.more_left_out:
        first = [escape_line(item.id) for item in shown.left_out[:1]]
        last.append(f"Left out ({number:,}): {' '.join([*first, '…'])}")
    last += [f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in shown.notes]
    return "\n\n".join([*parts, "\n".join(last)])
