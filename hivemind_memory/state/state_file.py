"""``state.db``: what no note can hold. This module keeps what was purged.

For the rest see ``recall_log``, ``change_log`` and ``injection_log``. Tombstones are a
promise: if they cannot be looked up, the call fails, and a power cut forgets neither
them nor a purge that was begun.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress

import apsw

from hivemind_memory.errors import StateTooNewError, StateUnusableError
from hivemind_memory.files.descriptors import FileIdentity, identity_at, is_there
from hivemind_memory.sqlite.connection import open_as_named, synced_transaction
from hivemind_memory.state.notes_folders import (
    EVERY_FOLDER,
    SCOPE_NAMES,
    scope_names_key,
)
from hivemind_memory.state.open import (
    COUNT_WAIT_MS,
    mark_purged,
    open_state,
    purged_mark,
    state_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from hivemind_memory.files.places import Places

    T = TypeVar("T")
    K = TypeVar("K", str, bytes)


PROMISE_WAIT_MS = 5_000

_AT_ONCE = 1_000
"""Values that one statement takes."""

_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, TypeError, ValueError)


class StateFile:
    """The state of one home. Opened when it is first asked.

    What belongs to another notes folder in the same home is neither seen nor changed.
    Tombstones and counters from before their folder was kept count in all. Threads may
    share it: one of them at a time has the connection. A counter does not wait for it
    longer than for another process.
    """

    def __init__(self, path: str, notes: str = "") -> None:
        """Open nothing yet.

        Args:
            path: The file.
            notes: What it calls the notes folder, see ``Places.state_name``.
        """
        self.path = path
        self.notes = notes
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._identity: FileIdentity | None = None

    @classmethod
    def at(cls, places: Places) -> StateFile:
        """Return the state as a notes folder of a home has it."""
        return cls(places.state_file, places.state_name)

    def close(self) -> None:
        """Close the file; nothing is lost when this is not called."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # -- what was purged: raises StateUnusableError --------------------------

    def add_tombstones(self, texts: Collection[str], scope: str = "") -> int:
        """Remember that texts were purged in a scope; return how many are new.

        Other scopes are not affected, so that no answer reveals what was purged there.
        """

        def add(connection: apsw.Connection) -> int:
            name = self._names_of(connection, scope)[0]
            hashes = [
                (_tombstone(connection, text, name), self.notes) for text in texts
            ]
            before = connection.total_changes()
            with synced_transaction(connection):
                connection.executemany(
                    "INSERT INTO tombstones(hash, notes) VALUES (?, ?)"
                    " ON CONFLICT DO NOTHING",
                    hashes,
                )
            return connection.total_changes() - before

        if not texts:
            return 0
        self.has_lost_tombstones()  # or the new ones would hide that
        with self._mark_lock():
            added = self.run(add, PROMISE_WAIT_MS)
            mark_purged(self.path)
        return added

    def has_tombstone(self, text: str, scope: str = "") -> bool:
        """Return whether a text was purged in a scope and must not be saved again."""
        if not is_there(self.path):
            return False  # nothing was purged in this home, and no file is made

        return self.run(lambda c: self.lists_purged(c, text, scope), PROMISE_WAIT_MS)

    def lists_purged(self, connection: apsw.Connection, text: str, scope: str) -> bool:
        """Return what ``has_tombstone`` does, for who holds a transaction."""
        sql = "SELECT 1 FROM tombstones WHERE notes IN (?, ?) AND hash IN ({})"
        wanted = self._tombstones(connection, text, scope)
        mine: tuple[object, ...] = (self.notes, EVERY_FOLDER)
        return any(
            connection.execute(sql.format(marks), (*mine, *some)).fetchone() is not None
            for some, marks in _steps(wanted)
        )

    def has_lost_tombstones(self) -> bool:
        """Return whether some were in a file that was damaged, emptied or deleted."""
        from hivemind_memory.state.damage import damaged_name, record_loss

        def is_lost() -> bool:
            return is_there(purged_mark(self.path)) and not self._has_tombstones()

        if is_lost():
            # A process may just be lifting the last one.
            with suppress(StateUnusableError), self._mark_lock():
                if is_lost():
                    record_loss(self.path)
        return is_there(damaged_name(self.path))

    def _has_tombstones(self) -> bool:
        """Return whether anything at all is listed as purged."""
        return (
            is_there(self.path)
            and self.run(
                lambda c: c.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone(),
                PROMISE_WAIT_MS,
            )
            is not None
        )

    def remove_tombstone(self, text: str, scope: str = "") -> None:
        """Allow a text to be saved again in a scope."""

        def lift(connection: apsw.Connection) -> None:
            found = [
                (tombstone, self.notes, EVERY_FOLDER)
                for tombstone in self._tombstones(connection, text, scope)
            ]
            with synced_transaction(connection):
                connection.executemany(
                    "DELETE FROM tombstones WHERE hash = ? AND notes IN (?, ?)", found
                )

        with self._mark_lock():
            self.run(lift, PROMISE_WAIT_MS)
            if is_there(purged_mark(self.path)) and not self._has_tombstones():
                with suppress(OSError):
                    os.unlink(purged_mark(self.path))

    def _mark_lock(self) -> AbstractContextManager[None]:
        """Be the only one who changes the tombstones and the mark that there are any.

        Without it, a mark could go with the tombstones of another process, or a
        tombstone that is lifted be taken for a lost one.
        """
        from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive

        return exclusive(
            f"{purged_mark(self.path)}.lock",
            wait_s=LOCK_WAIT_S,
            refused=lambda why, hint: StateUnusableError(why, hint=hint),
        )

    def rename_scope(self, old: str, new: str) -> None:
        """Let the tombstones of a scope count in its new name, and there only."""

        def rename(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                names = self._scope_names(connection)
                names[new] = list(
                    dict.fromkeys((*names.get(new, [new]), *names.get(old, [old])))
                )
                # A scope that gets the old name later has none of them.
                names[old] = [f"{old}\0{os.urandom(8).hex()}"]
                connection.execute(
                    "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)",
                    (scope_names_key(self.notes), json.dumps(names)),
                )

        self.run(rename, PROMISE_WAIT_MS)

    def hash_of(self, text: str) -> bytes:
        """Return the keyed hash of a text, 32 bytes."""
        return self.run(lambda c: _hash(c, text), PROMISE_WAIT_MS)

    def begin(self, what: str | bytes, work: str) -> None:
        """Remember what a purge has to do, until ``finish`` says that it is done.

        Args:
            what: What is purged, or the hash of that.
            work: What is left to do.
        """

        def put(connection: apsw.Connection) -> None:
            name = what if isinstance(what, bytes) else _hash(connection, what)
            with synced_transaction(connection):
                connection.execute(
                    """
                    INSERT INTO unfinished(hash, notes, work) VALUES (?, ?, ?)
                    ON CONFLICT (hash, notes) DO UPDATE SET work = excluded.work
                    """,
                    (name, self.notes, work),
                )

        self.run(put, PROMISE_WAIT_MS)

    def unfinished(self) -> Mapping[bytes, str]:
        """Return hash of the purged selection -> what remains to be done."""
        if not is_there(self.path):
            return {}
        sql = "SELECT hash, work FROM unfinished WHERE notes = ?"
        return self.run(lambda c: dict(c.execute(sql, (self.notes,))), PROMISE_WAIT_MS)

    def rewrite_unfinished(self, change: Callable[[str], str]) -> None:
        """Replace the rest of each purge by what *change* returns."""

        def rewrite(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                rows = connection.execute(
                    "SELECT hash, work FROM unfinished WHERE notes = ?", (self.notes,)
                ).fetchall()
                connection.executemany(
                    "UPDATE unfinished SET work = ? WHERE hash = ? AND notes = ?",
                    [(change(str(work)), hash_, self.notes) for hash_, work in rows],
                )

        self.run(rewrite, PROMISE_WAIT_MS)

    def finish(self, hashes: Collection[bytes]) -> None:
        """Forget work that is done."""
        values = [(hash_, self.notes) for hash_ in hashes]
        sql = "DELETE FROM unfinished WHERE hash = ? AND notes = ?"

        def delete(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                connection.executemany(sql, values)

        if values:
            self.run(delete, PROMISE_WAIT_MS)

    def vacuum(self) -> bool:
        """Erase what was deleted; return False if another process reads the file."""

        def clean(connection: apsw.Connection) -> bool:
            connection.execute("VACUUM")
            busy, _, _ = connection.execute(
                "PRAGMA wal_checkpoint(TRUNCATE)"
            ).fetchone() or (1, 0, 0)
            return not busy

        return not is_there(self.path) or self.run(clean, PROMISE_WAIT_MS)

    # -- for the other stores of the file --------------------------------------

    def why_too_new(self) -> str:
        """Return that a newer version made the file, and what to do; else nothing."""
        try:
            if is_there(self.path):
                self.run(lambda _: None)
        except StateTooNewError as error:
            without = "recalls are not counted, and no change can be undone"
            return f"{error}: {without}; {error.hint}"
        except StateUnusableError:
            return ""  # it may be busy; `hm doctor` says more
        return ""

    def run(
        self, work: Callable[[apsw.Connection], T], wait_ms: int = COUNT_WAIT_MS
    ) -> T:
        """Return what *work* returns for the open file; a damaged one is replaced once.

        Raises:
            StateUnusableError: It cannot be used, and why.
        """
        if not self._lock.acquire(timeout=wait_ms / 1000):
            message = f"another thread keeps {self.path} busy"
            raise StateUnusableError(message, hint="try again")
        try:
            try:
                return work(self._opened(wait_ms))
            except _DAMAGE:
                self.close()
                from hivemind_memory.state.damage import set_aside

                if not set_aside(self.path):
                    raise
                return work(self._opened(wait_ms))
        except (apsw.Error, OSError, TypeError, ValueError) as error:
            self.close()
            raise state_error(self.path, error) from error
        finally:
            self._lock.release()

    # -- inside ----------------------------------------------------------------

    def _tombstones(
        self, connection: apsw.Connection, text: str, scope: str
    ) -> list[bytes]:
        """Return the hashes of a text: in a scope, and without, of earlier versions."""
        names = (*self._names_of(connection, scope), None)
        return [_tombstone(connection, text, name) for name in names]

    def _names_of(self, connection: apsw.Connection, scope: str) -> list[str]:
        """Return the names under which the tombstones of a scope were made."""
        return self._scope_names(connection).get(scope, [scope])

    def _scope_names(self, connection: apsw.Connection) -> dict[str, list[str]]:
        """Return the names of scopes that were renamed, or that took such a name.

        A notes folder begins with those that earlier versions kept for all.
        """
        sql = "SELECT value FROM meta WHERE key = ?"
        for key in (scope_names_key(self.notes), SCOPE_NAMES):
            row = connection.execute(sql, (key,)).fetchone()
            if row:
                found: dict[str, list[str]] = json.loads(str(row[0]))
                return found
        return {}

    def _opened(self, wait_ms: int) -> apsw.Connection:
        """Return the open file, reopened if the path now names another one."""
        if self._connection is not None and identity_at(self.path) != self._identity:
            self.close()
        if self._connection is None:
            self._connection, self._identity = open_as_named(
                self.path, lambda path: open_state(path, wait_ms=wait_ms)
            )
        self._connection.set_busy_timeout(wait_ms)
        return self._connection


def _steps(refs: Collection[K]) -> Iterator[tuple[list[K], str]]:
    """Yield some names at a time, with as many marks."""
    ordered = sorted(refs)
    for at in range(0, len(ordered), _AT_ONCE):
        some = ordered[at : at + _AT_ONCE]
        yield some, ",".join("?" * len(some))


def _hash(connection: apsw.Connection, text: str) -> bytes:
    """Return the keyed hash of a text."""
    return _tombstone(connection, text, None)


def _tombstone(connection: apsw.Connection, text: str, scope: str | None) -> bytes:
    """Return the keyed hash of a text in a scope."""
    from hivemind_memory.notes.tombstones import tombstone_of

    [(key,)] = connection.execute("SELECT value FROM meta WHERE key = 'key'")
    return tombstone_of(key, text, scope)
