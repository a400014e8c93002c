"""The routes of notes: list, read, add an entry."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from hivemind_memory.errors import NotesMissingError
from hivemind_memory.http_api.routes import (
    Answer,
    Call,
    CamelAnswer,
    Fields,
    RouteGroup,
)
from hivemind_memory.http_api.schemas import SCOPE
from hivemind_memory.model.scope import scope_text
from hivemind_memory.redaction import mask

routes = RouteGroup("/api/v1", tag="notes")

_Short = Annotated[str, Field(max_length=1_100)]


class NotesFields(Fields):
    """Which part of the list."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0


class Note(CamelAnswer):
    """One note."""

    path: str
    size_bytes: int
    updated_at: str
    chunk_count: int
    title: str


class Notes(Answer):
    """Some of the notes."""

    data: list[Note] = Field(description="sorted by path")
    total: int


class LinesFields(Fields):
    """Which lines of a note."""

    from_: Annotated[
        int, Field(alias="from", ge=1, le=100_000_000, description="first line")
    ] = 1
    lines: Annotated[
        int | None, Field(ge=1, le=100_000_000, description="how many; default: all")
    ] = None


class Lines(CamelAnswer):
    """Lines of a note."""

    path: str
    start_line: int
    end_line: int
    text: str
    line_count: int = Field(description="of the whole note")


class EntryFields(Fields):
    """What is written down."""

    content: Annotated[str, Field(max_length=200_000)]
    file: Annotated[_Short, Field(description="default: today's note")] = ""
    scope: Annotated[
        _Short, Field(description="default: the token's own", json_schema_extra=SCOPE)
    ] = ""
    source_ref: Annotated[_Short, Field(description="file or URL it comes from")] = ""


class Written(CamelAnswer):
    """An entry that was written."""

    path: str
    start_line: int
    end_line: int
    id: str
    scope: str
    is_indexed: bool = Field(description="searches already find it")
    warnings: list[str]


_NOTE_EXAMPLE = {
    "path": "2026-11-21.md",
    "sizeBytes": 812,
    "updatedAt": "2026-11-21T09:30:00+01:00",
    "chunkCount": 3,
    "title": "Friday",
}


@routes.get("/notes", example={"data": [_NOTE_EXAMPLE], "total": 1})
def list_notes(call: Call, query: NotesFields) -> Notes:
    """List the notes."""
    try:
        notes = call.memory.list() if call.memory.caller.is_member else []
    except NotesMissingError:
        notes = []
    page = notes[query.offset : query.offset + query.limit]
    data = [Note.model_validate(note) for note in page]
    for note in data:
        note.title = mask(note.title)
    return Notes(data=data, total=len(notes))


@routes.get(
    "/notes/{path...}",
    errors=(404,),
    example={
        "path": "2026-11-21.md",
        "startLine": 1,
        "endLine": 2,
        "text": "# Friday\\n",
        "lineCount": 2,
    },
)
def read_note(call: Call, query: LinesFields) -> Lines:
    """Return lines of a note."""
    found = call.memory.read(
        call.path["path"], start_line=query.from_, line_count=query.lines
    )
    return Lines(
        path=found.path,
        start_line=found.start_line,
        end_line=found.end_line,
        text=mask(found.text),
        line_count=found.line_count,
    )


@routes.post(
    "/notes",
    status=201,
    has_location=True,
    sample={"content": "The nightly job failed: the disk was full."},
    example={
        "path": "projects/shop/2026-11-21.md",
        "startLine": 3,
        "endLine": 3,
        "id": "01KAJ7Q0XW5T3M8Z2V9C4D6E3H",
        "scope": "projects/shop",
        "isIndexed": True,
        "warnings": [],
    },
)
def write_entry(call: Call, body: EntryFields) -> Written:
    """Add an entry to a note."""
    written = call.memory.write(
        body.content,
        file=body.file,
        scope=body.scope,
        by=call.by,
        session=call.session,
        source_ref=body.source_ref,
    )
    shown = Written.model_validate(written)
    shown.scope = scope_text(shown.scope)
    call.reply_headers["location"] = f"/api/v1/notes/{quote(shown.path)}"
    return shown
