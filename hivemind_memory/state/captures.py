"""How far the sessions of agents were captured, a table of ``state.db``.

A row names a session and a line; it holds no text. It is what keeps a session that is
captured again from being proposed again. What a model has proposed is kept in a table
of its own until notes say it: whoever captures the session after a crash finishes
that, and does not ask again.
"""

from __future__ import annotations

import os
from functools import partial
from typing import NamedTuple

from hivemind_memory.errors import NotSavedError
from hivemind_memory.files.descriptors import is_there
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.sqlite.connection import synced_transaction, write_transaction
from hivemind_memory.state.erased_messages import is_erased_session
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from contextlib import AbstractContextManager

    import apsw

    from hivemind_memory.state.state_file import StateFile


_KEEP_LINE = (
    "INSERT INTO captures(notes, agent, session, line, is_reminded, at)"
    " VALUES (?, ?, ?, ?, 0, ?) ON CONFLICT DO UPDATE"
    " SET line = max(line, excluded.line), at = excluded.at"
)
_OF_SESSION = "WHERE notes = ? AND agent = ? AND session = ?"


def capture_lock(locks: str, effect: str) -> AbstractContextManager[None]:
    """Let no other process write proposals, or choose what a purge removes, meanwhile.

    Either a capture sees that its session was purged, or the purge sees what it wrote.

    Args:
        locks: Folder of the locks.
        effect: What is not done if the lock is not free, for the error.

    Raises:
        NotSavedError: It has not been free for 10 s.
    """
    return exclusive(
        os.path.join(locks, "capture.lock"),
        wait_s=LOCK_WAIT_S,
        refused=partial(_refused, effect=effect),
    )


def _refused(why: str, hint: str, effect: str) -> NotSavedError:
    return NotSavedError(why, hint=hint, effect=effect)


class KeptDraft(NamedTuple):
    """What a model proposed for a session, as far as no note says it yet."""

    line: int
    """Of the transcript, up to which the model read."""

    proposals: tuple[str, ...]
    """Each as the caller of ``keep_draft`` wrote it."""


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
        """Remember up to which line a session was captured; never an earlier one.

        Its draft goes in the same transaction. Of a purged session nothing is kept.
        """
        key = (self._state.notes, agent, session)

        def keep(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                connection.execute(f"DELETE FROM capture_drafts {_OF_SESSION}", key)
                if is_erased_session(connection, self._state.notes, session):
                    connection.execute(f"DELETE FROM captures {_OF_SESSION}", key)
                else:
                    connection.execute(_KEEP_LINE, (*key, line, now_s))

        self._state.run(keep, PROMISE_WAIT_MS)

    def keep_draft(
        self, agent: str, session: str, line: int, proposals: Sequence[str]
    ) -> None:
        """Keep what a model proposed, in the place of what was kept of the session.

        Of a purged session nothing is kept.
        """
        key = (self._state.notes, agent, session)

        def keep(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                connection.execute(f"DELETE FROM capture_drafts {_OF_SESSION}", key)
                if is_erased_session(connection, self._state.notes, session):
                    return
                connection.executemany(
                    "INSERT INTO capture_drafts"
                    "(notes, agent, session, place, line, proposal)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    [(*key, *row) for row in _numbered(line, proposals)],
                )

        self._state.run(keep, PROMISE_WAIT_MS)

    def find_draft(self, agent: str, session: str) -> KeptDraft | None:
        """Return what was kept of a session and is not finished; None: nothing."""
        if not is_there(self._state.path):
            return None
        sql = f"SELECT line, proposal FROM capture_drafts {_OF_SESSION} ORDER BY place"

        def read(connection: apsw.Connection) -> KeptDraft | None:
            rows = connection.execute(sql, (self._state.notes, agent, session))
            found = [(int(str(line)), str(proposal)) for line, proposal in rows]
            texts = tuple(proposal for _, proposal in found)
            return KeptDraft(found[0][0], texts) if found else None

        return self._state.run(read, PROMISE_WAIT_MS)

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

    def count(self, sessions: Collection[str], texts: Collection[str] = ()) -> int:
        """Return how many rows name some sessions, or propose what holds a text."""
        if not (sessions or texts) or not is_there(self._state.path):
            return 0
        return self._state.run(
            lambda connection: len(self._rows_of(connection, sessions, texts)),
            PROMISE_WAIT_MS,
        )

    def drop(self, sessions: Collection[str], texts: Collection[str] = ()) -> int:
        """Delete the rows that ``count`` counts; return how many."""
        if not self.count(sessions, texts):
            return 0

        def delete(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                rows = self._rows_of(connection, sessions, texts)
                for table, values in rows:
                    where = _OF_SESSION + (" AND place = ?" if len(values) > 3 else "")
                    connection.execute(f"DELETE FROM {table} {where}", values)
                return len(rows)

        return self._state.run(delete, PROMISE_WAIT_MS)

    def _rows_of(
        self,
        connection: apsw.Connection,
        sessions: Collection[str],
        texts: Collection[str],
    ) -> list[tuple[str, tuple[str | int, ...]]]:
        """Return the table and the key of each row that ``count`` counts."""
        notes = self._state.notes
        found: list[tuple[str, tuple[str | int, ...]]] = []
        sql = "SELECT agent, session FROM captures WHERE notes = ?"
        for agent, session in connection.execute(sql, (notes,)):
            if session in sessions:
                found.append(("captures", (notes, str(agent), str(session))))
        sql = "SELECT agent, session, place, proposal FROM capture_drafts"
        for agent, session, place, proposal in connection.execute(
            f"{sql} WHERE notes = ?", (notes,)
        ):
            if session in sessions or any(text in str(proposal) for text in texts):
                key = (notes, str(agent), str(session), int(str(place)))
                found.append(("capture_drafts", key))
        return found

    def _change(self, sql: str, values: tuple[object, ...]) -> int:
        """Run a statement that changes rows; return how many it changed."""

        def change(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                connection.execute(sql, values)
                return connection.changes()

        return self._state.run(change, PROMISE_WAIT_MS)


def _numbered(line: int, proposals: Iterable[str]) -> Iterable[tuple[int, int, str]]:
    """Yield place, line and text of each proposal."""
    for place, proposal in enumerate(proposals):
        yield place, line, proposal
