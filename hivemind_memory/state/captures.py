"""How far the sessions of agents were captured, a table of ``state.db``.

A row names a session and a line; it holds no text. It is what keeps a session that is
captured again from being proposed again.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw

    from hivemind_memory.state.state_file import StateFile


class Captures:
    """The captured sessions of one notes folder.

    Any method may raise ``StateUnusableError``.
    """

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def line_of(self, agent: str, session: str) -> int:
        """Return the line up to which a session was captured; 0: it never was."""
        if not is_there(self._state.path):
            return 0
        sql = "SELECT line FROM captures WHERE notes = ? AND agent = ? AND session = ?"

        def read(connection: apsw.Connection) -> int:
            key = (self._state.notes, agent, session)
            rows = connection.execute(sql, key).fetchall()
            return int(str(rows[0][0])) if rows else 0

        return self._state.run(read, PROMISE_WAIT_MS)

    def keep_line(self, agent: str, session: str, line: int, *, now_s: float) -> None:
        """Remember up to which line a session was captured; never an earlier one."""
        sql = (
            "INSERT INTO captures(notes, agent, session, line, is_reminded, at)"
            " VALUES (?, ?, ?, ?, 0, ?) ON CONFLICT DO UPDATE"
            " SET line = max(line, excluded.line), at = excluded.at"
        )
        self._change(sql, (self._state.notes, agent, session, line, now_s))

    def take_reminder(self, agent: str, session: str, *, now_s: float) -> bool:
        """Return True for the first call about a session, and False from then on."""
        sql = (
            "INSERT INTO captures(notes, agent, session, line, is_reminded, at)"
            " VALUES (?, ?, ?, 0, 1, ?) ON CONFLICT DO UPDATE"
            " SET is_reminded = 1 WHERE is_reminded = 0"
        )
        return bool(self._change(sql, (self._state.notes, agent, session, now_s)))

    def is_reminded(self, agent: str, session: str) -> bool:
        """Return whether ``take_reminder`` was called for a session."""
        if not is_there(self._state.path):
            return False
        sql = (
            "SELECT 1 FROM captures WHERE notes = ? AND agent = ? AND session = ?"
            " AND is_reminded = 1"
        )

        def read(connection: apsw.Connection) -> bool:
            key = (self._state.notes, agent, session)
            return bool(connection.execute(sql, key).fetchall())

        return self._state.run(read, PROMISE_WAIT_MS)

    def read_sessions(self) -> tuple[int, float]:
        """Return how many sessions were captured, and when the last one was.

        Returns:
            Their number; seconds since 1970, 0 if there are none.
        """
        if not is_there(self._state.path):
            return 0, 0.0
        sql = "SELECT count(*), max(at) FROM captures WHERE notes = ? AND line > 0"

        def read(connection: apsw.Connection) -> tuple[int, float]:
            [(count, last)] = connection.execute(sql, (self._state.notes,))
            return int(str(count)), float(str(last or 0))

        return self._state.run(read, PROMISE_WAIT_MS)

    def count(self, sessions: Collection[str]) -> int:
        """Return how many rows name some sessions."""
        if not sessions or not is_there(self._state.path):
            return 0
        sql = "SELECT session FROM captures WHERE notes = ?"

        def read(connection: apsw.Connection) -> int:
            rows = connection.execute(sql, (self._state.notes,))
            return sum(str(session) in sessions for (session,) in rows)

        return self._state.run(read, PROMISE_WAIT_MS)

    def drop(self, sessions: Collection[str]) -> int:
        """Delete the rows that name some sessions; return how many."""
        if not self.count(sessions):
            return 0
        sql = "DELETE FROM captures WHERE notes = ? AND session = ?"
        return sum(self._change(sql, (self._state.notes, each)) for each in sessions)

    def _change(self, sql: str, values: tuple[object, ...]) -> int:
        """Run a statement that changes rows; return how many it changed."""

        def change(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                connection.execute(sql, values)
                return connection.changes()

        return self._state.run(change, PROMISE_WAIT_MS)
