"""Keeps a small copy of the vectors of chunks, in blocks that are read in one go.

A query is compared with every vector of its space. As float32, one row each, reading
them takes longer than everything else in a search; as int8, 128 in a row of a table,
80 rows hold 10,000 vectors of 384 numbers in 4 MB.

A block changes in the transaction that links or deletes a vector, so it never differs
from the index. Vectors that were linked lately wait in no block until a block's worth
of them has come: a vector of its own would rewrite a whole block.
"""

from __future__ import annotations

import math
import struct
from array import array

from hivemind_memory.sqlite.connection import select_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

BLOCK_ROWS = 128
"""Vectors in a block: 50 kB with 384 numbers each."""

MAX_LENGTH_ERROR = 0.005
"""How far from 1 the length of a vector may be; rounding stays far below."""

PACKED_AT_ONCE = 16 * BLOCK_ROWS
"""Vectors that one transaction puts into blocks: some 50 ms of work."""

_PROBLEM = "the blocks of vectors do not match the chunks"

CHUNKS = struct.Struct(f"<{BLOCK_ROWS}q")
"""The chunks of a block, by row; 0: the row is empty."""

_UNPACKED = """
FROM chunks_vec JOIN embedding_cache ON embedding_cache.id = vector_id
WHERE chunks_vec.space_id = ? AND subchunk = 0 AND slot IS NULL
"""


def quantize(vector: bytes, dims: int) -> bytes:
    """Return a vector as int8, with 127 for its largest number.

    The cosine of two vectors changes by less than 0.005. What is no vector of *dims*
    numbers and of length 1 becomes zeros: a disk may turn bits.

    Args:
        vector: Little-endian float32.
        dims: How many numbers it has.
    """
    if len(vector) != 4 * dims:
        return bytes(dims)
    numbers = struct.unpack(f"<{dims}f", vector)
    # Not a number is in no range.
    if not abs(math.hypot(*numbers) - 1) <= MAX_LENGTH_ERROR:
        return bytes(dims)
    factor = 127 / max(map(abs, numbers))
    return array("b", [round(number * factor) for number in numbers]).tobytes()


def has_many_unpacked(connection: apsw.Connection, space: int) -> bool:
    """Return whether linked vectors that are in no block would fill one."""
    unpacked = select_int(
        connection,
        f"SELECT count(*) FROM (SELECT 1 {_UNPACKED} LIMIT {BLOCK_ROWS})",
        space,
    )
    return unpacked == BLOCK_ROWS


