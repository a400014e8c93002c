"""The tools for notes. A docstring is what the model reads; a tool calls Memory once.

Tools run on worker threads: the memory blocks, and the loop must go on reading.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from hivemind_memory.errors import HivemindError, NotesMissingError
from hivemind_memory.mcp_server import render, shape
from hivemind_memory.mcp_server.errors import expected_error, unexpected_error
from hivemind_memory.mcp_server.schemas import ListOut, PassageOut, SearchOut, WriteOut
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.model.filters import DEFAULT_FILTER
from hivemind_memory.model.query import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory


Shape = TypeVar("Shape", bound=BaseModel)

MAX_RESULTS = 100
_AS_CONFIGURED = 0
"""Not given: as the settings say, whose defaults are those in the schema."""
_ALWAYS = {"anthropic/alwaysLoad": True}
READS = ToolAnnotations(
    read_only_hint=True,
    destructive_hint=False,
    idempotent_hint=True,
    open_world_hint=False,
)
# Twice written is two entries, and nothing that was there is changed.
WRITES = ToolAnnotations(
    read_only_hint=False,
    destructive_hint=False,
    idempotent_hint=False,
    open_world_hint=False,
)

NoteName = Annotated[
    str,
    Field(description="name of a note as a hit or memory_list shows it: projects/a.md"),
]


def add_tool(
    server: MCPServer,
    function: Callable[..., Any],
    title: str,
    hints: ToolAnnotations,
    meta: dict[str, Any] | None = None,
) -> None:
    """Make one tool known to *server*; its docstring is what the model reads."""
    server.add_tool(
        function,
        title=title,
        description=inspect.getdoc(function),
        annotations=hints,
        meta=meta,
    )


class NoteTools:
    """The tools of one server process."""

    def __init__(self, server_state: ServerState, session: str) -> None:
        """Take the memory, and the name of this process."""
        self._server_state = server_state
        self.session = session
        """This process's name for itself, which entries carry."""

    def add_to(self, server: MCPServer) -> None:
        """Make the tools known to *server*, those that are called first, first."""
        rows = (
            (self.memory_search, "Search the memory", READS, _ALWAYS),
            (self.memory_write, "Remember something", WRITES, _ALWAYS),
            (self.memory_get, "Read a note", READS, None),
            (self.memory_list, "List the notes", READS, None),
        )
        for function, title, hints, meta in rows:
            add_tool(server, function, title, hints, meta)

    async def memory_search(
        self,
        query: Annotated[str, Field(description="the question, in plain words")],
        max_results: Annotated[
            int, Field(ge=1, le=MAX_RESULTS, json_schema_extra={"default": 10})
        ] = _AS_CONFIGURED,
        min_score: Annotated[
            float,
            Field(
                ge=0,
                le=1,
                allow_inf_nan=False,
                description="relevance a hit must have; lower finds more",
                json_schema_extra={"default": 0.3},
            ),
        ] = -1.0,
        *,
        types: Annotated[
            str, Field(description="only these types, such as lesson,decision")
        ] = "",
        scope: Annotated[
            str, Field(description="only this scope: global, project, team, workspace")
        ] = "",
        inbox: Annotated[
            bool, Field(description="also untrusted claims that wait for a person")
        ] = False,
    ) -> Annotated[CallToolResult, SearchOut]:
        """Search the memory that all agents on this machine share.

        Call it before answering questions about earlier work, decisions, user
        preferences, setup, people or projects, and before work that may have been done
        before. Returns hits, best first, each with path, lines, score and snippet, and
        a report: mode (hybrid or keyword), freshness, why nothing was found.
        """
        return await self.answer(
            "memory_search",
            partial(
                self._search,
                query,
                max_results,
                min_score,
                {"types": types, "scope": scope, "inbox": inbox},
            ),
            render.render_answer,
        )

    async def memory_write(
        self,
        content: Annotated[
            str, Field(description="what to remember, in sentences that stand alone")
        ],
        context: Context[Any],
        file: Annotated[
            str,
            Field(
                description="note to append to, such as global.md or projects/site.md;"
                " empty: the note of today"
            ),
        ] = "",
    ) -> Annotated[CallToolResult, WriteOut]:
        """Write something worth remembering across sessions to the shared memory.

        Call it when you learn a preference, a decision and its reason, the cause of a
        failure, a fact about a project or the setup, or when a piece of work ends. The
        text is appended as an entry of its own; nothing that is there is changed. When
        it has answered, the entry is on the disk. Never write passwords or keys.
        """
        by = client_name(context)
        return await self.answer(
            "memory_write",
            partial(self._write, content, file, by),
            render.render_written,
        )

    async def memory_get(
        self,
        path: NoteName,
        from_: Annotated[
            int,
            Field(validation_alias="from", ge=1, description="first line, from 1"),
        ] = 1,
        lines: Annotated[
            int, Field(ge=0, description="how many lines; 0: to the end")
        ] = 0,
    ) -> Annotated[CallToolResult, PassageOut]:
        """Read a note of the shared memory, or some of its lines.

        Call it when a hit of memory_search shows only a part of what you need: pass the
        hit's path and its start_line as from.
        """
        return await self.answer(
            "memory_get",
            partial(self._get, path, from_, lines),
            render.render_passage,
        )

    async def memory_list(
        self,
        after: Annotated[
            str, Field(description="go on after this path, where a list was cut")
        ] = "",
    ) -> Annotated[CallToolResult, ListOut]:
        """List the notes of the shared memory: path, size, last change, chunks.

        Call it to see what there is, or to choose the file to write to; to find
        something, call memory_search.
        """
        return await self.answer(
            "memory_list", partial(self._list, after), render.render_list
        )

    def memory(self) -> Memory:
        """Return the memory; for a worker thread."""
        return self._server_state.memory()

    async def answer(
        self, tool: str, work: Callable[[], Shape], render: Callable[[Shape], str]
    ) -> CallToolResult:
        """Do *work* on a thread and return it as object and text.

        Raises:
            ToolError: It failed; the message is for the model.
        """
        try:
            # Abandoned, not stopped, when the client no longer wants to know: a write
            # that has begun is finished.
            shape = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except HivemindError as error:
            raise expected_error(tool, error) from error
        # The model gets a sentence, whatever it is, and the log the rest.
        except Exception as error:
            raise unexpected_error(tool, error) from error
        return CallToolResult(
            content=[TextContent(type="text", text=render(shape))],
            structured_content=shape.model_dump(exclude_defaults=True),
        )

    def _search(
        self,
        query: str,
        max_results: int,
        min_score: float,
        narrowing: dict[str, Any],
    ) -> SearchOut:
        """Ask the memory; what the caller left out is as the settings say."""
        memory = self._server_state.memory()
        asked = Query(
            text=query,
            max_results=max_results or min(memory.settings.max_results, MAX_RESULTS),
            min_score=None if min_score < 0 else min_score,
            search_filter=memory.parse_filter(**narrowing)
            if any(narrowing.values())
            else DEFAULT_FILTER,
        )
        try:
            answer = memory.search(asked)
            memory.record_recall(answer)
            return shape.shape_answer(answer)
        except NotesMissingError as error:
            return shape.nothing_there(f"{error}; memory_write makes the first note")

    def _write(self, content: str, file: str, by: str) -> WriteOut:
        """Append an entry."""
        written = self._server_state.memory().write(
            content, file=file, by=by, session=self.session, source="agent"
        )
        return shape.shape_written(written)

    def _get(self, path: str, start_line: int, count: int) -> PassageOut:
        """Read lines; none of them counts as all."""
        passage = self._server_state.memory().read(
            path, start_line=start_line, line_count=count or None
        )
        return shape.shape_passage(passage)

    def _list(self, after: str) -> ListOut:
        """List the notes; where there is no folder there are none."""
        try:
            return shape.shape_list(self._server_state.memory().list(), after)
        except NotesMissingError as error:
            return ListOut(files=[], file_count=0, go_on=str(error))


def client_name(context: Context[Any]) -> str:
    """Return what the client calls itself, or nothing if it did not say."""
    client = context.session.client_params
    return client.client_info.name.strip()[:64] if client is not None else ""
