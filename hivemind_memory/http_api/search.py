"""The route that searches."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hivemind_memory.errors import NotesMissingError
from hivemind_memory.http_api.routes import Call, Fields, RouteGroup
from hivemind_memory.http_api.schemas import Names
from hivemind_memory.mcp_server.search_output import (
    SearchOut,
    empty_search,
    shape_search,
)
from hivemind_memory.model.filters import DEFAULT_FILTER
from hivemind_memory.model.query import Query

MAX_RESULTS = 50

routes = RouteGroup("/api/v1", tag="search")


_EXAMPLE = {
    "hits": [
        {
            "path": "projects/shop/deploy-day.md",
            "start_line": 9,
            "end_line": 9,
            "score": 0.87,
            "confidence": 0.9,
            "snippet": "We deploy on Tuesdays.",
            "date": "2026-11-21",
            "id": "01KAJ7Q0XW5T3M8Z2V9C4D6E1F",
            "type": "decision",
            "key": "deploy-day",
            "scope": "projects/shop",
        }
    ],
    "report": {"mode": "keyword", "is_fresh": True, "confidence": "strong"},
}


class SearchFields(Fields):
    """What a search takes."""

    q: Annotated[str, Field(description="a question or words", max_length=4_000)] = ""
    max_results: Annotated[
        int | None, Field(ge=1, le=MAX_RESULTS, description="default: as configured")
    ] = None
    min_score: Annotated[
        float | None, Field(ge=0, le=1, description="lower finds more")
    ] = None
    types: Names = Field(default=[], description="only these types")
    scope: Annotated[
        str, Field(max_length=200, description="only this scope: projects/shop")
    ] = ""


@routes.get("/search", example=_EXAMPLE)
def search(call: Call, query: SearchFields) -> SearchOut:
    """Search the notes.

    Returns hits, best first, and a report on how complete and reliable they are. If
    nothing is known, ``hits`` is empty and ``nearest`` has the closest places.
    """
    memory = call.memory
    narrowing = {"types": ",".join(query.types), "scope": query.scope}
    asked = Query(
        text=query.q,
        max_results=query.max_results or memory.settings.max_results,
        min_score=query.min_score,
        search_filter=memory.parse_filter(**narrowing)
        if any(narrowing.values())
        else DEFAULT_FILTER,
    )
    try:
        answer = memory.search(asked)
    except NotesMissingError as error:
        return empty_search(str(error))
    if call.by:
        memory.record_recall(answer)
    return shape_search(answer)
