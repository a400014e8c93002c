"""The route that links two memories."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import Field

from hivemind_memory.http_api.routes import Call, CamelAnswer, Fields, RouteGroup
from hivemind_memory.model.memories import EDGE_KINDS

routes = RouteGroup("/api/v1", tag="memories")

_Ref = Annotated[str, Field(max_length=1_100, description="key, id or path")]


class LinkFields(Fields):
    """Which two memories, and how."""

    from_: _Ref = Field(alias="from", description="key, id or path; its note changes")
    to: _Ref
    kind: Literal["related_to", "updates", "contradicts"]
    weight: Annotated[float, Field(ge=0, le=1)] = 1.0


class Link(CamelAnswer):
    """How two memories are linked now."""

    kind: str = Field(json_schema_extra={"enum": [*EDGE_KINDS]})
    from_id: str
    from_path: str
    to_id: str
    to_path: str
    weight: float
    is_changed: bool = Field(description="false: they were already linked like this")


@routes.post(
    "/links",
    status=201,
    errors=(404,),
    has_location=True,
    sample={"from": "deploy-day", "to": "rollback", "kind": "related_to"},
    example={
        "kind": "related_to",
        "fromId": "01KAJ7Q0XW5T3M8Z2V9C4D6E1F",
        "fromPath": "projects/shop/decisions/deploy-day.md",
        "toId": "01KAJ7Q0XW5T3M8Z2V9C4D6E2G",
        "toPath": "projects/shop/rollback.md",
        "weight": 1.0,
        "isChanged": True,
    },
)
def link(call: Call, body: LinkFields) -> Link:
    """Link two memories."""
    linked = call.memory.curation.link(
        body.from_, body.to, body.kind, weight=body.weight
    )
    made = Link.model_validate(linked, from_attributes=True)
    name = quote(made.from_id or made.from_path, safe="")
    call.reply_headers["location"] = f"/api/v1/memories/{name}/edges"
    return made
