"""Compares the indexed chunks of a note with its new ones, and applies the changes.

Chunks that are the same keep their number, and so their vectors.
"""

from __future__ import annotations

from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from hivemind_memory.index.sqlite.rows import PlacedRow


@value
class ChunkChanges:
    """What makes the chunks of a note equal to some rows."""

    new: list[PlacedRow]
    moved: list[tuple[int, int, int]]
    """First line, last line, number of the chunk."""

    gone: list[tuple[int]]
    """Numbers of chunks."""

    @property
    def count(self) -> int:
        """How many chunks are written."""
        return len(self.new) + len(self.moved) + len(self.gone)


def compare_chunks(
    connection: apsw.Connection,
    file_id: int,
    rows: Sequence[PlacedRow],
    first_line: int = 1,
) -> ChunkChanges:
    """Return how the chunks of a note differ from some rows; equal ones are kept.

    Args:
        connection: The index.
        file_id: The note's number.
        rows: What its chunks have to be.
        first_line: Chunks that begin before this line stay as they are.
    """
    old: dict[tuple[object, ...], list[tuple[int, int, int]]] = {}
    same = 0
    for chunk_id, start, end, *stored in connection.execute(
        """
        SELECT id, start_line, end_line,
          day, entry_id, headings, text, body, extra, breadcrumbs, subchunks, source,
          reason, source_ref, tags
        FROM chunks WHERE file_id = ? AND start_line >= ? ORDER BY id
        """,
        (file_id, first_line),
    ):
        row = tuple(stored)
        # Agents append to a note all day. Up to where it grew its chunks are in order,
        # and equal ones need not be found: to hash a megabyte takes longest.
        if not old and same < len(rows) and rows[same] == (start, end, row):
            same += 1
        else:
            old.setdefault(row, []).append((chunk_id, start, end))
    for places in old.values():
        places.reverse()
    new = []
    moved = []
    for placed in rows[same:]:
        kept = old.get(placed.row)
        if not kept:
            new.append(placed)
            continue
        chunk_id, start, end = kept.pop()
        if (start, end) != (placed.start_line, placed.end_line):
            moved.append((placed.start_line, placed.end_line, chunk_id))
    gone = [(chunk_id,) for kept in old.values() for chunk_id, _, _ in kept]
    return ChunkChanges(new=new, moved=moved, gone=gone)


def apply_changes(connection: apsw.Connection, changes: ChunkChanges) -> None:
    """Move and delete chunks; what is new is left to the caller."""
    connection.executemany(
        "UPDATE chunks SET start_line = ?, end_line = ? WHERE id = ?", changes.moved
    )
    # In one statement; see ``notes._insert_chunks``. A list of any length is one value.
    connection.execute(
        "DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
        (f"[{','.join(str(chunk_id) for (chunk_id,) in changes.gone)}]",),
    )
