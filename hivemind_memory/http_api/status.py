"""The route that says who asks, and what the memory holds."""

from __future__ import annotations

from pydantic import Field

from hivemind_memory.http_api.routes import Answer, Call, CamelAnswer, RouteGroup
from hivemind_memory.model.scope import scope_text
from hivemind_memory.version import __version__

routes = RouteGroup("/api/v1", tag="status")


class CallerOut(CamelAnswer):
    """Who asks."""

    name: str = Field(description="of its token; empty: a visitor")
    scopes: list[str] | None = Field(description="that it reads; null: all")
    is_read_only: bool


class Figures(CamelAnswer):
    """What the whole memory holds."""

    memory_dir: str
    notes: int
    chunks: int
    index_bytes: int
    provider: str = Field(description="what makes vectors: none, or a provider")
    vectors: int
    pending_vectors: int
    leader: str = Field(description="the process that watches the notes")
    stale_notes: int = Field(description="changed, and not indexed yet")


class Status(Answer):
    """Who asks, and what the memory holds."""

    version: str
    caller: CallerOut
    memory: Figures | None = Field(description="null: the caller does not see it all")


@routes.get(
    "/status",
    example={
        "version": __version__,
        "caller": {
            "name": "ci",
            "scopes": ["global", "projects/shop"],
            "isReadOnly": True,
        },
        "memory": None,
    },
)
def status(call: Call) -> Status:
    """Return who is asking, and what the memory contains."""
    caller = call.memory.caller
    scopes = caller.scopes
    return Status(
        version=__version__,
        caller=CallerOut(
            name=call.by,
            scopes=None if scopes is None else sorted(map(scope_text, scopes)),
            is_read_only=caller.is_read_only,
        ),
        memory=Figures.model_validate(call.memory.status()) if scopes is None else None,
    )
