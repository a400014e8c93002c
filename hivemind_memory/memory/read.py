"""Reading notes as they are: the lines of one, and a list of all."""

from __future__ import annotations

from hivemind_memory.access.rules import check_readable, may_read, without_forgotten
from hivemind_memory.errors import UsageError
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.results import ListedNote, NoteLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


def read_passage(
    folder: NotesFolder,
    path: str,
    *,
    caller: Caller,
    start_line: int,
    line_count: int | None,
) -> NoteLines:
    """Return lines of a note, fewer if the note ends before.

    Args:
        folder: The notes.
        path: As a person or an agent names it.
        caller: Who reads; forgotten entries and secrets are shown to the owner only.
        start_line: Number of the first line, from 1.
        line_count: Number of lines at most, from 0; None: to the end.

    Raises:
        NoteNotFoundError: The caller sees no such note.
        NotePathError: *path* is not a plain relative name of a note.
        UsageError: A number is too small.
    """
    if start_line < 1:
        raise UsageError(f"lines are numbered from 1, got {start_line}")
    if line_count is not None and line_count < 0:
        raise UsageError(f"the number of lines is at least 0, got {line_count}")
    note = parse_note_path(path)
    check_readable(caller, note)
    data, _ = folder.read(note)
    text = decode(data)
    if not caller.is_owner:
        from hivemind_memory.redaction import mask

        text = mask(without_forgotten(note, text))
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    end = None if line_count is None else start_line - 1 + line_count
    chosen = lines[start_line - 1 : end]
    return NoteLines(
        path=note,
        start_line=start_line,
        end_line=start_line + len(chosen) - 1,
        text="\n".join(chosen),
        line_count=len(lines),
    )


def list_notes(
    signatures: Mapping[NotePath, FileSignature],
    chunk_counts: Mapping[str, int],
    caller: Caller,
    local_iso: Callable[[float], str],
) -> list[ListedNote]:
    """Return the notes that a caller may see, sorted by path.

    Args:
        signatures: The notes that exist and are not forgotten as a whole.
        chunk_counts: Path -> number of chunks in the index.
        caller: Who asks.
        local_iso: Returns a time as ISO 8601 in the local time zone.
    """
    return [
        ListedNote(
            path=path,
            size_bytes=signature[2],
            updated_at=local_iso(signature[0] / 1e9),
            chunk_count=chunk_counts.get(path, 0),
        )
        for path, signature in sorted(signatures.items())
        if may_read(caller, path)
    ]