def pack_new(connection: apsw.Connection, space: int, version: int) -> None:
    """Put some linked vectors into blocks, if there are enough of them to fill one.

    Within a write transaction.

    Args:
        connection: Where they are.
        space: Their space.
        version: Larger than that of any block.
    """
    if not has_many_unpacked(connection, space):
        return
    rows = list(
        connection.execute(
            f"""
            SELECT chunks_vec.id, chunk_id, embedding {_UNPACKED}
            ORDER BY chunk_id LIMIT {PACKED_AT_ONCE}
            """,
            (space,),
        )
    )
    dims = select_int(connection, "SELECT dimensions FROM spaces WHERE id = ?", space)
    slots = _take_slots(connection, space, len(rows))
    placed = list(zip(slots, rows, strict=True))
    for block in sorted({slot // BLOCK_ROWS for slot in slots}):
        _write_block(
            connection,
            (space, block, version),
            {
                slot % BLOCK_ROWS: (chunk, quantize(vector, dims))
                for slot, (_, chunk, vector) in placed
                if slot // BLOCK_ROWS == block
            },
        )
    connection.executemany(
        "UPDATE chunks_vec SET slot = ? WHERE id = ?",
        [(slot, link) for slot, (link, _, _) in placed],
    )


def blocks_problem(connection: apsw.Connection) -> str:
    """Return how the blocks differ from the links; empty: they do not."""
    links = {
        (space, slot): chunk
        for space, slot, chunk in connection.execute(
            "SELECT space_id, slot, chunk_id FROM chunks_vec WHERE slot IS NOT NULL"
        )
    }
    free = set(connection.execute("SELECT space_id, slot FROM vector_free"))
    count = len(links) + len(free)
    for space, block, chunks, size in connection.execute(
        """
        SELECT space_id, block, chunks, length(codes) = dimensions * ?
        FROM vector_blocks JOIN spaces ON spaces.id = space_id
        """,
        (BLOCK_ROWS,),
    ):
        if len(chunks) != CHUNKS.size or not size:
            return _PROBLEM
        for row, chunk in enumerate(CHUNKS.unpack(chunks)):
            place = (space, BLOCK_ROWS * block + row)
            count -= 1
            if (place in free) == (links.get(place) == chunk):
                return _PROBLEM
    return _PROBLEM if count else ""


def clear_free_slots(connection: apsw.Connection) -> None:
    """Overwrite what blocks still hold of deleted chunks.

    Within a write transaction.
    """
    free: dict[tuple[int, int], list[int]] = {}
    for space, slot in connection.execute("SELECT space_id, slot FROM vector_free"):
        free.setdefault((space, slot // BLOCK_ROWS), []).append(slot % BLOCK_ROWS)
    for (space, block), rows in free.items():
        [(version, dims)] = connection.execute(
            """
            SELECT version, dimensions FROM vector_blocks
            JOIN spaces ON spaces.id = space_id WHERE space_id = ? AND block = ?
            """,
            (space, block),
        )
        empty = (0, bytes(dims))
        # The version stays: for a reader nothing changes.
        _write_block(connection, (space, block, version), dict.fromkeys(rows, empty))


def _take_slots(connection: apsw.Connection, space: int, count: int) -> list[int]:
    """Return slots for so many vectors: those of deleted chunks, then new ones."""
    free = connection.execute(
        "SELECT slot FROM vector_free WHERE space_id = ? ORDER BY slot LIMIT ?",
        (space, count),
    )
    slots = [slot for (slot,) in free]
    connection.executemany(
        "DELETE FROM vector_free WHERE space_id = ? AND slot = ?",
        [(space, slot) for slot in slots],
    )
    blocks = select_int(
        connection, "SELECT count(*) FROM vector_blocks WHERE space_id = ?", space
    )
    begin = blocks * BLOCK_ROWS
    end = begin + count - len(slots)
    # The next vectors fill the rest of the last block.
    connection.executemany(
        "INSERT INTO vector_free(space_id, slot) VALUES (?, ?)",
        [(space, slot) for slot in range(end, end + -end % BLOCK_ROWS)],
    )
    return slots + list(range(begin, end))


def _write_block(
    connection: apsw.Connection,
    key: tuple[int, int, int],
    rows: dict[int, tuple[int, bytes]],
) -> None:
    """Write some rows of a block, made if it is not there.

    Args:
        connection: Where it is.
        key: Space, number and new version of the block.
        rows: Row -> chunk and its vector as int8.
    """
    space, block, version = key
    found = connection.execute(
        "SELECT chunks, codes FROM vector_blocks WHERE space_id = ? AND block = ?",
        (space, block),
    ).fetchone()
    dims = len(next(iter(rows.values()))[1])
    old_chunks, old_codes = found or (b"", b"")
    chunks = list(CHUNKS.unpack(old_chunks or bytes(CHUNKS.size)))
    codes = bytearray(old_codes or bytes(dims * BLOCK_ROWS))
    for row, (chunk, code) in rows.items():
        chunks[row] = chunk
        codes[row * dims : (row + 1) * dims] = code
    connection.execute(
        """
        INSERT INTO vector_blocks(space_id, block, version, chunks, codes)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET
          version = excluded.version, chunks = excluded.chunks, codes = excluded.codes
        """,
        (space, block, version, CHUNKS.pack(*chunks), bytes(codes)),
    )
