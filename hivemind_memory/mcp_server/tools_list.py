"""The tool memory_list: lists the notes with their titles, or memories by filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from hivemind_memory.errors import NotesMissingError, UsageError
from hivemind_memory.mcp_server.shaping import (
    LIMIT_CHARS,
    ResultPart,
    one_line,
    untrusted_mark,
)
from hivemind_memory.mcp_server.tools import (
    READS,
    ScopeName,
    ToolCall,
    ToolRunner,
    Tools,
    TypeNames,
    make_tool,
)
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.display import behind_text, count_text, shorten
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.memories import MAX_SOURCE_REF_CHARS, claim_text
from hivemind_memory.model.results import ListedNote
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.trust import is_untrusted, untrusted_source

_ROW_CHARS = 110
"""What a row costs in a list, besides its path and texts."""

_TEXT_CHARS = 200
_FACT_CHARS = 200
_NO_FILTER = MemoryFilter()


class ListedOut(ResultPart):
    """One note."""

    path: str
    size_bytes: int
    updated_at: str
    chunk_count: int
    title: str = Field(default="", description="first heading or line")


class ListedMemoryOut(BaseModel):
    """One saved memory."""

    key: str
    type: str
    path: str
    text: str = Field(description="its beginning")
    updated: str = ""
    importance: float
    scope: str = Field(default="", description="default: global")
    status: str = Field(
        default="active", description="pending: no person has accepted it yet"
    )
    source: str = Field(default="", description="tool or external: from outside")
    untrusted: bool = Field(default=False, description="only a claim")
    source_ref: str = Field(default="", description="what it was derived from")
    claim: str = Field(default="", description="certainty, sources, last check")
    access_count: int = Field(default=0, description="how often it was recalled")


class ListOut(BaseModel):
    """What memory_list returns: notes, or memories if a filter asks for them."""

    files: list[ListedOut] = Field(default_factory=list)
    file_count: int = Field(default=0, description="number of all notes")
    memories: list[ListedMemoryOut] = Field(default_factory=list)
    memory_count: int = Field(default=0, description="total number of matches")
    continuation: str = Field(
        default="", description="what was cut, and how to get the rest"
    )


class NotesOut(BaseModel):
    """The notes of a ``ListOut``."""

    files: list[ListedOut]
    file_count: int
    continuation: str = ""


class MemoriesOut(BaseModel):
    """The memories of a ``ListOut``."""

    memories: list[ListedMemoryOut]
    memory_count: int
    continuation: str = ""


class ListTool:
    """Lists notes and memories."""

    def __init__(self, runner: ToolRunner) -> None:
        """Take what runs the tool."""
        self._runner = runner

    def tools(self) -> Tools:
        """Yield the tool."""
        yield make_tool(self.memory_list, "List notes or memories", READS)

    async def memory_list(
        self,
        context: Context[Any],
        after: Annotated[
            str, Field(description="continue after this path; notes are sorted by path")
        ] = "",
        types: TypeNames = [],  # noqa: B006 - the SDK copies it
        scope: ScopeName = "",
        source_ref: Annotated[
            str, Field(description="only memories from sources that begin with this")
        ] = "",
    ) -> Annotated[CallToolResult, ListOut]:
        """List all notes with their titles, or all saved memories of some types.

        Call it with types for every decision, todo or goal; without types, to list the
        notes. To find something, call memory_search.
        """

        def work(call: ToolCall) -> NotesOut | MemoriesOut:
            wanted = MemoryFilter(
                types=tuple(types), scope=scope, source_ref=source_ref.strip()
            )
            of_memories = bool(wanted.types or wanted.source_ref)
            handle = call.memory.index_handle
            try:
                found: NotesOut | MemoriesOut
                with handle.lock:  # another thread may be answered up to date
                    if of_memories:
                        found = _list_memories(call, wanted, after)
                    else:
                        found = _list_notes(call, wanted, after)
                    behind = behind_text(handle.why_behind)
            except NotesMissingError as error:
                if of_memories:
                    return MemoriesOut(
                        memories=[], memory_count=0, continuation=str(error)
                    )
                return NotesOut(files=[], file_count=0, continuation=str(error))
            found.continuation = "; ".join(filter(None, (behind, found.continuation)))
            return found

        return await self._runner.run("memory_list", context, work, render_list)


def _list_memories(call: ToolCall, wanted: MemoryFilter, after: str) -> MemoriesOut:
    """Return the memories that fit a filter."""
    found = call.memory.curation.list_memories(wanted)
    recalls = call.memory.curation.recalls(found)
    counts = {ref: recall.access_count for ref, recall in recalls.items()}
    return shape_memories(found, counts, after, wanted)


def _list_notes(call: ToolCall, wanted: MemoryFilter, after: str) -> NotesOut:
    """Return the notes of a scope, or all."""
    memory = call.memory
    only = memory.parse_filter(scope=wanted.scope).scope if wanted.scope else None
    notes = [
        note for note in memory.list() if only is None or scope_of(note.path) == only
    ]
    return shape_list(notes, after, wanted)


def shape_list(
    notes: Sequence[ListedNote], after: str, wanted: MemoryFilter = _NO_FILTER
) -> NotesOut:
    """Return the notes that sort after the path *after*, up to the limit.

    It need not be the path of a note: that one may be gone since the last call.
    """
    files: list[ListedOut] = []
    left_chars = LIMIT_CHARS
    later = [note for note in notes if note.path > after]
    for note in later:
        row = ListedOut.model_validate(note)
        row.title = one_line(row.title, _FACT_CHARS)
        left_chars -= len(row.path) + len(row.title) + _ROW_CHARS
        if left_chars < 0 and files:
            break
        files.append(row)
    last = files[-1].path if files else ""
    continuation = _continuation(len(later) - len(files), last, wanted)
    if after and notes and not later:
        shown = one_line(shorten(after, _FACT_CHARS), _FACT_CHARS)
        continuation = (
            f"no note comes after {shown!r}: notes are sorted by"
            f" path, and the last is {notes[-1].path}"
        )
    return NotesOut(files=files, file_count=len(notes), continuation=continuation)


def shape_memories(
    memories: Sequence[StoredMemory],
    recalls: Mapping[tuple[str, str], int],
    after: str,
    wanted: MemoryFilter = _NO_FILTER,
) -> MemoriesOut:
    """Return the memories after the path *after*, in their order, up to the limit.

    Raises:
        UsageError: *after* is not among them.
    """
    paths: list[str] = [memory.path for memory in memories]
    if after and after not in paths:
        raise UsageError(
            f"after is {shorten(after, _FACT_CHARS)!r}, which is not in this list.",
            hint="Call memory_list again with the same filters and without after.",
        )
    start = paths.index(after) + 1 if after else 0
    shown: list[ListedMemoryOut] = []
    left_chars = LIMIT_CHARS
    for memory in memories[start:]:
        row = _shape_memory(memory, recalls.get((memory.scope, memory.id), 0))
        left_chars -= sum(map(len, _memory_lines(row))) + _ROW_CHARS
        if left_chars < 0 and shown:
            break
        shown.append(row)
    last = shown[-1].path if shown else ""
    return MemoriesOut(
        memories=shown,
        memory_count=len(memories),
        continuation=_continuation(len(memories) - start - len(shown), last, wanted),
    )


def render_list(listed: NotesOut | MemoriesOut) -> str:
    """Return one line for each note or memory."""
    if isinstance(listed, MemoriesOut):
        count = listed.memory_count
        memories = count_text(count, "memory", "memories")
        lines = [f"{memories}, by type, newest first"]
        for memory in listed.memories:
            lines += _memory_lines(memory)
    else:
        count = listed.file_count
        notes = count_text(count, "note")
        lines = [f"{notes}: path, bytes, changed, chunks, title"]
        for note in listed.files:
            facts = f"{note.size_bytes} {note.updated_at} {note.chunk_count}"
            lines.append(f"{note.path} {facts} {note.title}".rstrip())
    if listed.continuation:
        lines.append(f"[{listed.continuation}]")
    return "\n".join(lines)


def _shape_memory(memory: StoredMemory, access_count: int) -> ListedMemoryOut:
    """Return one memory, its secrets masked."""
    return ListedMemoryOut(
        key=one_line(memory.key, _FACT_CHARS),
        type=memory.type,
        path=memory.path,
        text=one_line(memory.text, _TEXT_CHARS),
        updated=one_line(memory.updated or memory.created, _FACT_CHARS),
        importance=memory.importance,
        scope=memory.scope,
        status=memory.status,
        source=untrusted_source(memory.source),
        untrusted=is_untrusted(memory.status, memory.source),
        source_ref=one_line(memory.source_ref, MAX_SOURCE_REF_CHARS),
        claim=one_line(claim_text(memory.claim), _FACT_CHARS),
        access_count=access_count,
    )


def _memory_lines(memory: ListedMemoryOut) -> list[str]:
    """Return the facts of a memory, and its text, quoted as all text of notes is."""
    head = f"{memory.path} {memory.type} {memory.key} importance {memory.importance:g}"
    if memory.updated:
        head += f" updated {memory.updated}"
    if memory.scope:
        head += f" in {memory.scope}"
    head += untrusted_mark(memory)
    if memory.access_count:
        times = "once" if memory.access_count == 1 else f"{memory.access_count} times"
        head += f" recalled {times}"
    if memory.claim:
        head += f" claim {memory.claim}"
    if memory.source_ref:
        head += f" from {memory.source_ref}"
    return [head, f"> {memory.text}"]


def _continuation(rest: int, last: str, wanted: MemoryFilter) -> str:
    """Return the call that gets the rest of a list; empty: there is none."""
    if not rest:
        return ""
    given = [
        f"after={last}",
        f"types={','.join(wanted.types)}" if wanted.types else "",
        f"scope={wanted.scope}" if wanted.scope else "",
        f"source_ref={wanted.source_ref}" if wanted.source_ref else "",
    ]
    return f"{rest:,} more: call memory_list with {' '.join(filter(None, given))}"
