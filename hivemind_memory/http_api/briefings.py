"""The route that returns the briefing of a scope."""

from __future__ import annotations

from pydantic import Field

from hivemind_memory.context.briefing import briefing_fields, find_briefing
from hivemind_memory.http_api.routes import Call, CamelAnswer, Fields, RouteGroup
from hivemind_memory.http_api.schemas import SCOPE

routes = RouteGroup("/api/v1", tag="memories")


class BriefingQuery(Fields):
    """Of which scope."""

    scope: str = Field(
        default="",
        description="default: the caller's narrowest scope",
        json_schema_extra=SCOPE,
    )


class BriefingOut(CamelAnswer):
    """A briefing, or why there is none."""

    body: str = Field(description="empty: there is none")
    scope: str
    generated_at: str
    is_model: bool = Field(description="a language model wrote it")
    model: str = Field(description="name of that model")
    is_stale: bool = Field(description="memories were saved since")
    sources: list[str] = Field(description="ids of the memories it was made from")
    why: str = Field(description="why there is none")
    warning: str = Field(description="why it may be out of date")


@routes.get(
    "/bulletin",
    example={
        "body": "Decision: We deploy on Mondays.",
        "scope": "projects/shop",
        "generatedAt": "2026-11-26T12:00:00+01:00",
        "isModel": False,
        "model": "",
        "isStale": False,
        "sources": ["01KB0D4VW0C0E3JKG8YV1CNVWS"],
        "why": "",
        "warning": "",
    },
)
def bulletin(call: Call, query: BriefingQuery) -> BriefingOut:
    """Return what matters most in a scope, in about 120 words."""
    briefing = find_briefing(call.memory, query.scope)
    return BriefingOut(**briefing_fields(briefing))
