"""The tools for notes: memory_write and memory_get."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from hivemind_memory.mcp_server.shaping import LIMIT_CHARS, ResultPart
from hivemind_memory.mcp_server.tools import (
    ALWAYS_LOAD,
    APPENDS,
    READS,
    SourceRef,
    ToolCall,
    ToolRunner,
    Tools,
    WriteScopeName,
    client_name,
    make_tool,
)
from hivemind_memory.model.display import count_text, lines_text
from hivemind_memory.model.results import NoteLines, pending_notice
from hivemind_memory.model.save_hints import HintWords, entry_hints, hint_texts

_HINT_WORDS = HintWords(
    global_scope='scope="global"', opening='memory_save with type="preference"'
)


class WriteOut(ResultPart):
    """What memory_write returns once the entry is on disk."""

    path: str
    start_line: int
    end_line: int
    id: str
    scope: str = Field(default="", description="default: global")
    is_indexed: bool = Field(description="it is in the index already")
    hints: list[str] = Field(default_factory=list, description="what to improve")
    warnings: list[str] = Field(default_factory=list)


class PassageOut(BaseModel):
    """What memory_get returns."""

    path: str
    start_line: int
    end_line: int
    text: str
    line_count: int = Field(description="lines in the whole note")
    continuation: str = Field(
        default="", description="what was cut, and how to get the rest"
    )


class NoteTools:
    """Writes and reads notes."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tools."""
        self._runner = runner

    def tools(self) -> Tools:
        """Yield the tools."""
        yield make_tool(self.memory_write, "Remember something", APPENDS, ALWAYS_LOAD)
        yield make_tool(self.memory_get, "Read a note", READS, ALWAYS_LOAD)

    async def memory_write(
        self,
        content: Annotated[
            str, Field(description="whole sentences that make sense on their own")
        ],
        context: Context[Any],
        file: Annotated[
            str,
            Field(description="note to append to; default: today's note"),
        ] = "",
        scope: WriteScopeName = "",
        source_ref: SourceRef = "",
    ) -> Annotated[CallToolResult, WriteOut]:
        """Write down what happened or what you found, as a dated entry.

        Call it for a root cause, a gotcha, a command that works, an incident, or
        completed work and what is left. For a rule, preference or decision that
        stays true, call memory_save.
        """
        by = client_name(context)

        def work(call: ToolCall) -> WriteOut:
            call.check_scope(scope)
            written = call.memory.write(
                content,
                file=file,
                scope=scope,
                by=by,
                session=call.session,
                source="agent",
                source_ref=source_ref,
            )
            shown = WriteOut.model_validate(written)
            shown.warnings += call.scope_warnings(scope, shown.scope)
            told = entry_hints(written, scope=scope, source="agent")
            shown.hints += hint_texts(told, _HINT_WORDS)
            return shown

        return await self._runner.run("memory_write", context, work, render_written)

    async def memory_get(
        self,
        path: Annotated[str, Field(description="projects/a.md, or a.md:12-20")],
        context: Context[Any],
        from_: Annotated[
            int, Field(validation_alias="from", ge=1, description="first line")
        ] = 1,
        lines: Annotated[int, Field(ge=0, description="0: to the end")] = 0,
    ) -> Annotated[CallToolResult, PassageOut]:
        """Read a note, or some of its lines.

        Call it when a search hit shows too little: pass its path, and its start_line
        as from.
        """

        def work(call: ToolCall) -> PassageOut:
            place = call.memory.curation.locate(path)
            note, start_line, end_line, behind = place
            count = lines or None
            if not start_line:
                start_line = from_
            elif count is None:
                count = max(end_line - start_line + 1, 1)
            passage = call.memory.read(note, start_line=start_line, line_count=count)
            shown = shape_passage(passage, end_line)
            said = (behind, shown.continuation)
            shown.continuation = "; ".join(filter(None, said))
            return shown

        return await self._runner.run("memory_get", context, work, render_passage)


def shape_passage(passage: NoteLines, asked_to: int = 0) -> PassageOut:
    """Return the lines up to the limit, and a word if a place names lines behind."""
    text, end_line, continuation = passage.text, passage.end_line, ""
    if len(text) > LIMIT_CHARS:
        text, end_line, continuation = _first_lines(passage)
    elif not passage.line_count:
        continuation = "the note is empty"
    elif asked_to > passage.line_count:
        continuation = f"the note ends at line {passage.line_count}"
    return PassageOut(
        path=passage.path,
        start_line=passage.start_line,
        end_line=end_line,
        text=text,
        line_count=passage.line_count,
        continuation=continuation,
    )


def render_written(written: WriteOut) -> str:
    """Return where the entry was saved, as text."""
    place = lines_text(written.path, written.start_line, written.end_line)
    scope = f" in {written.scope}" if written.scope else ""
    warnings = "".join(f"; {warning}" for warning in written.warnings)
    hints = "".join(f"\nhint: {hint}" for hint in written.hints)
    if pending_notice(written.path):
        return f"Pending in {place} (id {written.id}){scope}{warnings}."
    found = "a search finds it now" if written.is_indexed else "it is not indexed yet"
    return f"Saved in {place} (id {written.id}){scope}; {found}{warnings}.{hints}"


def render_passage(passage: PassageOut) -> str:
    """Return the lines below one that says where they are from."""
    place = lines_text(passage.path, passage.start_line, passage.end_line)
    parts = [f"{place} of {count_text(passage.line_count, 'line')}", passage.text]
    if passage.continuation:
        parts.append(f"[{passage.continuation}]")
    return "\n".join(parts)


def _first_lines(passage: NoteLines) -> tuple[str, int, str]:
    """Return the whole lines that fit, the last line's number, and how to continue."""
    lines = passage.text.split("\n")
    used = count = 0
    for line in lines:
        used += len(line) + 1
        if used > LIMIT_CHARS:
            break
        count += 1
    limit = f"a result holds at most {LIMIT_CHARS:,} characters"
    if count == 0:  # the first line alone is too long
        first = passage.start_line
        continuation = (
            f"line {first} is cut, it has {len(lines[0]):,} characters ({limit})"
        )
        if first < passage.end_line:
            continuation += f"; call memory_get with from={first + 1} to continue"
        return lines[0][:LIMIT_CHARS], first, continuation
    end_line = passage.start_line + count - 1
    continuation = (
        f"lines {end_line + 1} to {passage.end_line} follow ({limit}):"
        f" call memory_get with from={end_line + 1} to continue"
    )
    return "\n".join(lines[:count]), end_line, continuation
