"""The routes of memories: read."""

from __future__ import annotations

from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.routes import Call, RouteGroup
from hivemind_memory.http_api.schemas import ROW_EXAMPLE, Row, row_of

routes = RouteGroup("/api/v1", tag="memories")


@routes.get("/memories/{id}", errors=(404,), example=ROW_EXAMPLE)
def read_memory(call: Call) -> Row:
    """Return one memory by its id, key or path."""
    try:
        details = call.memory.curation.show(call.path["id"])
    except MemoryNotFoundError:
        raise Failure(404, f"Memory '{call.path['id']}' not found") from None
    recall = details.recall
    return row_of(
        details.memory,
        access_count=recall.access_count,
        last_accessed_at=recall.last_accessed_at,
    )
