"""Keys with values and versions, a table of ``state.db``.

For what a program keeps between its runs: counters, cursors, who works on what. It is
no knowledge: nothing here is searched or injected. Each write is one transaction that
is on the disk when it returns, and gives its key a version that it never had before: a
deleted or expired key keeps its counter, so a stale writer cannot win.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.value import value
from hivemind_memory.sqlite.connection import select_int, synced_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from hivemind_memory.state.state_file import StateFile

MAX_KEYS = 10_000
"""Of one scope; and so many counters of keys that are gone are kept one by one."""

_LET_GO = MAX_KEYS // 10
"""So many counters of absent keys are let go at once, the oldest ones."""

_FLOOR = ""
"""The key under which a scope keeps the highest version of the counters let go."""

_COLUMNS = "key, value, version, expires_at, updated_at"


@value
class StoredValue:
    """A key with its value."""

    key: str
    text: str
    """The value, as JSON."""

    version: int
    expires_ms: int
    """When it is gone, in milliseconds since the epoch; 0: never."""

    updated_ms: int


@value
class WriteOutcome:
    """What became of a write; ``version`` is that of the key now, 0: it is absent."""

    is_written: bool
    version: int
    is_full: bool = False
    """The scope has as many keys as it may have."""


class KeyValueStore:
    """The keys of one notes folder. Threads may share it.

    Each method takes the time, in milliseconds since the epoch. What has expired by
    then is gone for good: a clock that is set back does not bring it back.
    """

    def __init__(self, state: StateFile, *, max_keys: int = MAX_KEYS) -> None:
        self._state = state
        self._max_keys = max_keys

    def get(self, scope: str, key: str, now_ms: int) -> StoredValue | None:
        """Return a key with its value; None: there is none.

        Raises:
            StateUnusableError: It cannot be read now.
        """
        found = self._read(scope, "AND key = ?", (key,), now_ms=now_ms)
        return found[0] if found else None

    def all(self, scope: str, now_ms: int) -> list[StoredValue]:
        """Return all keys of a scope with their values, by key.

        Raises:
            StateUnusableError: They cannot be read now.
        """
        return self._read(scope, "", (), now_ms=now_ms)

    def set(
        self,
        scope: str,
        key: str,
        text: str,
        *,
        now_ms: int,
        expires_ms: int = 0,
        if_version: int | None = None,
    ) -> WriteOutcome:
        """Give a key a value, if it has a certain version; the disk has it then.

        Args:
            scope: Whose key it is.
            key: Not empty.
            text: The value, as JSON.
            now_ms: The time.
            expires_ms: When it is gone; 0: never.
            if_version: The version that it must have, 0: it must be absent. None: any.

        Raises:
            StateUnusableError: Nothing was written.
        """
        name = (self._state.notes, scope, key)

        def put(connection: apsw.Connection) -> WriteOutcome:
            with synced_transaction(connection):
                _sweep(connection, now_ms)
                row = connection.execute(
                    "SELECT version, value IS NOT NULL FROM key_values"
                    " WHERE notes = ? AND scope = ? AND key = ?",
                    name,
                ).fetchone()
                counter, is_live = (int(row[0]), bool(row[1])) if row else (0, False)
                current = counter if is_live else 0
                if if_version is not None and if_version != current:
                    return WriteOutcome(is_written=False, version=current)
                if not is_live and self._is_full(connection, scope):
                    return WriteOutcome(is_written=False, version=0, is_full=True)
                floor = 0 if row else self._floor(connection, scope)
                version = max(counter, floor) + 1
                connection.execute(
                    "INSERT INTO key_values(notes, scope, key, value, version,"
                    " expires_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET value = excluded.value,"
                    " version = excluded.version, expires_at = excluded.expires_at,"
                    " updated_at = excluded.updated_at",
                    (*name, text, version, expires_ms, now_ms),
                )
            return WriteOutcome(is_written=True, version=version)

        return self._state.run(put, PROMISE_WAIT_MS)

    def delete(self, scope: str, key: str, now_ms: int) -> bool:
        """Delete a key; return whether there was one. Its counter stays.

        Raises:
            StateUnusableError: It was not deleted.
        """
        if not is_there(self._state.path):
            return False

        def remove(connection: apsw.Connection) -> bool:
            with synced_transaction(connection):
                _sweep(connection, now_ms)
                connection.execute(
                    "UPDATE key_values SET value = NULL, expires_at = 0, updated_at = ?"
                    " WHERE notes = ? AND scope = ? AND key = ? AND value IS NOT NULL",
                    (now_ms, self._state.notes, scope, key),
                )
                is_gone = bool(connection.changes())
                self._let_go(connection, scope)
            return is_gone

        return self._state.run(remove, PROMISE_WAIT_MS)

    def count_holding(self, texts: list[str], is_meant: Callable[[str], bool]) -> int:
        """Return how many values or keys hold one of some texts.

        Args:
            texts: As they are, and as JSON writes them.
            is_meant: Whether a scope counts.

        Raises:
            StateUnusableError: They cannot be read now.
        """
        return len(self._holding(texts, is_meant))

    def delete_holding(self, texts: list[str], is_meant: Callable[[str], bool]) -> int:
        """Delete the values that hold one of some texts; return how many.

        Of a key that holds one, the counter goes into that of its scope.

        Raises:
            StateUnusableError: None was deleted.
        """
        names = self._holding(texts, is_meant)
        notes = self._state.notes

        def remove(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                for scope, key in names:
                    whose = "WHERE notes = ? AND scope = ? AND key = ?"
                    name = (notes, scope, key)
                    connection.execute(
                        f"UPDATE key_values SET value = NULL, expires_at = 0 {whose}",
                        name,
                    )
                    if any(text in key for text in texts):
                        sql = f"SELECT version FROM key_values {whose}"
                        version = select_int(connection, sql, *name)
                        floor = max(version, self._floor(connection, scope))
                        _set_floor(connection, notes, scope, floor)
                        connection.execute(f"DELETE FROM key_values {whose}", name)

        if names:
            self._state.run(remove, PROMISE_WAIT_MS)
        return len(names)

    def rename_scope(self, old: str, new: str, *, label: str) -> None:
        """Give the keys of a scope to another one, which loses none of its own.

        Args:
            old: The scope.
            new: The other.
            label: Added to a key that both have, to tell them apart.

        Raises:
            StateUnusableError: None was moved.
        """
        notes = self._state.notes

        def move(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                floor = max(self._floor(connection, scope) for scope in (old, new))
                if floor:
                    _set_floor(connection, notes, new, floor)
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM key_values"
                    " WHERE notes = ? AND scope = ? AND key != ''",
                    (notes, old),
                ).fetchall()
                for row in rows:
                    _move(connection, (notes, new), row, label)
                connection.execute(
                    "DELETE FROM key_values WHERE notes = ? AND scope = ?", (notes, old)
                )

        if old != new:
            self._state.run(move, PROMISE_WAIT_MS)

    # -- inside ----------------------------------------------------------------

    def _read(
        self, scope: str, condition: str, values: tuple[str, ...], *, now_ms: int
    ) -> list[StoredValue]:
        """Return the keys of a scope that meet a condition."""
        if not is_there(self._state.path):
            return []
        sql = (
            f"SELECT {_COLUMNS} FROM key_values WHERE notes = ? AND scope = ?"
            f" {condition} AND value IS NOT NULL ORDER BY key"
        )

        def read(connection: apsw.Connection) -> list[StoredValue]:
            rows = connection.execute(sql, (self._state.notes, scope, *values))
            found = [_value_of(row) for row in rows]
            live = [row for row in found if not 0 < row.expires_ms <= now_ms]
            if len(live) < len(found):
                with synced_transaction(connection):
                    _sweep(connection, now_ms)
            return live

        return self._state.run(read, PROMISE_WAIT_MS)

    def _holding(
        self, texts: list[str], is_meant: Callable[[str], bool]
    ) -> list[tuple[str, str]]:
        """Return scope and key of the rows that hold one of some texts."""
        if not texts or not is_there(self._state.path):
            return []

        def read(connection: apsw.Connection) -> list[tuple[str, str]]:
            rows = connection.execute(
                "SELECT scope, key, coalesce(value, '') FROM key_values"
                " WHERE notes = ? AND key != '' ORDER BY scope, key",
                (self._state.notes,),
            )
            return [
                (str(scope), str(key))
                for scope, key, text in rows
                if any(part in f"{key}\n{text}" for part in texts)
                and is_meant(str(scope))
            ]

        return self._state.run(read, PROMISE_WAIT_MS)

    def _is_full(self, connection: apsw.Connection, scope: str) -> bool:
        """Return whether a scope has as many keys as it may have."""
        count = select_int(
            connection,
            "SELECT count(*) FROM key_values"
            " WHERE notes = ? AND scope = ? AND value IS NOT NULL",
            self._state.notes,
            scope,
        )
        return count >= self._max_keys

    def _floor(self, connection: apsw.Connection, scope: str) -> int:
        """Return the highest version of the counters of a scope that were let go."""
        return select_int(
            connection,
            "SELECT version FROM key_values WHERE notes = ? AND scope = ? AND key = ''",
            self._state.notes,
            scope,
        )

    def _let_go(self, connection: apsw.Connection, scope: str) -> None:
        """Keep one counter in place of many, if a scope has very many absent keys.

        The next version of any of them is above that one, so none is used twice.
        """
        gone = "notes = ? AND scope = ? AND key != '' AND value IS NULL"
        whose = (self._state.notes, scope)
        count = select_int(
            connection, f"SELECT count(*) FROM key_values WHERE {gone}", *whose
        )
        if count <= self._max_keys:
            return
        oldest = connection.execute(
            f"SELECT rowid, version FROM key_values WHERE {gone}"
            " ORDER BY updated_at, key LIMIT ?",
            (*whose, count - self._max_keys + _LET_GO),
        ).fetchall()
        floor = max(int(str(version)) for _, version in oldest)
        floor = max(floor, self._floor(connection, scope))
        _set_floor(connection, *whose, floor)
        connection.executemany(
            "DELETE FROM key_values WHERE rowid = ?", [(row,) for row, _ in oldest]
        )


def _sweep(connection: apsw.Connection, now_ms: int) -> None:
    """Delete the values that have expired, of all scopes; their counters stay."""
    connection.execute(
        "UPDATE key_values SET value = NULL, expires_at = 0"
        " WHERE expires_at > 0 AND expires_at <= ? AND value IS NOT NULL",
        (now_ms,),
    )


def _set_floor(
    connection: apsw.Connection, notes: str, scope: str, version: int
) -> None:
    """Remember the highest version of the counters of a scope that were let go."""
    connection.execute(
        "INSERT INTO key_values(notes, scope, key, value, version, expires_at,"
        " updated_at) VALUES (?, ?, ?, NULL, ?, 0, 0)"
        " ON CONFLICT DO UPDATE SET version = excluded.version",
        (notes, scope, _FLOOR, version),
    )


def _move(
    connection: apsw.Connection,
    target: tuple[str, str],
    row: tuple[apsw.SQLiteValue, ...],
    label: str,
) -> None:
    """Give a row to a scope; where the key is taken there, under another key."""
    key, text, version, expires, updated = row
    there = connection.execute(
        "SELECT version, value IS NOT NULL FROM key_values"
        " WHERE notes = ? AND scope = ? AND key = ?",
        (*target, key),
    ).fetchone()
    if there and there[1]:
        if text is None:
            return
        suffix = f" ({label})"
        key = f"{str(key)[: 256 - len(suffix)]}{suffix}"
    # Where there was such a key, the value is new to it: the version is new, too.
    connection.execute(
        "INSERT INTO key_values(notes, scope, key, value, version, expires_at,"
        " updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET value = excluded.value,"
        " version = max(version, excluded.version) + 1,"
        " expires_at = excluded.expires_at, updated_at = excluded.updated_at",
        (*target, key, text, version, expires, updated),
    )


def _value_of(row: tuple[apsw.SQLiteValue, ...]) -> StoredValue:
    """Return the key and value of a row."""
    key, text, version, expires, updated = row
    return StoredValue(
        key=str(key),
        text=str(text),
        version=int(str(version)),
        expires_ms=int(str(expires)),
        updated_ms=int(str(updated)),
    )
