"""What came of using memories, a table of ``state.db``.

A use belongs to the id of a version in a scope of a notes folder. A session counts once
for each outcome, whichever process records it. It holds no text.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.uses import Use
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import apsw

    from hivemind_memory.state.state_file import StateFile

_COLUMNS = "ref, scope, session, outcome, at"


class UseLog:
    """The uses of the memories of one notes folder. Threads may share it.

    Every method may raise a ``StateUnusableError``: nothing was changed then.
    """

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def record(self, use: Use) -> bool:
        """Record a use; return whether it is the first of its session and outcome."""
        values = (use.ref, use.scope, use.session, use.outcome, use.at_s)

        def add(connection: apsw.Connection) -> bool:
            before = connection.total_changes()
            with write_transaction(connection):
                connection.execute(
                    f"INSERT INTO uses({_COLUMNS}, notes) VALUES (?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO NOTHING",
                    (*values, self._state.notes),
                )
            return connection.total_changes() > before

        return self._state.run(add, PROMISE_WAIT_MS)

    def all(self) -> list[Use]:
        """Return all uses, the oldest first. To look makes no file."""
        if not is_there(self._state.path):
            return []
        sql = f"SELECT {_COLUMNS} FROM uses WHERE notes = ? ORDER BY at"
        rows = self._state.run(
            lambda c: c.execute(sql, (self._state.notes,)).fetchall(), PROMISE_WAIT_MS
        )
        return [
            Use(
                ref=str(ref),
                scope=str(scope),
                session=str(session),
                outcome=str(outcome),
                at_s=int(str(at)),
            )
            for ref, scope, session, outcome, at in rows
        ]

    def of(self, scope: str, refs: Collection[str]) -> list[Use]:
        """Return the uses of some versions in a scope, the oldest first."""
        wanted = set(refs)
        return [use for use in self.all() if use.scope == scope and use.ref in wanted]

    def drop(self, is_gone: Callable[[str, str], bool]) -> int:
        """Forget the uses of what is gone; return how many. *is_gone* as ``count``."""
        gone = {
            (use.ref, use.scope) for use in self.all() if is_gone(use.scope, use.ref)
        }
        sql = "DELETE FROM uses WHERE ref = ? AND scope = ? AND notes = ?"

        def delete(connection: apsw.Connection) -> int:
            before = connection.total_changes()
            with write_transaction(connection):
                connection.executemany(
                    sql, [(ref, scope, self._state.notes) for ref, scope in gone]
                )
            return connection.total_changes() - before

        return self._state.run(delete, PROMISE_WAIT_MS) if gone else 0

    def count(self, is_gone: Callable[[str, str], bool]) -> int:
        """Return how many uses ``drop`` would forget; *is_gone* takes scope and id."""
        return sum(is_gone(use.scope, use.ref) for use in self.all())

    def rename_scope(self, new_name: Callable[[str], str]) -> None:
        """Give the uses in a renamed scope its new name."""
        moved = {
            use.scope: new
            for use in self.all()
            if (new := new_name(use.scope)) != use.scope
        }

        def rename(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                for old, new in moved.items():
                    values = (new, self._state.notes, old)
                    connection.execute(
                        "UPDATE OR REPLACE uses SET scope = ?"
                        " WHERE notes = ? AND scope = ?",
                        values,
                    )

        if moved:
            self._state.run(rename, PROMISE_WAIT_MS)
