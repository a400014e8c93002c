"""Lines of one note, as they stand.

Every note that a caller may see.
"""

from __future__ import annotations

from hivemind_memory.access.check import check_readable, without_forgotten
from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import UsageError
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.memories import FORGOTTEN
from hivemind_memory.model.results import ListedNote, NoteLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.memory.index_handle import OpenIndex
    from hivemind_memory.memory.service import Memory


def read_passage(
    folder: NotesFolder,
    path: str,
    *,
    caller: Caller,
    start_line: int,
    line_count: int | None,
) -> NoteLines:
    """Return lines of a note; lines that it does not have are left out.

    Args:
        folder: Where the notes lie.
        path: As a person or an agent names it.
        caller: Who reads; only the owner of the machine reads what was forgotten, and
            what looks like a secret.
        start_line: From 1.
        line_count: Lines at most, from 0; None: to the end.
    """
    if start_line < 1:
        raise UsageError(f"lines count from 1, got {start_line}")
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


def list_notes(memory: Memory) -> list[ListedNote]:
    """Return the notes, sorted by path; what was forgotten as a whole is left out."""

    def count(opened: OpenIndex) -> tuple[dict[str, int], set[str]]:
        memory.index_handle.freshness_check().ensure_fresh(opened.index)
        hidden = opened.index.memories(statuses={FORGOTTEN})
        return opened.index.chunk_counts(), {row.path for row in hidden}

    with memory.lock:
        counts, hidden = memory.index_handle.run_with_fallback(count)
        stamps = memory.folder.snapshot().stamps
    return [
        ListedNote(
            path=path,
            size_bytes=stamp[2],
            updated_at=memory.clocks.local_iso(stamp[0] / 1e9),
            chunk_count=counts.get(path, 0),
        )
        for path, stamp in sorted(stamps.items())
        if path not in hidden and may_read(memory.caller, path)
    ]
