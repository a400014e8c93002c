"""What all tools share: registration, the thread they run on, limits on size.

A tool is three things in one module: the schema of its result, the
function that fills it in, and the text that says the same for clients that show no
objects. Its docstring is the description that the model reads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import MethodType
from typing import Annotated, Any, TypeVar, cast

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, Field

from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.mcp_server.activity_recorder import CURRENT_CALL
from hivemind_memory.mcp_server.call_limits import CallLimits
from hivemind_memory.mcp_server.connections import Connection, Connections
from hivemind_memory.mcp_server.errors import expected_error, unexpected_error
from hivemind_memory.mcp_server.http_tokens import token_of
from hivemind_memory.mcp_server.offered_scopes import ALWAYS
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.model.agents import PROJECT_HEADER, own_name
from hivemind_memory.model.memory_types import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory


Result = TypeVar("Result", bound=BaseModel)
Tools = Iterator[Tool]

ALWAYS_LOAD = {"anthropic/alwaysLoad": True}
"""Asks Claude Code to load a tool at the start rather than when it is searched for."""

READS = ToolAnnotations(
    read_only_hint=True,
    destructive_hint=False,
    idempotent_hint=True,
    open_world_hint=False,
)
# The same text written twice makes two entries, and changes nothing else.
APPENDS = ToolAnnotations(
    read_only_hint=False,
    destructive_hint=False,
    idempotent_hint=False,
    open_world_hint=False,
)
# Repeating the call changes nothing more, and a person can undo it.
CHANGES = ToolAnnotations(
    read_only_hint=False,
    destructive_hint=False,
    idempotent_hint=True,
    open_world_hint=False,
)

TYPES = tuple(BUILT_IN)

# The schemas offer these values; the memory judges the argument, and takes aliases.
TypeName = Annotated[
    str,
    Field(
        description="identity, lesson and preference are shown in every session;"
        " decision, goal, todo, context and fact only where relevant; event to"
        " checkpoint never",
        json_schema_extra={"enum": list(TYPES), "default": "context"},
    ),
]
ScopeName = Annotated[str, Field(json_schema_extra={"enum": list(ALWAYS)})]


def _split_names(value: Any) -> Any:
    """Return names, in a list or separated by commas."""
    if isinstance(value, str):
        return [part for part in value.split(",") if part.strip()]
    return value


TypeNames = Annotated[
    list[str],
    BeforeValidator(_split_names),
    Field(
        description="only these types",
        max_length=50,
        json_schema_extra={"items": {"type": "string", "enum": list(TYPES)}},
    ),
]
SourceRef = Annotated[str, Field(description="file, URL or spec it comes from")]
WriteScopeName = Annotated[
    str,
    Field(
        description="about the user or the machine: global; default: the project",
        json_schema_extra={"enum": list(ALWAYS)},
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a tool works with."""

    memory: Memory
    """As the agents of the connection's project see it."""

    connection: Connection
    agent: str = ""
    """Name of the client's program; empty: it has none."""

    @property
    def session(self) -> str:
        """Name of the client's session, recorded in the entries that it writes.

        A client that goes on in another project has another session there.
        """
        return self.connection.session_in(self.memory.caller.project)

    def check_scope(self, scope: str) -> None:
        """Raise if nothing says yet where to write.

        Raises:
            UsageError: The call names no scope, and the client has a folder that it has
                not sent yet.
        """
        if self.connection.is_late and not scope:
            raise UsageError(
                "the client has not reported its working folder yet.",
                hint='Call again, or pass scope="global" if it is for all projects.',
                effect="Nothing was saved",
            )

    def scope_warnings(self, scope: str, kept_in: str) -> list[str]:
        """Return a warning if something became global for want of a project.

        Args:
            scope: The scope that the call named.
            kept_in: The scope in which it was kept; empty: the global one.
        """
        if scope or kept_in or not self.connection.is_unnamed:
            return []
        return [f"kept for all projects, because {_why_unnamed(self.connection)}"]


