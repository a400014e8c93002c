"""Reads the lines of a note as they are."""

from __future__ import annotations

from hivemind_memory.access.rules import check_readable
from hivemind_memory.errors import NoteTooLargeError, UsageError
from hivemind_memory.files.errors import no_such_line
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.files.scan import too_large
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.results import NoteLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath

MASK_CONTEXT = 80_000
"""Characters before and after a passage; the longest rule, for keys, needs half."""


def read_passage(
    folder: NotesFolder,
    path: str,
    caller: Caller,
    *,
    start_line: int,
    line_count: int | None,
) -> NoteLines:
    """Return lines of a note, fewer if the note ends before.

    Args:
        folder: The notes.
        path: As a person or an agent names it.
        caller: Who reads; forgotten entries and secrets are shown to a person
            who sees all scopes.
        start_line: Number of the first line, from 1.
        line_count: Number of lines at most, from 0; None: to the end.

    Raises:
        LineNotFoundError: The note ends before *start_line*. Line 1 of an empty note
            is no error: reading a note from its beginning returns what it holds.
        NoteNotFoundError: The caller sees no such note.
        NotePathError: *path* is not a plain relative name of a note.
        NoteTooLargeError: It is larger than ``max_note_mb``.
        UsageError: A number is too small.
    """
    if start_line < 1:
        raise UsageError(
            f"Lines are numbered from 1, so there is no line {start_line}."
        )
    if line_count is not None and line_count < 0:
        message = f"The number of lines must be 0 or more, not {line_count}."
        raise UsageError(message)
    note = parse_note_path(path)
    check_readable(caller, note)
    data = _bounded(folder, note)
    text = decode(data)
    if not caller.sees_secrets:
        text = blank_forgotten(note, text)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if start_line > max(len(lines), 1):
        raise no_such_line(note, start_line, len(lines))
    end = len(lines) if line_count is None else start_line - 1 + line_count
    chosen = lines[start_line - 1 : end]
    if chosen and not caller.sees_secrets:
        chosen = mask_lines(lines, start_line - 1, start_line - 1 + len(chosen))
    return NoteLines(
        path=note,
        start_line=start_line,
        end_line=start_line + len(chosen) - 1,
        text="\n".join(chosen),
        line_count=len(lines),
    )


def read_provenance(
    folder: NotesFolder, path: str, caller: Caller
) -> tuple[list[str], dict[str, object]]:
    """Return the lines of a note that name the origin of entries, and its front matter.

    All other lines are empty, so nothing has to be masked: to mask a note of 1 MB takes
    a second.

    Raises:
        NoteNotFoundError: The caller sees no such note.
        NoteTooLargeError: It is larger than ``max_note_mb``.
    """
    from hivemind_memory.markdown.entry import OPENING
    from hivemind_memory.markdown.front_matter import split_front_matter

    note = parse_note_path(path)
    check_readable(caller, note)
    text = decode(_bounded(folder, note))
    values = split_front_matter(text).values if text.startswith("---") else {}
    lines = text.split("\n")
    comments = [line if line.startswith(OPENING) else "" for line in lines]
    return comments, dict(values)


def _bounded(folder: NotesFolder, note: NotePath) -> bytes:
    """Return the bytes of a note unless it is too large to be one."""
    limit, signature = folder.max_note_bytes, folder.signature(note)
    if signature is not None and signature[2] > limit:
        message = f"{note} was not read: {too_large(limit)}."
        raise NoteTooLargeError(message)
    return folder.read(note, max_bytes=limit)[0]


def mask_lines(lines: list[str], start: int, stop: int) -> list[str]:
    """Return some lines without their secrets.

    Masked together with the text around them: a line from the middle of a key is not
    recognized by itself. The rest of the note is not read.
    """
    from hivemind_memory.redaction import mask

    before = _near(reversed(lines[:start]), last=True)[::-1]
    after = _near(iter(lines[stop:]), last=False)
    around = mask("\n".join([*before, *lines[start:stop], *after])).split("\n")
    return around[len(before) : len(before) + stop - start]


def _near(lines: Iterator[str], *, last: bool) -> list[str]:
    """Return the first ``MASK_CONTEXT`` characters as lines, the last one cut."""
    near, room = [], MASK_CONTEXT
    for line in lines:
        if room <= 0:
            break
        near.append(line[-room:] if last else line[:room])
        room -= len(line) + 1
    return near


def blank_forgotten(path: NotePath, text: str) -> str:
    """Return a note's text with the lines of forgotten entries blank.

    Every other line keeps its number.

    Raises:
        NoteNotFoundError: The note is forgotten as a whole.
    """
    if "forgotten" not in text:
        return text
    from hivemind_memory.files.errors import read_error
    from hivemind_memory.markdown.note_parser import parse_note
    from hivemind_memory.notes.memory_header import is_forgotten

    note = parse_note(path, text.encode(), limit_chars=len(text))
    if is_forgotten(note.front_matter):
        raise read_error(path, FileNotFoundError())
    lines = text.split("\n")
    for chunk in note.chunks:
        if chunk.provenance is not None and chunk.provenance.is_forgotten:
            blank = [""] * (chunk.end_line - chunk.start_line + 1)
            lines[chunk.start_line - 1 : chunk.end_line] = blank
    return "\n".join(lines)
