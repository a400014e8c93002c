"""The routes of memories: list, read, save, change, forget, restore, show history."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import quote

from hivemind_memory.curation.edited import edited
from hivemind_memory.curation.read_version import ReadVersion
from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    MemoryNotFoundError,
    NotesMissingError,
    VersionChangedError,
)
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.memory_schemas import (
    ChainFields,
    ChangeFields,
    Forgotten,
    ListFields,
    Page,
    SavedRow,
    SaveFields,
)
from hivemind_memory.http_api.routes import Call, RouteGroup
from hivemind_memory.http_api.schemas import (
    ROW_EXAMPLE,
    Edge,
    Edges,
    ReadRow,
    Row,
    row_of,
    rows_of,
    version_of,
)
from hivemind_memory.http_api.versions import changed, is_match
from hivemind_memory.model.curation import (
    MemoryDetails,
    MemorySelector,
    NewMemory,
    StoredMemory,
)
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.memories import SHOWN_STATUSES
from hivemind_memory.model.save_hints import HintWords, hint_texts
from hivemind_memory.model.scope import scope_text

routes = RouteGroup("/api/v1", tag="memories")

_HINT_WORDS = HintWords(
    global_scope='"scope": "global"',
    opening='"type": "preference" with a supersede_reason',
)


@routes.get("/memories", example={"data": [ROW_EXAMPLE], "total": 1})
def list_memories(call: Call, query: ListFields) -> Page:
    """List memories, newest first."""
    if query.team and query.scope:
        raise Failure(400, "team: cannot be given together with scope")
    wanted = MemoryFilter(
        types=tuple(query.type),
        scope=query.scope or (f"team/{query.team}" if query.team else ""),
        statuses=SHOWN_STATUSES if query.status == "all" else (query.status,),
        words=query.q,
    )
    part = {"offset": query.offset, "limit": query.limit}
    try:
        page = call.memory.curation.list_page(wanted, **part)
    except NotesMissingError:
        return Page(data=[], total=0)
    data = rows_of(call, page.memories)
    return Page(data=data, total=page.total, warning=page.warning)


@routes.get("/memories/{id}", errors=(404,), example=ROW_EXAMPLE, has_version=True)
def read_memory(call: Call) -> ReadRow:
    """Return one memory by its id, key or path.

    Its ``ETag`` names this version: pass it as ``If-Match`` to change or forget it, and
    as ``If-None-Match`` to read it only if it has changed.
    """
    details = _details(call)
    row = _found_row(call, details)
    return ReadRow(**row.model_dump(), warning=" ".join(details.warnings))


@routes.post(
    "/memories",
    status=201,
    errors=(404, 409),
    has_version=True,
    has_location=True,
    sample={
        "key": "deploy-day",
        "content": "We deploy on Tuesdays.",
        "type": "decision",
    },
    example={**ROW_EXAMPLE, "isNew": True, "warnings": [], "hints": []},
)
def save_memory(call: Call, body: SaveFields) -> SavedRow:
    """Save a memory under a key.

    If the key has an active memory, a reason is required; without one the answer is
    409, and ``entry`` is the active one.
    """
    new = NewMemory(
        key=body.key,
        content=body.content,
        type=body.type,
        reason=body.supersede_reason,
        importance=body.importance,
        scope=body.scope,
        visibility=body.visibility,
        related=tuple(body.related),
        contradicts=tuple(body.contradicts),
        expires=body.expires,
        tags=tuple(body.tags),
        source_ref=body.source_ref,
        by=call.by,
        session=call.session,
    )
    saved = _saved(call, new)
    call.reply_headers["location"] = f"/api/v1/memories/{quote(saved.id, safe='')}"
    return saved


@routes.patch(
    "/memories/{id}",
    errors=(404, 409, 412, 428),
    has_version=True,
    takes_headers={"If-Match": "the ETag of the version that you have read, or *"},
    needs_headers=("If-Match",),
    sample={"content": "We deploy on Mondays.", "supersede_reason": "a new rota"},
    example={**ROW_EXAMPLE, "isNew": True, "warnings": [], "hints": []},
)
def change_memory(call: Call, body: ChangeFields) -> SavedRow:
    """Replace a memory with a newer version.

    ``If-Match`` must have the ``ETag`` of the version that you have read, or ``*``. If
    another version is active, the answer is 412, and ``entry`` is that version.
    """
    if "if-match" not in call.headers:
        raise Failure(
            428,
            "If-Match is required",
            hint="Send the ETag of the version that you have read, or *.",
        )
    memory = _read_version(call).memory
    if memory.status != "active" or not memory.id:
        raise Failure(
            409,
            f"Memory '{call.path['id']}' is {memory.status}, so it cannot be changed"
            if memory.id
            else "only a saved memory can be changed",
            more={"entry": row_of(call, memory).model_dump(by_alias=True)},
        )
    content = {} if body.content is None else {"content": body.content}
    new = edited(
        memory,
        type=body.type,
        reason=body.supersede_reason,
        importance=body.importance,
        visibility=body.visibility,
        expires=body.expires,
        tags=tuple(body.tags),
        by=call.by,
        session=call.session,
        **content,
    )
    try:
        return _saved(call, new)
    except VersionChangedError as error:
        current = _details(call, memory.key, memory.scope).memory
        raise changed(call, row_of(call, current)) from error


@routes.delete(
    "/memories/{id}",
    errors=(412,),
    takes_headers={"If-Match": "the ETag of the version to forget"},
    example={"success": True, "deleted": True},
)
def forget_memory(call: Call) -> Forgotten:
    """Forget a memory: it is hidden, and can be restored.

    With ``If-Match``, it is forgotten only if it still has this ``ETag``.
    """
    selector = MemorySelector(name=call.path["id"])
    try:
        read = _read_version(call) if "if-match" in call.headers else None
        try:
            forgotten = call.memory.curation.forget(selector, read=read)
        except VersionChangedError as error:
            raise changed(call, _found_row(call, _details(call))) from error
    except (MemoryNotFoundError, NotesMissingError):
        return Forgotten(deleted=False)
    except Failure as failure:
        if failure.status == 404:
            return Forgotten(deleted=False)
        raise
    if not forgotten.memories and forgotten.failed:
        raise Failure(503, f"not forgotten: {forgotten.failed[0].why}")
    call.reply_headers.pop("etag", None)
    return Forgotten(deleted=bool(forgotten.memories))


@routes.post(
    "/memories/{id}/restore", errors=(404,), example=ROW_EXAMPLE, has_version=True
)
def restore_memory(call: Call) -> Row:
    """Show a forgotten memory again."""
    try:
        call.memory.curation.restore(MemorySelector(name=call.path["id"]))
    except (MemoryNotFoundError, NotesMissingError):
        raise _not_found(call) from None
    return _found_row(call, _details(call))


@routes.get(
    "/memories/{id}/chain", errors=(404,), example={"data": [ROW_EXAMPLE], "total": 1}
)
def read_chain(call: Call, query: ChainFields) -> Page:
    """Return the versions of a memory, newest first."""
    try:
        history = call.memory.curation.history(call.path["id"])
    except (MemoryNotFoundError, NotesMissingError):
        raise _not_found(call) from None
    chain = history.memories
    part = chain[query.offset : query.offset + query.limit]
    data = rows_of(call, part)
    return Page(data=data, total=len(chain), warning=history.warning)


@routes.get(
    "/memories/{id}/edges",
    errors=(404,),
    example={
        "data": [
            {
                "kind": "related_to",
                "weight": 1.0,
                "isOutgoing": True,
                "id": "01KAJ7Q0XW5T3M8Z2V9C4D6E2G",
                "key": "rollback",
                "path": "projects/shop/rollback.md",
            }
        ]
    },
)
def read_edges(call: Call) -> Edges:
    """Return the links of a memory, in both directions."""
    details = _details(call)
    edges = [Edge.model_validate(edge) for edge in details.edges]
    return Edges(data=edges, warning=" ".join(details.warnings))


def _details(call: Call, name: str = "", scope: str | None = None) -> MemoryDetails:
    """Return the memory that the path, or a name, means.

    Args:
        call: The request.
        name: An id, a key or a path; empty: that of the path.
        scope: Its folder; None: in every scope that the caller reads.

    Raises:
        Failure: The caller sees none.
    """
    where = "" if scope is None else scope_text(scope)
    try:
        return call.memory.curation.show(name or call.path["id"], scope=where)
    except (MemoryNotFoundError, NotesMissingError):
        raise _not_found(call, name) from None


def _not_found(call: Call, name: str = "") -> Failure:
    """Return the failure of a memory that is not there, or not for the caller."""
    return Failure(404, f"Memory '{name or call.path['id']}' not found")


def _found_row(call: Call, details: MemoryDetails) -> Row:
    """Return the row of a memory, and name its version in the headers."""
    row = row_of(call, details.memory, details.recall)
    call.reply_headers["etag"] = version_of(row)
    return row


def _read_version(call: Call) -> ReadVersion:
    """Return the version that ``If-Match`` names, of the memory in the path.

    Raises:
        Failure: The caller sees no such memory, or it is another version.
    """
    details = _details(call)
    row = _found_row(call, details)
    if not is_match(call, row):
        raise changed(call, row)
    return ReadVersion(
        memory=details.memory, is_same=lambda now: is_match(call, row_of(call, now))
    )


def _saved(call: Call, new: NewMemory) -> SavedRow:
    """Save a memory and return its row.

    Raises:
        Failure: Its key is taken, and no reason is given; or it has been removed since.
    """
    try:
        saved = call.memory.curation.save(new)
    except KeyTakenError as error:
        more = {}
        if isinstance(error.current, StoredMemory):
            with suppress(Failure):  # it is gone by now
                entry = _details(call, error.current.path).memory
                more["entry"] = row_of(call, entry).model_dump(by_alias=True)
        raise Failure(409, error.problem, more=more) from error
    try:
        row = _found_row(call, _details(call, saved.id or saved.path))
    except Failure:
        message = f"Memory '{saved.id}' was saved, but it has been removed since"
        raise Failure(409, message) from None
    except HivemindError as error:
        message = f"Memory '{saved.id}' was saved, but cannot be read now: {error}"
        raise Failure(503, message) from error
    return SavedRow(
        **row.model_dump(),
        is_new=saved.is_new,
        warnings=list(saved.warnings),
        hints=list(hint_texts(saved.hints, _HINT_WORDS)),
    )
