"""The route that searches."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from hivemind_memory.errors import NoteNotFoundError, NotesMissingError
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.routes import Call, Fields, RouteGroup
from hivemind_memory.http_api.schemas import SCOPE, Names
from hivemind_memory.mcp_server.search_output import (
    SearchOut,
    empty_search,
    shape_search,
)
from hivemind_memory.model.filters import DEFAULT_FILTER
from hivemind_memory.model.query import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.filters import SearchFilter

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
    limit: Annotated[
        int | None,
        Field(ge=1, le=MAX_RESULTS, description="hits; default: as configured"),
    ] = None
    max_results: Annotated[
        int | None, Field(ge=1, le=MAX_RESULTS, description="the same as limit")
    ] = None
    min_score: Annotated[
        float | None, Field(ge=0, le=1, description="lower finds more")
    ] = None
    types: Names = Field(default=[], description="only these types")
    scope: Annotated[
        str,
        Field(
            max_length=200,
            description="only this scope: projects/shop",
            json_schema_extra=SCOPE,
        ),
    ] = ""
    tags: Names = Field(default=[], description="only items with all of these tags")
    folder: Annotated[
        str, Field(max_length=1_000, description="only notes below this folder")
    ] = ""

    @model_validator(mode="after")
    def check_one_limit(self) -> Self:
        """Refuse two different numbers of hits."""
        if (
            None not in {self.limit, self.max_results}
            and self.limit != self.max_results
        ):
            message = "limit and max_results are the same: give one"
            raise ValueError(message)
        return self


@routes.get("/search", example=_EXAMPLE, errors=(404,))
def search(call: Call, query: SearchFields) -> SearchOut:
    """Search the notes.

    Returns hits, best first, and a report on how complete and reliable they are. If
    nothing matches, ``hits`` is empty and ``nearest`` has the closest passages, which
    are not answers.
    """
    memory = call.memory
    narrowing = {
        "types": ",".join(query.types),
        "scope": query.scope,
        "tags": query.tags,
        "folder": query.folder,
    }
    asked = Query(
        text=query.q,
        max_results=query.limit
        or query.max_results
        or min(memory.settings.max_results, MAX_RESULTS),
        min_score=query.min_score,
        search_filter=_filter(memory, narrowing)
        if any(narrowing.values())
        else DEFAULT_FILTER,
    )
    try:
        answer = memory.search(asked)
    except NotesMissingError as error:
        return empty_search(str(error))
    if call.by:
        memory.record_recall(answer, call.by)
    return shape_search(answer)


def _filter(memory: Memory, narrowing: Mapping[str, Any]) -> SearchFilter:
    """Return what a search is narrowed to.

    Raises:
        Failure: The caller sees no note below that folder.
    """
    try:
        return memory.parse_filter(**narrowing)
    except NoteNotFoundError as error:
        hint = "GET /api/v1/notes lists the notes."
        raise Failure(404, "there is no note below that folder", hint=hint) from error
