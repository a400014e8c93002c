"""The routes of memory-plugin v1: a platform keeps its memories here.

The contract is in ``docs/molecule.md``. Fields that it does not know are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from hivemind_memory.errors import HivemindError
from hivemind_memory.http_api.failures import (
    Failure,
    clean_sentence,
    plugin_envelope,
)
from hivemind_memory.http_api.moment import Moment
from hivemind_memory.http_api.routes import Call, Fields, RouteGroup
from hivemind_memory.plugin_api.health import CAPABILITIES, VERSION, why_degraded
from hivemind_memory.plugin_api.memories import (
    forget_row,
    question_in,
    search_rows,
    write_row,
)
from hivemind_memory.plugin_api.namespaces import (
    delete_namespace,
    namespace_json,
    patch_namespace,
    put_namespace,
)
from hivemind_memory.plugin_api.parse import json_text, moment_of
from hivemind_memory.plugin_api.refusal import refusal_of
from hivemind_memory.plugin_api.rows import NewRow

_NO_EMBEDDING = "embedding is not accepted here: it is not one of the capabilities"

routes = RouteGroup("/v1", tag="memory plugin", envelope=plugin_envelope)

Kind = Literal["fact", "summary", "checkpoint"]
Source = Literal["agent", "runtime", "user"]


class PluginFields(Fields):
    """What a request of the contract takes; a newer platform may send more."""

    model_config = ConfigDict(extra="ignore")


class NamespaceFields(PluginFields):
    """What a namespace is made of."""

    kind: Literal["workspace", "team", "org", "custom"]
    expires_at: Moment | None = None
    metadata: dict[str, Any] | None = None


class NamespacePatch(PluginFields):
    """The fields of a namespace that change; null is refused."""

    expires_at: Moment = Field(default=None)  # type: ignore[assignment]
    metadata: dict[str, Any] = Field(default=None)  # type: ignore[arg-type]


class MemoryFields(PluginFields):
    """A memory to be written."""

    id: UUID | None = Field(
        default=None, description="if it exists there, it is replaced"
    )
    content: str
    kind: Kind
    source: Source
    expires_at: Moment | None = None
    propagation: Any = Field(
        default=None, description="any JSON; kept and returned unchanged"
    )
    pin: bool = False
    embedding: Any = Field(default=None, description="not accepted")


class SearchFields(PluginFields):
    """What is searched for, and where."""

    namespaces: list[str] = Field(default=[])
    query: str = ""
    kinds: list[Kind] = Field(default=[], description="none: all")
    limit: int = Field(default=0, description="1..100; 0: 20")
    embedding: Any = Field(default=None, description="not accepted")


class ForgetFields(PluginFields):
    """Who forgets a memory."""

    requested_by_namespace: str = ""


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn errors of the memory into the answers that platforms expect.

    Raises:
        Failure: It refuses.
    """
    try:
        yield
    except HivemindError as error:
        refused = refusal_of(error)
        raise Failure(refused.status, clean_sentence(str(refused))) from error


@routes.get("/health", errors=(503,))
def read_health(call: Call) -> dict[str, Any]:
    """Return what the plugin can do now."""
    if why := why_degraded(call.memory):
        degraded = {"status": "degraded", "version": VERSION, "capabilities": []}
        raise Failure(503, clean_sentence(why), more=degraded)
    return {"status": "ok", "version": VERSION, "capabilities": list(CAPABILITIES)}


@routes.put("/namespaces/{name}")
def put(call: Call, body: NamespaceFields) -> dict[str, Any]:
    """Create a namespace, or replace its expiry and metadata."""
    with translated_errors():
        made = put_namespace(
            call.memory,
            call.path["name"],
            kind=body.kind,
            expires_at=moment_of(body.expires_at),
            metadata=json_text("metadata", body.metadata),
        )
    return namespace_json(made)


@routes.patch("/namespaces/{name}", errors=(404,))
def patch(call: Call, body: NamespacePatch) -> dict[str, Any]:
    """Change the expiry or metadata of a namespace."""
    with translated_errors():
        changed = patch_namespace(
            call.memory,
            call.path["name"],
            expires_at=moment_of(body.expires_at),
            metadata=json_text("metadata", body.metadata),
        )
    return namespace_json(changed)


@routes.delete("/namespaces/{name}", status=204, errors=(404,))
def delete(call: Call) -> None:
    """Delete a namespace, and forget what was written in it through the plugin."""
    with translated_errors():
        delete_namespace(call.memory, call.path["name"])


@routes.post("/namespaces/{name}/memories", status=201, errors=(404,))
def write(call: Call, body: MemoryFields) -> dict[str, Any]:
    """Write a memory in a namespace, or replace the one with its id."""
    _refuse_embedding(body.embedding)
    name = call.path["name"]
    with translated_errors():
        row_id = write_row(
            call.memory,
            name,
            NewRow(
                id=str(body.id) if body.id else "",
                content=body.content,
                kind=body.kind,
                source=body.source,
                expires_at=moment_of(body.expires_at),
                is_pinned=body.pin,
                propagation=json_text("propagation", body.propagation),
            ),
            by=call.by,
            session=call.session,
        )
    return {"id": row_id, "namespace": name}


@routes.post("/search", is_change=False)
def search(call: Call, body: SearchFields) -> dict[str, Any]:
    """Search namespaces: pinned memories first, then the best; or the newest."""
    _refuse_embedding(body.embedding)
    with translated_errors():
        question = question_in(
            call.memory,
            body.namespaces,
            text=body.query,
            kinds=body.kinds,
            limit=body.limit,
        )
        found = search_rows(call.memory, question)
    return {"memories": [row.as_json() for row in found]}


@routes.delete("/memories/{id}", status=204, errors=(404,))
def forget(call: Call, body: ForgetFields) -> None:
    """Forget a memory of the namespace that requests it."""
    with translated_errors():
        forget_row(
            call.memory, call.path["id"], requested_by=body.requested_by_namespace
        )


def _refuse_embedding(given: object) -> None:
    """Refuse a given embedding rather than pass it over: it would not be searched.

    Raises:
        Failure: There is one.
    """
    if given is not None:
        raise Failure(400, _NO_EMBEDDING)
