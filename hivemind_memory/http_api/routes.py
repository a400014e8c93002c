"""Declares routes: what each takes and returns, and what does the work.

A group of routes is a module of its own. Each route is a function; its signature says
what the frame reads, checks and documents:

    routes = RouteGroup("/api/v1", tag="memories")

    @routes.get("/memories/{id}")
    def read_memory(call: Call) -> MemoryOut:
        '''Return one memory.'''

A parameter ``query`` or ``body`` is a ``Fields`` model, made from the query string or
from the JSON of the request; the return value is a model, or a list of them. The first
line of the docstring is the summary in the OpenAPI document, the rest the description.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from hivemind_memory.http_api.event_feed import EventFeed
from hivemind_memory.http_api.failures import Envelope, plain_envelope
from hivemind_memory.mcp_server.http_sessions import Receive, Send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.state.tokens import Token

Work = TypeVar("Work", bound=Callable[..., Any])


class Fields(BaseModel):
    """What a request takes, in its body or in its query: these fields and no others."""

    # Built with its first use: a server starts in a fraction of the time.
    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, allow_inf_nan=False, defer_build=True
    )


class Answer(BaseModel):
    """What a request is answered with."""

    model_config = ConfigDict(
        from_attributes=True,
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,
    )


class CamelAnswer(Answer):
    """An answer whose members are named in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel)


class Stream(Protocol):
    """An answer that goes on: a route returns it, and the frame runs it."""

    async def __call__(self, receive: Receive, send: Send) -> None:
        """Send the answer, from its first byte."""
        ...


class FieldProblem(BaseModel):
    """What is wrong with one field."""

    model_config = ConfigDict(defer_build=True)

    field: str
    problem: str


class PlainFailure(BaseModel):
    """Why a request failed."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    error: str = Field(description="what is wrong")
    hint: str = Field(default="", description="the next thing to try")
    details: list[FieldProblem] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request, as a route sees it."""

    memory: Memory
    """As the caller sees it, in the workspace that the path names if it names one."""

    by: str
    """Name of the caller's token, recorded in what it writes; empty: a visitor."""

    session: str
    """Name of this server process, recorded in what is written."""

    path: Mapping[str, str]
    """Name in the path of the route -> what the request has there."""

    headers: Mapping[str, str]
    """Of the request, by their names in lower case."""

    feed: EventFeed
    """The changes of the memory, for a stream."""

    token: Token | None = None
    """The caller's, if it has a name."""

    reply_headers: dict[str, str] = field(default_factory=dict)
    """Further headers of the answer, to be filled in."""

    @property
    def is_named(self) -> bool:
        """Whether the caller has a named token."""
        return self.token is not None


@dataclass(frozen=True, kw_only=True)
class Route:
    """One method of one path."""

    method: str
    path: str
    """Of the whole address: ``/api/v1/memories/{id}``. ``{path...}`` takes the rest."""

    work: Callable[..., Any]
    group: RouteGroup
    status: int = 200
    is_change: bool
    """A token that only reads is refused."""

    errors: tuple[int, ...] = ()
    """Statuses of its own failures, beside those that the frame has for all."""

    example: Any = None
    """An answer, for the OpenAPI document."""

    sample: Any = None
    """A body, for the OpenAPI document."""

    takes_headers: Mapping[str, str] = field(default_factory=dict)
    """Name of a header that it heeds -> what it means."""

    needs_headers: tuple[str, ...] = ()
    """Those of them without which it is refused."""

    has_version: bool = False
    """The answer has an ``ETag``; ``If-None-Match`` is heeded where it is read."""

    has_location: bool = False
    """The answer names in ``Location`` what was made."""

    media: str = "application/json"
    """Type of the answer; another one is that of a ``Stream``."""

    if_no_workspace: Any = None
    """The answer where the workspace in the path is not the caller's; None: 404."""

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types in the signature of the work."""
        return get_type_hints(self.work, include_extras=True)

    @property
    def query(self) -> type[Fields] | None:
        """What the query string is made into; None: it has none."""
        found: type[Fields] | None = self.hints.get("query")
        return found

    @property
    def body(self) -> type[Fields] | None:
        """What the body is made into; None: it has none."""
        found: type[Fields] | None = self.hints.get("body")
        return found

    @cached_property
    def adapter(self) -> TypeAdapter[Any] | None:
        """What makes JSON of the answer; None: it has no body, or is a stream."""
        if self.media != "application/json":
            return None
        answer = self.hints.get("return")
        return None if answer in {None, type(None)} else TypeAdapter(answer)

    @property
    def names(self) -> tuple[str, ...]:
        """Names in the path, in order."""
        parts = self.path.split("/")
        return tuple(
            part[1:-1].removesuffix("...") for part in parts if part[:1] == "{"
        )

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (inspect.getdoc(self.work) or "").partition("\n")[0].removesuffix(".")

    @property
    def description(self) -> str:
        """What it does, at length: the rest of the docstring."""
        return (inspect.getdoc(self.work) or "").partition("\n")[2].strip()


class RouteGroup:
    """The routes of one module, below one prefix."""

    def __init__(
        self,
        prefix: str,
        *,
        tag: str,
        envelope: Envelope = plain_envelope,
        failure: type[BaseModel] = PlainFailure,
        workspace: str = "",
    ) -> None:
        """Start without routes.

        Args:
            prefix: Beginning of their paths: ``/api/v1``.
            tag: What they are about; the heading in the OpenAPI document.
            envelope: Makes the answer of a failure.
            failure: The schema of such an answer.
            workspace: The name in their paths that is a workspace; empty: none is.
        """
        self.prefix = prefix
        self.tag = tag
        self.envelope = envelope
        self.failure = failure
        self.workspace = workspace
        self.routes: list[Route] = []

    def get(self, path: str, **more: Any) -> Callable[[Work], Work]:
        """Declare a route that reads; see ``route``."""
        return self.route("GET", path, is_change=False, **more)

    def post(self, path: str, **more: Any) -> Callable[[Work], Work]:
        """Declare a route that makes something; see ``route``."""
        return self.route("POST", path, **more)

    def put(self, path: str, **more: Any) -> Callable[[Work], Work]:
        """Declare a route that sets something; see ``route``."""
        return self.route("PUT", path, **more)

    def patch(self, path: str, **more: Any) -> Callable[[Work], Work]:
        """Declare a route that changes something; see ``route``."""
        return self.route("PATCH", path, **more)

    def delete(self, path: str, **more: Any) -> Callable[[Work], Work]:
        """Declare a route that takes something away; see ``route``."""
        return self.route("DELETE", path, **more)

    def route(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        is_change: bool = True,
        errors: Sequence[int] = (),
        **more: Any,
    ) -> Callable[[Work], Work]:
        """Declare the function below as the work of a route.

        Args:
            method: In capitals.
            path: Below the prefix; ``{id}`` is one part of it, ``{path...}`` the rest.
            status: Of the answer.
            is_change: Whether it changes anything; a ``POST`` may only read.
            errors: Statuses of the failures that it raises itself.
            more: Further fields of ``Route``, by their names.
        """

        def declare(work: Work) -> Work:
            self.routes.append(
                Route(
                    method=method,
                    path=self.prefix + path,
                    work=work,
                    group=self,
                    status=status,
                    is_change=is_change,
                    errors=tuple(errors),
                    **more,
                )
            )
            return work

        return declare
