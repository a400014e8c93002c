"""Chooses the engine of the index: SQLite, in one file beside the notes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.files.places import Places
    from hivemind_memory.index.engine_port import IndexEngine


def index_engine(places: Places, now: Callable[[], float]) -> IndexEngine:
    """Return the engine of a memory's index; opens nothing.

    Args:
        places: Where the files of the memory are.
        now: Seconds since the epoch, UTC.
    """
    from hivemind_memory.index.sqlite.engine import SqliteEngine

    return SqliteEngine(places, now)
