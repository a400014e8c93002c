"""The routes of activity: programs post rows, and search them with memories."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from hivemind_memory import opening
from hivemind_memory.access.rules import check_enabled
from hivemind_memory.errors import NotesMissingError
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.routes import Answer, Call, Fields, RouteGroup
from hivemind_memory.http_api.schemas import Names
from hivemind_memory.model.activity import MAX_RESULTS, ActivityQuery, excerpt_of
from hivemind_memory.model.clocks import seconds_of
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.scope import make_scope, scope_text
from hivemind_memory.redaction import mask
from hivemind_memory.transcripts.find import make_text_test, words_of_query
from hivemind_memory.transcripts.rows import LABEL_CHARS, posted_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.model.activity import ActivityHit

MAX_CONTENT_CHARS = 20_000
ACTIVITY, MEMORY = "activity", "memory"
_ROW_EXAMPLE = {
    "kind": ACTIVITY,
    "id": "a1a214efbf5c00000",
    "workspace_id": "web",
    "label": "deploy",
    "content": "version 4.2 is on staging",
    "method": "POST",
    "status": "ok",
    "created_at": "2026-11-21T09:30:00+01:00",
}

routes = RouteGroup("/workspaces/{id}", tag="activity", workspace="id")


class ActivityFields(Fields):
    """The fields of a row."""

    label: str = Field(min_length=1, max_length=LABEL_CHARS, description="what it is")
    content: str = Field(
        min_length=1,
        max_length=MAX_CONTENT_CHARS,
        description="what happened; the first 2 KiB are kept",
    )
    method: str = Field(default="", max_length=LABEL_CHARS)
    status: str = Field(default="", max_length=LABEL_CHARS)
    request_body: Any = Field(default=None, description="the first 2 KiB are kept")
    response_body: Any = Field(default=None, description="the first 2 KiB are kept")


class PostedAnswer(Answer):
    """The row that was kept."""

    id: str


class SearchFields(Fields):
    """What a search of a workspace takes."""

    q: Annotated[str, Field(max_length=MAX_CONTENT_CHARS, description="words")] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 50
    kinds: Names = Field(
        default=[ACTIVITY, MEMORY],
        description="activity, memory, or both separated by a comma",
    )


@routes.post(
    "/activity",
    status=201,
    sample={name: _ROW_EXAMPLE[name] for name in ("label", "content", "status")},
    example={"id": _ROW_EXAMPLE["id"]},
)
def post_activity(call: Call, body: ActivityFields) -> PostedAnswer:
    """Store a row about what a program did.

    Secrets are masked first. ``hm activity`` and ``session-search`` find it.
    """
    check_enabled(is_enabled=call.memory.settings.enabled)
    row = posted_row(
        workspace=make_scope("workspace", call.path["id"]),
        label=body.label,
        content=body.content,
        agent=call.by,
        session=call.session,
        method=body.method,
        status=body.status,
        request=_text_of(body.request_body),
        response=_text_of(body.response_body),
    )
    with opening.open_activity(call.memory) as activity:
        return PostedAnswer(id=activity.add(row))


@routes.get("/session-search", if_no_workspace=[], example=[_ROW_EXAMPLE])
def search_sessions(call: Call, query: SearchFields) -> list[dict[str, Any]]:
    """Search the activity of a workspace and the memories that the caller reads.

    Returns rows that contain the text, or every word of it, newest first; without a
    text, the newest rows. Of a long ``content``, 500 characters around the match are
    returned.
    """
    unknown = [kind for kind in query.kinds if kind not in (ACTIVITY, MEMORY)]
    if unknown:
        raise Failure(400, "kinds: must be activity, memory or both")
    found: list[tuple[float, dict[str, Any]]] = []
    if ACTIVITY in query.kinds:
        asked = ActivityQuery(
            text=query.q,
            max_results=query.limit,
            workspace=make_scope("workspace", call.path["id"]),
        )
        with opening.open_activity(call.memory) as activity:
            hits = activity.search(asked).hits
        found += ((_seconds(hit.at), _activity_row(call, hit)) for hit in hits)
    if MEMORY in query.kinds:
        found += _memory_rows(call, query.q)
    found.sort(key=lambda pair: -pair[0])
    return [row for _, row in found[: query.limit]]


def _activity_row(call: Call, hit: ActivityHit) -> dict[str, Any]:
    """Return a row of activity; a body that there is not is left out."""
    row: dict[str, Any] = {
        "kind": ACTIVITY,
        "id": hit.id,
        "workspace_id": call.path["id"],
        "label": hit.label,
        "content": hit.content,
        "method": hit.method,
        "status": hit.status,
        "created_at": hit.at,
    }
    for name, body in (
        ("request_body", hit.request_body),
        ("response_body", hit.response_body),
    ):
        if body:
            row[name] = _value_of(body)
    return row


def _memory_rows(call: Call, text: str) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield the memories that hold a text, each with the time of its writing."""
    words, holds_question = words_of_query(text), make_text_test(text)
    try:
        memories = call.memory.curation.list_memories(MemoryFilter())
    except NotesMissingError:
        return
    for memory in memories:
        key, content = mask(memory.key), mask(memory.text)
        if holds_question(f"{key}\n{content}"):
            yield (
                _seconds(memory.created),
                {
                    "kind": MEMORY,
                    "id": memory.id or memory.path,
                    "workspace_id": call.path["id"],
                    "label": key,
                    "content": excerpt_of(content, words),
                    "scope": scope_text(memory.scope),
                    "created_at": memory.created,
                },
            )


def _seconds(moment: str) -> float:
    """Return a time in seconds; 0 if it is not known."""
    return seconds_of(moment) or 0.0


def _text_of(body: object) -> str:
    """Return a body as text: a text as it is, anything else as JSON."""
    if body is None or isinstance(body, str):
        return body or ""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _value_of(body: str) -> object:
    """Return a body as it was posted; as text where it was cut or masked."""
    if body[:1] not in ("{", "["):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body
