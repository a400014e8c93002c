"""The routes of the memories of a workspace, and of its namespaces (v2).

Which workspace a path may name is decided before: it is the caller's, or there is none.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from hivemind_memory.http_api.moment import Moment
from hivemind_memory.http_api.plugin import Kind, translated_errors
from hivemind_memory.http_api.routes import Answer, Call, Fields, RouteGroup
from hivemind_memory.plugin_api import workspace
from hivemind_memory.plugin_api.parse import moment_of, moment_text
from hivemind_memory.plugin_api.rows import NewRow, Row

routes = RouteGroup("/workspaces/{id}", tag="workspaces", workspace="id")

Limit = Annotated[int, Field(ge=1, le=100, description="maximum number of rows")]
_TEXT: dict[str, JsonValue] = {
    "minLength": 1,
    "maxLength": workspace.MAX_CHARS,
    "pattern": "\\S",
}
_ROW = {
    "id": "5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10",
    "content": "We deploy on Tuesdays.",
    "scope": "LOCAL",
    "created_at": "2026-11-21T09:30:00Z",
}
_V2_ROW = {
    "id": "5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10",
    "namespace": "workspace:web",
    "content": "We deploy on Tuesdays.",
    "kind": "fact",
    "source": "agent",
    "pin": False,
    "created_at": "2026-11-21T09:30:00Z",
}
_NAMESPACE = {"name": "workspace:web", "kind": "workspace", "label": "This workspace"}


class NewText(Fields):
    """A text that a workspace remembers."""

    # What is missing, blank or too long is refused in the words of the contract.
    model_config = ConfigDict(json_schema_extra={"required": ["content"]})

    content: str = Field(default="", json_schema_extra=_TEXT)


class NewFact(NewText):
    """What a workspace remembers."""

    scope: str = Field(
        default="LOCAL", json_schema_extra={"enum": [*workspace.SCOPE_WORDS]}
    )


class SavedFact(Answer):
    """What was saved, and where."""

    id: str
    scope: str


class Fact(Answer):
    """A memory that a workspace recalls."""

    id: str
    content: str
    scope: str = Field(description="LOCAL, TEAM or GLOBAL")
    created_at: str


class RecallQuery(Fields):
    """What a workspace recalls."""

    q: str = Field(default="", description="empty: the newest", max_length=20_000)
    scope: str = Field(
        default="",
        description="empty: all",
        json_schema_extra={"enum": ["", *workspace.SCOPE_WORDS]},
    )
    limit: Limit = workspace.DEFAULT_FACTS


class ScopeOut(Answer):
    """A namespace that a workspace reads or writes to."""

    name: str
    kind: str = Field(description="workspace, team, org or custom")
    label: str


class Scopes(Answer):
    """The namespaces of a workspace."""

    readable: list[ScopeOut]
    writable: list[ScopeOut]


class NewV2Row(NewText):
    """A memory that a workspace writes in a namespace."""

    namespace: str = Field(default="", description="empty: the workspace's own")
    kind: Kind = "fact"
    expires_at: Moment | None = None
    pin: bool = False


class SavedV2Row(Answer):
    """What was written, and where."""

    id: str
    namespace: str


class V2Row(Answer):
    """A memory in a namespace."""

    id: str
    namespace: str
    content: str
    kind: str
    source: str
    expires_at: str | None = Field(default=None, exclude_if=lambda at: at is None)
    pin: bool
    created_at: str
    score: float | None = Field(default=None, exclude_if=lambda score: score is None)


class V2Rows(Answer):
    """The memories that were found."""

    memories: list[V2Row]


class V2Query(Fields):
    """Which memories of which namespace."""

    namespace: str = Field(default="", description="empty: all that are readable")
    q: str = Field(default="", description="empty: the newest", max_length=20_000)
    kind: Kind | Literal[""] = ""
    limit: Limit = workspace.DEFAULT_FACTS


class Deleted(Answer):
    """That a memory is forgotten."""

    status: Literal["deleted"]


@routes.post(
    "/memories",
    status=201,
    errors=(403,),
    sample={"content": _ROW["content"], "scope": _ROW["scope"]},
    example={"id": _ROW["id"], "scope": _ROW["scope"]},
)
def remember(call: Call, body: NewFact) -> SavedFact:
    """Save a fact for the workspace, its team, or everyone.

    Only a workspace at the root of its tree can write for everyone.
    """
    with translated_errors():
        row_id = workspace.save_fact(
            call.memory, body.content, body.scope, by=call.by, session=call.session
        )
    return SavedFact(id=row_id, scope=body.scope)


@routes.get("/memories", example=[_ROW], if_no_workspace=[])
def recall(call: Call, query: RecallQuery) -> list[Fact]:
    """Return memories that the workspace reads: the best for a query, or the newest."""
    with translated_errors():
        rows = workspace.recall_facts(
            call.memory, query.q, query.scope, limit=query.limit
        )
    return [
        Fact(
            id=row.id,
            content=row.content,
            scope=row.namespace,
            created_at=row.created_at,
        )
        for row in rows
    ]


@routes.get(
    "/v2/namespaces",
    example={"readable": [_NAMESPACE], "writable": [_NAMESPACE]},
    if_no_workspace={"readable": [], "writable": []},
)
def list_namespaces(call: Call) -> Scopes:
    """Return the namespaces that the workspace reads, and those it writes to."""
    with translated_errors():
        readable = workspace.list_scopes(call.memory)
        writable = workspace.list_writable(call.memory)
    return Scopes(
        readable=[ScopeOut.model_validate(named) for named in readable],
        writable=[ScopeOut.model_validate(named) for named in writable],
    )


@routes.get(
    "/v2/memories",
    example={"memories": [_V2_ROW]},
    if_no_workspace={"memories": []},
)
def find(call: Call, query: V2Query) -> V2Rows:
    """Return memories of a namespace; none if the workspace does not read it."""
    kinds = (query.kind,) if query.kind else ()
    with translated_errors():
        rows = workspace.find_rows(
            call.memory, query.namespace, query.q, kinds, limit=query.limit
        )
    return V2Rows(memories=[_v2_row(row) for row in rows])


@routes.post(
    "/v2/memories",
    status=201,
    errors=(403,),
    sample={"content": _V2_ROW["content"], "kind": _V2_ROW["kind"]},
    example={"id": _V2_ROW["id"], "namespace": _V2_ROW["namespace"]},
)
def write(call: Call, body: NewV2Row) -> SavedV2Row:
    """Save a memory in a namespace."""
    with translated_errors():
        new = NewRow(
            content=body.content,
            kind=body.kind,
            expires_at=moment_of(body.expires_at),
            is_pinned=body.pin,
        )
        row_id, name = workspace.add_row(
            call.memory, new, body.namespace, by=call.by, session=call.session
        )
    return SavedV2Row(id=row_id, namespace=name)


@routes.delete(
    "/v2/memories/{memory}", errors=(403, 404), example={"status": "deleted"}
)
def forget(call: Call) -> Deleted:
    """Forget a memory, wherever the workspace may write."""
    with translated_errors():
        workspace.remove_row(call.memory, call.path["memory"])
    return Deleted(status="deleted")


def _v2_row(row: Row) -> V2Row:
    """Return a memory as the routes of v2 say it."""
    return V2Row(
        id=row.id,
        namespace=row.namespace,
        content=row.content,
        kind=row.kind,
        source=row.source,
        expires_at=None if row.expires_at is None else moment_text(row.expires_at),
        pin=row.is_pinned,
        created_at=row.created_at,
        score=row.score,
    )
