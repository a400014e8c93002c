"""How often memories and entries were recalled, a table of ``state.db``.

A counter belongs to an id in a scope of a notes folder: a note in another may have the
same id, by chance or because it was copied, and must neither show nor reset the
counter. Counters from before their folder was kept count in all.

Counting never makes an answer fail: what cannot be counted now is not counted.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.model.scope import scoped_id
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state import use_days
from hivemind_memory.state.notes_folders import EVERY_FOLDER
from hivemind_memory.state.open import COUNT_WAIT_MS
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import apsw

    from hivemind_memory.model.query import SearchAnswer
    from hivemind_memory.model.scope import ScopedId
    from hivemind_memory.state.state_file import StateFile
    from hivemind_memory.state.use_days import AskedBy, Sent

UNKNOWN_SCOPE = "?"
"""Of what was counted before counters had a scope. No scope has this name."""

_AT_ONCE = 1_000
"""Ids that one statement takes."""

_ADD = """
INSERT INTO recalls(ref, scope, notes, count, last_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (ref, scope, notes) DO UPDATE
SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)
"""


def count_search(
    state: StateFile,
    answer: SearchAnswer,
    at_s: float,
    asked: AskedBy,
    sent: Sent | None = None,
) -> bool:
    """Count a search, and one recall of what it found; return whether that was done.

    Without a home folder nothing is counted: to search some notes makes none.

    Args:
        state: Where it is counted.
        answer: Of the search.
        at_s: When, in seconds since the epoch.
        asked: Who asked.
        sent: What was sent to embedding providers meanwhile.
    """
    if not os.path.isdir(os.path.dirname(state.path)):
        return False
    found = [scoped_id(hit.path, hit.id) for hit in answer.hits if hit.id]

    def also(connection: apsw.Connection) -> None:
        use_days.count_search(connection, state.notes, answer, asked)
        use_days.count_sent(connection, state.notes, asked.day, sent or {})

    return RecallLog(state).count(found, at_s, also)


class RecallLog:
    """The recall counters of one notes folder. Only ``rename_scope`` may raise."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def count(
        self,
        found: Collection[ScopedId],
        at_s: float,
        also: Callable[[apsw.Connection], None] | None = None,
    ) -> bool:
        """Count one recall of each memory or entry; return whether it was counted.

        Args:
            found: The memories and entries.
            at_s: When, in seconds since the epoch.
            also: Counts more, in the same transaction.
        """
        notes = self._state.notes
        rows = [(ref, scope, notes, 1, int(at_s)) for scope, ref in sorted(set(found))]

        def count(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                _add(connection, rows)
                if also is not None:
                    also(connection)

        return (not rows and also is None) or self._try(count, COUNT_WAIT_MS)

    def counts(self, wanted: Collection[ScopedId]) -> dict[ScopedId, tuple[int, int]]:
        """Return (how often, when last in s) of those ever recalled."""
        known = self._read([ref for _, ref in wanted])
        return {ref: known[ref] for ref in wanted if ref in known}

    def unscoped(self, refs: Collection[str]) -> set[str]:
        """Return the ids that were counted before counters had a scope."""
        return {ref for scope, ref in self._read(refs) if scope == UNKNOWN_SCOPE}

    def settle(self, scopes: Mapping[str, str | None]) -> None:
        """Give counters from before a scope; None: forget the counter."""

        def move(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                for ref, scope in scopes.items():
                    found = connection.execute(
                        "DELETE FROM recalls"
                        " WHERE ref = ? AND scope = ? AND notes IN (?, ?)"
                        " RETURNING notes, count, last_at",
                        (ref, UNKNOWN_SCOPE, *self._folders),
                    ).fetchall()
                    if scope is not None:
                        for row in found:
                            connection.execute(_ADD, (ref, scope, *row))

        self._try(move, PROMISE_WAIT_MS)

    def drop(
        self, refs: Collection[str], is_gone: Callable[[str, str], bool]
    ) -> int | None:
        """Forget the counters of what is gone; return how many, None: it failed.

        Args:
            refs: Ids.
            is_gone: Takes a scope and an id. The scope of an old counter is unknown.
        """
        gone = [
            (ref, scope, *self._folders)
            for scope, ref in self._read(refs)
            if is_gone(scope, ref)
        ]

        def delete(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                connection.executemany(
                    "DELETE FROM recalls"
                    " WHERE ref = ? AND scope = ? AND notes IN (?, ?)",
                    gone,
                )

        return len(gone) if not gone or self._try(delete, PROMISE_WAIT_MS) else None

    def count_gone(
        self, refs: Collection[str], is_gone: Callable[[str, str], bool]
    ) -> int:
        """Return how many counters ``drop`` would forget."""
        return sum(is_gone(scope, ref) for scope, ref in self._read(refs))

    def rename_scope(self, new_name: Callable[[str], str]) -> None:
        """Give the counters of a renamed scope its new name.

        Raises:
            StateUnusableError: They cannot be written now.
        """

        def rename(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                rows = connection.execute(
                    "SELECT ref, scope, notes, count, last_at FROM recalls"
                    " WHERE notes IN (?, ?)",
                    self._folders,
                ).fetchall()
                for ref, scope, *rest in rows:
                    if new_name(str(scope)) != scope:
                        connection.execute(
                            "DELETE FROM recalls"
                            " WHERE ref = ? AND scope = ? AND notes = ?",
                            (ref, scope, rest[0]),
                        )
                        connection.execute(_ADD, (ref, new_name(str(scope)), *rest))

        self._state.run(rename, PROMISE_WAIT_MS)

    def _read(self, refs: Collection[str]) -> dict[ScopedId, tuple[int, int]]:
        """Return every counter of some ids."""
        sql = (
            "SELECT scope, ref, sum(count), max(last_at) FROM recalls"
            " WHERE notes IN (?, ?) AND ref IN ({}) GROUP BY scope, ref"
        )
        if not refs or not os.path.exists(self._state.path):
            return {}

        def read(connection: apsw.Connection) -> dict[ScopedId, tuple[int, int]]:
            return {
                (str(scope), str(ref)): (int(count), int(last))
                for some in _parts(refs)
                for scope, ref, count, last in connection.execute(
                    sql.format(",".join("?" * len(some))), (*self._folders, *some)
                )
            }

        try:
            return self._state.run(read)
        except StateUnusableError:
            return {}

    @property
    def _folders(self) -> tuple[str, str]:
        """What the state calls the notes folders whose counters count here."""
        return self._state.notes, EVERY_FOLDER

    def _try(self, work: Callable[[apsw.Connection], object], wait_ms: int) -> bool:
        """Do what may fail; return whether it did not."""
        try:
            self._state.run(work, wait_ms)
        except StateUnusableError:
            return False
        return True


def _add(
    connection: apsw.Connection, rows: list[tuple[str, str, str, int, int]]
) -> None:
    """Add to some counters, in one statement."""
    if not rows:
        return
    marks = ",".join(["(?, ?, ?, ?, ?)"] * len(rows))
    values = [value for row in rows for value in row]
    connection.execute(_ADD.replace("(?, ?, ?, ?, ?)", marks), values)


def _parts(refs: Collection[str]) -> Iterator[list[str]]:
    """Yield some ids at a time."""
    ordered = sorted(set(refs))
    for at in range(0, len(ordered), _AT_ONCE):
        yield ordered[at : at + _AT_ONCE]
