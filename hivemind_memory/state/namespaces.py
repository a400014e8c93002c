"""The namespaces of programs, one row each in ``state.db``.

A namespace is a name that a program gives to a scope. Its memories are notes of that
scope; what no note can hold is here: which name it is, when it ends, and what the
program keeps with it.
"""

from __future__ import annotations

import json
import os

from hivemind_memory.model.value import replaced, value
from hivemind_memory.sqlite.connection import synced_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import apsw

    from hivemind_memory.state.state_file import StateFile

_COLUMNS = "name, scope, kind, expires_at, metadata, created_at"


@value
class Namespace:
    """A name of a scope, as a program has given it."""

    name: str
    """As in ``workspace:web``."""

    scope: str
    """``workspaces/web``; empty: the global one. No two namespaces have the same."""

    kind: str
    """workspace, team, org or custom."""

    expires_at: float | None = None
    """Seconds since the epoch; None: it never ends."""

    metadata: str = ""
    """What the program keeps with it, as JSON; empty: nothing."""

    created_at: float = 0.0
    """Seconds since the epoch."""

    def is_over(self, now_s: float) -> bool:
        """Return whether it has ended at a time, in seconds since the epoch."""
        return self.expires_at is not None and self.expires_at <= now_s


class Namespaces:
    """The namespaces of one notes folder. Threads may share it."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def all(self) -> list[Namespace]:
        """Return all namespaces by name, ended ones too.

        Raises:
            StateUnusableError: They cannot be read now.
        """
        # To look makes no file.
        if not os.path.exists(self._state.path):
            return []
        sql = f"SELECT {_COLUMNS} FROM namespaces WHERE notes = ? ORDER BY name"

        def read(connection: apsw.Connection) -> list[Namespace]:
            rows = connection.execute(sql, (self._state.notes,))
            return [_namespace_of(row) for row in rows]

        return self._state.run(read, PROMISE_WAIT_MS)

    def has_ended(self, now_s: float) -> bool:
        """Return whether one has ended at a time, in seconds since the epoch.

        Raises:
            StateUnusableError: That cannot be looked up now.
        """
        if not os.path.exists(self._state.path):
            return False
        sql = "SELECT 1 FROM namespaces WHERE notes = ? AND expires_at <= ? LIMIT 1"
        values = (self._state.notes, now_s)
        return self._state.run(lambda c: c.execute(sql, values).fetchone() is not None)

    def change(
        self, name: str, change: Callable[[list[Namespace]], Namespace | None]
    ) -> Namespace | None:
        """Put in the place of a namespace what *change* returns; synced to the disk.

        No other process changes one meanwhile.

        Args:
            name: The namespace, whether it is there or not.
            change: Takes all namespaces and returns this one as it shall be; None: it
                shall not be there.

        Returns:
            What *change* returned.

        Raises:
            StateUnusableError: Nothing was changed.
        """
        notes = self._state.notes
        refused: list[Exception] = []

        def run(connection: apsw.Connection) -> Namespace | None:
            with synced_transaction(connection):
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM namespaces WHERE notes = ?", (notes,)
                )
                try:
                    new = change([_namespace_of(row) for row in rows])
                except Exception as error:  # noqa: BLE001 - raised again below
                    # Here it would count as an error of the file.
                    refused.append(error)
                    return None
                connection.execute(
                    "DELETE FROM namespaces WHERE notes = ? AND name = ?", (notes, name)
                )
                if new is not None:
                    connection.execute(
                        f"INSERT INTO namespaces({_COLUMNS}, notes)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (*_row_of(new), notes),
                    )
                return new

        changed = self._state.run(run, PROMISE_WAIT_MS)
        for error in refused:
            raise error
        return changed

    def quoting(
        self, scopes: frozenset[str] | None, texts: Collection[str]
    ) -> list[str]:
        """Return the namespaces of some scopes whose metadata quotes one of some texts.

        Args:
            scopes: The scopes; None: all.
            texts: The texts; blank ones are in none.

        Raises:
            StateUnusableError: That cannot be looked up now.
        """
        wanted = [text.strip() for text in texts if text.strip()]
        return [
            namespace.name
            for namespace in self.all()
            if (scopes is None or namespace.scope in scopes)
            and namespace.metadata
            and any(
                text in said
                for said in _texts_in(json.loads(namespace.metadata))
                for text in wanted
            )
        ]

    def blank(self, names: Collection[str]) -> None:
        """Take the metadata of some namespaces away.

        Raises:
            StateUnusableError: They have it still.
        """
        values = [(self._state.notes, name) for name in names]

        def update(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                connection.executemany(
                    "UPDATE namespaces SET metadata = '' WHERE notes = ? AND name = ?",
                    values,
                )

        if values:
            self._state.run(update, PROMISE_WAIT_MS)

    def rename_scopes(self, new_name: Callable[[str], str]) -> None:
        """Let the namespaces of a scope that was renamed mean its new name.

        Of two that would mean one scope, the one that meant it before stays.

        Raises:
            StateUnusableError: None was renamed.
        """
        before = self.all()
        taken = {each.scope for each in before if new_name(each.scope) == each.scope}
        moved = [
            replaced(each, scope=new_name(each.scope))
            for each in before
            if new_name(each.scope) != each.scope
        ]
        notes = self._state.notes

        def rename(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                connection.executemany(
                    "DELETE FROM namespaces WHERE notes = ? AND name = ?",
                    [(notes, each.name) for each in moved if each.scope in taken],
                )
                connection.executemany(
                    "UPDATE namespaces SET scope = ? WHERE notes = ? AND name = ?",
                    [(each.scope, notes, each.name) for each in moved],
                )

        if moved:
            self._state.run(rename, PROMISE_WAIT_MS)


def _texts_in(found: object) -> Iterator[str]:
    """Yield every text in a value of JSON, names of members too."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for name, inner in found.items():
            yield name
            yield from _texts_in(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from _texts_in(inner)


def _row_of(namespace: Namespace) -> tuple[object, ...]:
    """Return the columns of a namespace, in the order of ``_COLUMNS``."""
    return (
        *(namespace.name, namespace.scope, namespace.kind),
        *(namespace.expires_at, namespace.metadata, namespace.created_at),
    )


def _namespace_of(row: tuple[object, ...]) -> Namespace:
    """Return the namespace of a row."""
    name, scope, kind, expires_at, metadata, created_at = row
    return Namespace(
        name=str(name),
        scope=str(scope),
        kind=str(kind),
        expires_at=None if expires_at is None else float(str(expires_at)),
        metadata=str(metadata),
        created_at=float(str(created_at)),
    )
