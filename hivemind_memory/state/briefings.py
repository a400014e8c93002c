"""Briefings that the language model wrote, two tables of ``state.db``.

One for each scope at most, with a keyed hash of what the model was told of each memory.
A briefing goes, in the transaction of the change, as soon as one of its memories is
forgotten, superseded or purged.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.value import value
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw

    from hivemind_memory.state.state_file import StateFile

_DELETE = (
    "DELETE FROM briefings WHERE notes = ? AND scope = ?",
    "DELETE FROM briefing_sources WHERE notes = ? AND scope = ?",
)

_PURGES = "briefing_purges"
"""Key of ``meta``."""

_COUNT_PURGE = (
    "INSERT INTO meta(key, value) VALUES (?, 1)"
    " ON CONFLICT (key) DO UPDATE SET value = value + 1"
)


@value
class WrittenBriefing:
    """What the model wrote of a scope."""

    scope: str
    body: str
    """Empty: it wrote nothing that can be shown."""

    model: str
    made_at: float
    """When its memories were read, in seconds since the epoch."""

    sources: tuple[tuple[str, bytes], ...]
    """Id of each memory that it was told of, or the path of its note, and the keyed
    hash of what it was told."""


class Briefings:
    """Those of one notes folder. Any method may raise ``StateUnusableError``."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def keep(self, briefing: WrittenBriefing, *, last_change: int, purges: int) -> bool:
        """Keep a briefing in the place of the earlier one of its scope.

        Args:
            briefing: The briefing.
            last_change: Number of the newest change when its memories were compared.
            purges: What ``count_purges`` returned before that.

        Returns:
            Whether it was kept; False: there is a newer change or purge.
        """
        notes, scope = self._state.notes, briefing.scope

        def write(connection: apsw.Connection) -> bool:
            with write_transaction(connection):
                newest = "SELECT coalesce(max(number), 0) FROM changes"
                if int(str(connection.execute(newest).fetchall()[0][0])) > last_change:
                    return False
                if _count_purges(connection) != purges:
                    return False
                _delete(connection, notes, [scope])
                connection.execute(
                    "INSERT INTO briefings(notes, scope, body, model, made_at)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (notes, scope, briefing.body, briefing.model, briefing.made_at),
                )
                connection.executemany(
                    "INSERT INTO briefing_sources(notes, scope, place, ref, hash)"
                    " VALUES (?, ?, ?, ?, ?)",
                    [
                        (notes, scope, place, ref, digest)
                        for place, (ref, digest) in enumerate(briefing.sources)
                    ],
                )
                return True

        return self._state.run(write, PROMISE_WAIT_MS)

    def find(self, scope: str) -> WrittenBriefing | None:
        """Return the briefing of a scope; None: there is none."""
        if not is_there(self._state.path):
            return None
        bindings = (self._state.notes, scope)

        def read(connection: apsw.Connection) -> WrittenBriefing | None:
            rows = connection.execute(
                "SELECT body, model, made_at FROM briefings"
                " WHERE notes = ? AND scope = ?",
                bindings,
            ).fetchall()
            if not rows:
                return None
            sources = connection.execute(
                "SELECT ref, hash FROM briefing_sources WHERE notes = ? AND scope = ?"
                " ORDER BY place",
                bindings,
            )
            body, model, made_at = rows[0]
            return WrittenBriefing(
                scope=scope,
                body=str(body),
                model=str(model),
                made_at=float(str(made_at)),
                sources=tuple((str(ref), bytes(digest)) for ref, digest in sources),
            )

        return self._state.run(read, PROMISE_WAIT_MS)

    def made_at(self) -> dict[str, float]:
        """Return when the briefing of each scope was made."""
        if not is_there(self._state.path):
            return {}
        sql = "SELECT scope, made_at FROM briefings WHERE notes = ?"

        def read(connection: apsw.Connection) -> dict[str, float]:
            rows = connection.execute(sql, (self._state.notes,))
            return {str(scope): float(str(made_at)) for scope, made_at in rows}

        return self._state.run(read, PROMISE_WAIT_MS)

    def count_purges(self) -> int:
        """Return how often ``drop`` was called: the log of changes has no purge."""
        if not is_there(self._state.path):
            return 0
        return self._state.run(_count_purges, PROMISE_WAIT_MS)

    def count(self, refs: Collection[str]) -> int:
        """Return how many briefings were made from one of some memories."""
        if not is_there(self._state.path):
            return 0
        notes = self._state.notes
        return self._state.run(
            lambda connection: len(_scopes_of(connection, notes, refs)), PROMISE_WAIT_MS
        )

    def bodies(self, refs: Collection[str]) -> set[str]:
        """Return the texts of the briefings that were made from some memories."""
        if not is_there(self._state.path):
            return set()
        notes = self._state.notes
        scopes = self._state.run(
            lambda connection: _scopes_of(connection, notes, refs), PROMISE_WAIT_MS
        )
        found = map(self.find, scopes)
        return {written.body for written in found if written is not None}

    def drop(self, refs: Collection[str]) -> int:
        """Delete the briefings that were made from one of some memories, for a purge.

        Whatever ``keep`` has compared before is not kept any more.

        Args:
            refs: Ids and paths.

        Returns:
            How many there were.
        """
        if not is_there(self._state.path):
            return 0
        notes = self._state.notes

        def delete(connection: apsw.Connection) -> int:
            with write_transaction(connection):
                connection.execute(_COUNT_PURGE, (_PURGES,))
                return drop_made_from(connection, notes, refs)

        return self._state.run(delete, PROMISE_WAIT_MS)

    def drop_scope(self, scope: str) -> None:
        """Delete the briefing of a scope."""
        if not is_there(self._state.path):
            return
        notes = self._state.notes

        def delete(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                _delete(connection, notes, [scope])

        self._state.run(delete, PROMISE_WAIT_MS)


def drop_made_from(connection: apsw.Connection, notes: str, refs: Iterable[str]) -> int:
    """Delete briefings as ``drop`` does, in the transaction of the caller."""
    scopes = _scopes_of(connection, notes, refs)
    _delete(connection, notes, scopes)
    return len(scopes)


def _scopes_of(
    connection: apsw.Connection, notes: str, refs: Iterable[str]
) -> list[str]:
    """Return the scopes whose briefing was made from one of some memories.

    A note without an id may have had another path: then it was made from any such note
    of the scope.
    """
    sql = "SELECT scope FROM briefing_sources WHERE notes = ? AND ref = ?"
    by_path = (
        "SELECT scope FROM briefing_sources WHERE notes = ? AND scope = ?"
        " AND ref LIKE '%.%'"
    )
    found: dict[str, None] = {}
    for ref in refs:
        rows = [*connection.execute(sql, (notes, ref))]
        if "." in ref:  # no id has one
            rows += connection.execute(by_path, (notes, scope_of(ref)))
        found |= dict.fromkeys(str(scope) for (scope,) in rows)
    return [*found]


def _count_purges(connection: apsw.Connection) -> int:
    """Return how many purges there were."""
    sql = "SELECT value FROM meta WHERE key = ?"
    rows = connection.execute(sql, (_PURGES,)).fetchall()
    return int(str(rows[0][0])) if rows else 0


def _delete(connection: apsw.Connection, notes: str, scopes: Iterable[str]) -> None:
    """Delete the briefings of some scopes."""
    for scope in scopes:
        for sql in _DELETE:
            connection.execute(sql, (notes, scope))