def _why_unnamed(connection: Connection) -> str:
    """Return why a connection belongs to no project, and what helps."""
    if connection.is_blank:
        return (
            "this connection names no project: its header"
            f" {PROJECT_HEADER} is empty or an unset variable, and the client reports"
            " no folder; start the agent from a shell in the project, or run"
            " `hm connect AGENT` without --http"
        )
    return (
        f"this connection names no project; the header {PROJECT_HEADER} names one, and"
        " `hm connect --http` writes it"
    )


class ToolRunner:
    """Runs the tools of one server process on its memory."""

    def __init__(self, server_state: ServerState, connections: Connections) -> None:
        """Take what opens the memory, and what finds the connection of a call."""
        self._server_state = server_state
        self._connections = connections
        self._sent: set[tuple[str, str]] = set()
        """Session, notice: each session gets a notice once."""

        self._limits: CallLimits[str | None] = CallLimits()

    @property
    def own_folder(self) -> str:
        """Folder whose project the server belongs to; empty: see ``ServerState``."""
        return self._server_state.own_folder

    async def run(
        self,
        tool: str,
        context: Context[Any],
        work: Callable[[ToolCall], Result],
        render: Callable[[Result], str],
    ) -> CallToolResult:
        """Do *work* on a worker thread; return the result as an object and as text.

        The memory blocks, and the event loop must go on reading meanwhile.

        Raises:
            ToolError: The call failed; the message is for the model.
        """
        connection = await self._connections.connection_of(context)
        recorded, agent = CURRENT_CALL.get(), client_name(context)
        if recorded is not None:
            recorded.agent = agent

        def call() -> tuple[Result, str]:
            with self._server_state.memory(
                connection.project, connection.token
            ) as memory:
                # Before the work: what fails now has changed nothing.
                notice = memory.here.notice()
                if recorded is not None:
                    recorded.caller = memory.caller
                    recorded.session = connection.session_in(memory.caller.project)
                done = ToolCall(memory=memory, connection=connection, agent=agent)
                return work(done), notice

        try:
            # When the client cancels, the thread is abandoned and not stopped: a write
            # that has begun is finished.
            result, notice = await anyio.to_thread.run_sync(
                call,
                abandon_on_cancel=True,
                limiter=self._limits.of(connection.project),
            )
        except HivemindError as error:
            raise expected_error(tool, error) from error
        # Whatever happened, the model gets a sentence; the log gets the traceback.
        except Exception as error:
            raise unexpected_error(tool, error) from error
        text = render(result)
        if connection.is_unnamed and not getattr(result, "warnings", None):
            notice = f"Read without a project: {_why_unnamed(connection)}."
        if notice and (connection.session, notice) not in self._sent:
            self._sent.add((connection.session, notice))
            text = f"{notice}\n\n{text}"
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=result.model_dump(exclude_defaults=True),
        )


def make_tool(
    method: Callable[..., Any],
    title: str,
    hints: ToolAnnotations,
    meta: dict[str, Any] | None = None,
) -> Tool:
    """Return a tool that calls *method*; its docstring becomes the description.

    The schemas are those of the first server of this process.
    """
    shown = {
        "fn": method,
        "title": title,
        "description": inspect.getdoc(method),
        "annotations": hints,
        "meta": meta,
    }
    return _schemas_of(cast("MethodType", method).__func__).model_copy(update=shown)


@cache
def _schemas_of(function: Callable[..., Any]) -> Tool:
    """Return a tool with the schemas of a method, which follow from its signature.

    Building them takes some 4 ms a tool.
    """
    return Tool.from_function(MethodType(function, object()))


def client_name(context: Context[Any]) -> str:
    """Return the name of the client's token, else that of the agent.

    It is what the client calls itself, if it is no agent that we know. Empty if there
    is neither.
    """
    if token := token_of(context.request_context.request):
        return token.name
    client = context.session.client_params
    name = client.client_info.name if client is not None else ""
    return own_name("".join(filter(str.isprintable, name)).strip()[:64])
