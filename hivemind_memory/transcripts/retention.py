"""Keeps ``transcripts.db`` within days and size: the oldest messages go first."""

from __future__ import annotations

from math import ceil

from hivemind_memory.model.activity import ID_BITS
from hivemind_memory.sqlite.connection import select_int, write_transaction
from hivemind_memory.transcripts.store import remove_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.sqlite.writer_lock import WriterConnection
    from hivemind_memory.transcripts.target import ReadTarget

_FLOOR = "floor_ms"
_STEP = 5_000
"""Messages that one transaction removes."""

_FILLED = 0.9
"""Pruning ends at this share of the limit, so that not every reading prunes."""

_MIN_REMOVED = 20
_MERGED_PAGES = 1_000
_MAX_STEPS = 10_000
_ANY_ID = 1 << 62


def floor_ms(connection: WriterConnection) -> int:
    """Return the time before which messages were removed for lack of space.

    A file that is read anew must not bring them back. In ms since the epoch.
    """
    return select_int(connection, "SELECT value FROM meta WHERE key = ?", _FLOOR)


def used_bytes(connection: WriterConnection) -> int:
    """Return the bytes of the file that hold something."""
    pages = int(connection.pragma("page_count"))
    free = int(connection.pragma("freelist_count"))
    return (pages - free) * int(connection.pragma("page_size"))


def keep_within(connection: WriterConnection, target: ReadTarget) -> None:
    """Remove what is older than the limit, then the oldest until the size fits."""
    oldest = target.floor_ms << ID_BITS
    while _remove(connection, oldest):
        pass
    if used_bytes(connection) <= target.max_bytes:
        return
    wanted = _FILLED * target.max_bytes
    for _ in range(_MAX_STEPS):
        used = used_bytes(connection)
        kept = select_int(connection, "SELECT count(*) FROM messages")
        if used <= wanted or not kept:
            break
        too_many = ceil(kept * (used - wanted) / used)
        _remove(connection, _ANY_ID, min(_STEP, max(too_many, _MIN_REMOVED)))
        # The words of what was removed leave room that only a merge gives back.
        connection.execute(
            "INSERT INTO messages_fts(messages_fts, rank) VALUES ('merge', ?)",
            (-_MERGED_PAGES,),
        )
    sql = "SELECT coalesce(min(id), 0) FROM messages"
    first = max(select_int(connection, sql) >> ID_BITS, target.floor_ms)
    with write_transaction(connection):
        connection.execute(
            "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (_FLOOR, first)
        )


def _remove(connection: WriterConnection, before: int, count: int = _STEP) -> int:
    """Remove up to *count* of the oldest messages before an id; return how many."""
    row = connection.execute(
        "SELECT max(id) FROM"
        " (SELECT id FROM messages WHERE id < ? ORDER BY id LIMIT ?)",
        (before, count),
    ).fetchone()
    if row is None or row[0] is None:
        return 0
    with write_transaction(connection):
        return remove_messages(connection, "id <= ?", (row[0],))
