"""Writes what differs in a note that has grown since it was indexed, or is large."""

from __future__ import annotations

from hivemind_memory.index.sqlite.chunk_changes import apply_changes, compare_chunks
from hivemind_memory.index.sqlite.meta import notes_transaction
from hivemind_memory.index.sqlite.note_rows import (
    add_edges,
    chunk_values,
    insert_chunks,
    update_file,
)
from hivemind_memory.index.sqlite.notes import (
    NOT_INDEXED,
    indexed_at,
    replace_changed_chunks,
    replace_large_note,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.port import FileRecord, MayWrite
    from hivemind_memory.index.sqlite.rows import PlacedRow
    from hivemind_memory.model.note import Note
    from hivemind_memory.sqlite.writer_lock import WriterConnection


def replace_part(
    connection: WriterConnection,
    index_file: str,
    note: Note,
    file: FileRecord,
    rows: list[PlacedRow],
    may_write: MayWrite | None,
) -> int:
    """Make the index of a note that has grown or is large equal to its rows.

    Returns:
        How many were written.
    """
    if note.grown_from:
        return _replace_end(connection, note, file, rows, may_write)
    changed = replace_changed_chunks(connection, note.path, file, rows, may_write)
    if changed is not None:
        return changed
    from hivemind_memory.index.sqlite.lock import index_lock

    # Who rebuilds takes that lock first.
    connection.writer_lock.release()
    with index_lock(index_file):
        return replace_large_note(connection, note.path, file, rows, may_write)


def _replace_end(
    connection: WriterConnection,
    note: Note,
    file: FileRecord,
    rows: list[PlacedRow],
    may_write: MayWrite | None,
) -> int:
    """Make the last chunks of a note that has grown equal to rows; count those written.

    Nothing is written if the index does not have what the note has grown from any more:
    *may_write* is told of that, and has the note read as a whole.
    """
    path = note.path
    with notes_transaction(connection):
        indexed = indexed_at(connection, (path,))
        file_id, signature, digest, chunk_count = indexed.get(path, NOT_INDEXED)
        if may_write is not None and not may_write(path, signature, digest):
            return 0
        if digest != note.grown_from:
            return 0
        changes = compare_chunks(connection, file_id, rows, note.first_line)
        chunk_count += len(changes.new) - len(changes.gone)
        update_file(connection, file_id, file, chunk_count)
        apply_changes(connection, changes)
        add_edges(connection, file_id, file)
        insert_chunks(connection, chunk_values(file_id, changes.new))
    return len(changes.new)
