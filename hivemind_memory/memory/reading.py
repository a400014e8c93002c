"""Lines of one note, as they stand."""

from __future__ import annotations

from hivemind_memory.errors import UsageError
from hivemind_memory.memory.guarding import check_readable, without_forgotten
from hivemind_memory.model.answers import Passage
from hivemind_memory.notes.paths import parse_note_path
from hivemind_memory.notes.text import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.access import Caller
    from hivemind_memory.notes.folder import NotesFolder


def read_passage(
    folder: NotesFolder,
    path: str,
    *,
    caller: Caller,
    first_line: int,
    line_count: int | None,
) -> Passage:
    """Return lines of a note; lines that it does not have are left out.

    Args:
        folder: Where the notes lie.
        path: As a person or an agent names it.
        caller: Who reads; only the owner of the machine reads what was forgotten, and
            what looks like a secret.
        first_line: From 1.
        line_count: Lines at most, from 0; None: to the end.
    """
    if first_line < 1:
        raise UsageError(f"lines count from 1, got {first_line}")
    if line_count is not None and line_count < 0:
        raise UsageError(f"the number of lines is at least 0, got {line_count}")
    note = parse_note_path(path)
    check_readable(caller, note)
    data, _ = folder.read(note)
    text = decode(data)
    if not caller.is_owner:
        from hivemind_memory.secrets import mask

        text = mask(without_forgotten(note, text))
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    end = None if line_count is None else first_line - 1 + line_count
    chosen = lines[first_line - 1 : end]
    return Passage(
        path=note,
        start_line=first_line,
        end_line=first_line + len(chosen) - 1,
        text="\n".join(chosen),
        line_count=len(lines),
    )
