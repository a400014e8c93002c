"""What agents and programs did, a table of ``state.db``: calls, and posted rows.

A row belongs to the project and the workspace of who did it. Its texts are masked
before they come here. The oldest rows go first.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.activity import ID_BITS
from hivemind_memory.model.value import value
from hivemind_memory.sqlite.connection import select_int, write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import apsw

    from hivemind_memory.state.state_file import StateFile

MAX_ROWS = 10_000
_PRUNE_EVERY = 64
_COLUMNS = (
    *("id", "kind", "workspace", "project", "agent", "session", "label", "content"),
    *("method", "status", "request", "response"),
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM activity WHERE notes = ?"


@value
class ActivityRow:
    """One row."""

    id: int = 0
    """The time in ms since the epoch, and 20 bits below it."""

    kind: str
    workspace: str = ""
    """Scope of the workspace; empty: none."""

    project: str = ""
    agent: str = ""
    session: str = ""
    label: str = ""
    content: str = ""
    method: str = ""
    status: str = ""
    request: str = ""
    response: str = ""

    @property
    def text(self) -> str:
        """All that is searched, in one text."""
        return "\n".join((self.label, self.content, self.request, self.response))


class ActivityLog:
    """The rows of one notes folder. Any method may raise ``StateUnusableError``."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def add(self, row: ActivityRow, at_ms: int, first_ms: int) -> int:
        """Add a row; return its id.

        Args:
            row: The row; its id does not count.
            at_ms: Now, in ms since the epoch.
            first_ms: Rows from before are dropped now and then.
        """
        fields = [getattr(row, name) for name in _COLUMNS[1:]]

        def insert(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                newest = select_int(
                    connection, "SELECT coalesce(max(id), 0) FROM activity"
                )
                number = max(at_ms << ID_BITS, newest + 1)
                marks = ", ".join("?" * (len(_COLUMNS) + 1))
                connection.execute(
                    f"INSERT INTO activity({', '.join(_COLUMNS)}, notes)"
                    f" VALUES ({marks})",
                    (number, *fields, self._state.notes),
                )
                if number % _PRUNE_EVERY == 0 or number == at_ms << ID_BITS:
                    self._prune(connection, first_ms << ID_BITS)
            return number

        return self._state.run(insert, PROMISE_WAIT_MS)

    def newest(self, since: int = 0) -> Iterator[ActivityRow]:
        """Return the rows with an id of at least *since*, newest first."""
        sql = f"{_SELECT} AND id >= ? ORDER BY id DESC"
        return iter(self._read(sql, (since,)))

    def find(self, number: int) -> ActivityRow | None:
        """Return a row by its id."""
        return next(iter(self._read(f"{_SELECT} AND id = ?", (number,))), None)

    def count(self) -> int:
        """Return how many rows there are."""
        sql = "SELECT count(*) FROM activity WHERE notes = ?"
        if not is_there(self._state.path):
            return 0
        return self._state.run(
            lambda connection: select_int(connection, sql, self._state.notes),
            PROMISE_WAIT_MS,
        )

    def drop(self, numbers: Sequence[int]) -> None:
        """Delete rows by their ids."""

        def delete(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                connection.executemany(
                    "DELETE FROM activity WHERE id = ? AND notes = ?",
                    [(number, self._state.notes) for number in numbers],
                )

        if numbers:
            self._state.run(delete, PROMISE_WAIT_MS)

    def rename_scope(self, new_name: Callable[[str], str]) -> None:
        """Give the rows of a renamed scope its new name."""

        def rename(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                rows = connection.execute(
                    "SELECT DISTINCT project FROM activity WHERE notes = ?",
                    (self._state.notes,),
                ).fetchall()
                connection.executemany(
                    "UPDATE activity SET project = ? WHERE project = ? AND notes = ?",
                    [
                        (new_name(str(old)), old, self._state.notes)
                        for (old,) in rows
                        if new_name(str(old)) != old
                    ],
                )

        self._state.run(rename, PROMISE_WAIT_MS)

    def _prune(self, connection: apsw.Connection, first: int) -> None:
        """Delete what is too old, and the oldest of what is too much."""
        connection.execute(
            "DELETE FROM activity WHERE notes = ?1 AND (id < ?2 OR id <= (SELECT id"
            " FROM activity WHERE notes = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?3))",
            (self._state.notes, first, MAX_ROWS),
        )

    def _read(self, sql: str, values: tuple[object, ...]) -> list[ActivityRow]:
        """Return the rows that a query selects."""
        if not is_there(self._state.path):
            return []

        def read(connection: apsw.Connection) -> list[ActivityRow]:
            rows = connection.execute(sql, (self._state.notes, *values))
            return [
                ActivityRow(
                    id=int(str(row[0])),
                    **dict(zip(_COLUMNS[1:], map(str, row[1:]), strict=True)),
                )
                for row in rows
            ]

        return self._state.run(read, PROMISE_WAIT_MS)
