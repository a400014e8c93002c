"""The pages of notes: all of them as a tree of folders, and one with its outline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from hivemind_memory.dashboard.addresses import MAX_LINES, NOTES, memory_address
from hivemind_memory.dashboard.note_tree import tree_of
from hivemind_memory.dashboard.page import (
    Page,
    PageCall,
    PageGroup,
    number_of,
    unless_missing,
)
from hivemind_memory.dashboard.shown_text import masked_text
from hivemind_memory.markdown.front_matter import FrontMatter, split_front_matter
from hivemind_memory.markdown.note_parser import chunk_note
from hivemind_memory.model.listing import FolderPage
from hivemind_memory.model.note import Chunk
from hivemind_memory.model.scope import scope_of
from hivemind_memory.notes.edge import links_in
from hivemind_memory.redaction import mask

PAGE_SIZE = 100
MAX_LINKS = 200
_MAX_DEPTH = 4  # of an outline, so that it fits a narrow screen

pages = PageGroup()


@pages.get("/notes")
def notes(call: PageCall) -> Page:
    """Show the folders as a tree, and a part of the notes of one."""
    folder, number = call.query.get("folder", ""), number_of(call, "page")
    page = FolderPage(folders=(), notes=(), total=0)
    if call.memory.caller.is_member:
        lists, offset = call.memory.lists, (number - 1) * PAGE_SIZE
        page = unless_missing(
            lambda: lists.folder(folder, PAGE_SIZE, offset=offset), page
        )
    values = {
        "tree": tree_of(page.folders, folder),
        "is_above": not folder
        or any(path.startswith(f"{folder}/") for path, _ in page.folders),
        "is_known": folder in dict(page.folders),
        "notes": [(note, masked_text(note.title)) for note in page.notes],
        "total": sum(count for _, count in page.folders),
        "number": number,
        "last": max(1, math.ceil(page.total / PAGE_SIZE)),
        "address_of_page": lambda at: (
            f"{NOTES}?{urlencode({'folder': folder, 'page': at})}"
        ),
    }
    return Page(template="notes.html", values=values)


@pages.get("/notes/{path...}")
def note(call: PageCall) -> Page:
    """Show a note: rendered, or its lines."""
    start = number_of(call, "from")
    lines = call.memory.read(call.path["path"], start_line=start, line_count=MAX_LINES)
    text = mask(lines.text)
    chunks = chunk_note(
        text,
        limit_chars=call.memory.settings.chunk_chars,
        overlap_chars=call.memory.settings.chunk_overlap_chars,
    )
    before = lines.start_line - 1
    is_source = call.query.get("view") == "source"
    head = split_front_matter(text) if lines.start_line == 1 else FrontMatter()
    values = {
        "lines": lines,
        "name": lines.path.rpartition("/")[2],
        "folder": lines.path.rpartition("/")[0],
        "memory": _memory_at(call, lines.path),
        "fields": _fields(text.split("\n")[1 : max(1, head.line_count - 1)]),
        "text": "\n".join(text.split("\n")[head.line_count :]),
        "links": {} if is_source else _links(call, lines.path, text),
        "line": _line_asked(call) - before - head.line_count,
        "numbered": list(enumerate(text.split("\n"), start=lines.start_line)),
        "is_source": is_source,
        "outline": outline_of(chunks, before),
        "chunk_count": len(chunks),
        "before": max(1, lines.start_line - MAX_LINES) if before else 0,
        "chunk_starts": {chunk.start_line + before for chunk in chunks},
    }
    return Page(template="note.html", values=values)


def outline_of(chunks: Sequence[Chunk], before: int) -> list[dict[str, Any]]:
    """Return the sections of a note, each with its first line and its chunks.

    Args:
        chunks: Of the lines that are shown.
        before: How many lines of the note come before them.
    """
    sections = []
    for headings, found in groupby(chunks, key=lambda chunk: chunk.headings):
        own = list(found)
        if headings:
            sections.append(
                {
                    "title": headings[-1],
                    "depth": min(len(headings), _MAX_DEPTH),
                    "line": own[0].start_line + before,
                    "chunks": len(own),
                }
            )
    return sections


def _line_asked(call: PageCall) -> int:
    """Return the line of the note that the reader comes for; 0: none."""
    return number_of(call, "line") if call.query.get("line") else 0


def _fields(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return the fields of a front matter as it is written.

    >>> _fields(["type: fact", "# not sure: yet", "tags:", "  - a", "  # b", "  - c"])
    [('type', 'fact'), ('tags', '- a - c')]
    """
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.lstrip().startswith("#"):
            continue
        name, colon, value = line.partition(":")
        if colon and name.strip() and not line.startswith((" ", "-")):
            found.append((name.strip(), value.strip()))
        elif found and line.strip():
            name, value = found[-1]
            found[-1] = (name, f"{value} {line.strip()}".strip())
    return found


def _memory_at(call: PageCall, path: str) -> str:
    """Return the page of the memory that a note is; empty: it is free text."""
    if not call.memory.caller.is_member:
        return ""
    scopes = call.memory.access.scopes
    rows = call.memory.index_handle.run_fresh(
        lambda index: index.memories(path=path, scopes=scopes)
    )
    row = next(iter(rows), None)
    is_memory = bool(row and row.type and row.memory_id)
    return memory_address(row.memory_id, path) if row and is_memory else ""


def _links(call: PageCall, path: str, text: str) -> dict[str, str]:
    """Return the names between double brackets in a note -> pages of what they mean."""
    names = list(dict.fromkeys(links_in(text)))[:MAX_LINKS]
    if not names or not call.memory.caller.is_member:
        return {}
    near, scopes = scope_of(path), call.memory.access.scopes
    rows = call.memory.index_handle.run_fresh(
        lambda index: {
            name: index.resolve_ref(name, scopes=scopes, near=near) for name in names
        }
    )
    return {
        name: memory_address(row.memory_id, row.path)
        for name, row in rows.items()
        if row is not None and row.path != path
    }
