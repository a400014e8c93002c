"""The named tokens of one notes folder, a table of ``state.db``.

A token says who asks, and what that one may see and do. Only its hash is kept: the
token itself is shown once. It has 256 random bits, so that a plain hash of it cannot be
guessed back.
"""

from __future__ import annotations

import os
import secrets
from hashlib import sha256

from hivemind_memory.errors import StateUnusableError, UsageError
from hivemind_memory.model.value import replaced, value
from hivemind_memory.sqlite.connection import synced_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from hivemind_memory.state.state_file import StateFile

PREFIX = "hm_"
"""Of every token, so that a secret scanner knows one."""

_TOKEN_BYTES = 32
_COLUMNS = "name, workspace, teams, project, is_read_only, created_at, expires_day"
_SET_USED = "UPDATE tokens SET used_at = ? WHERE name = ? AND notes = ?"


@value
class Token:
    """Who a token stands for."""

    name: str
    workspace: str = ""
    """Name of its workspace; empty: that of the server."""

    teams: tuple[str, ...] = ()
    """Names of its teams; empty: those of the server."""

    project: str = ""
    """Name of its only project, or ``none``; empty: each connection names its own."""

    is_read_only: bool = False
    created_at: int = 0
    """Seconds since the epoch."""

    expires_day: int = 0
    """Its last day, in days since 1970-01-01; 0: it never expires."""

    used_at: int = 0
    """When it was used last, in seconds since the epoch; 0: never."""

    def is_expired(self, today: int) -> bool:
        """Return whether its last day is over; *today* is in days since 1970-01-01."""
        return bool(self.expires_day) and self.expires_day < today

    def has_scopes(self) -> bool:
        """Return whether it names scopes of its own."""
        return bool(self.workspace or self.teams or self.project)


class Tokens:
    """The tokens of one notes folder. Threads may share it."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def add(self, token: Token) -> str:
        """Keep a new token; return the secret that its owner sends.

        Raises:
            UsageError: There is one of that name.
            StateUnusableError: It cannot be written now.
        """
        secret = PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
        row = (
            *(token.name, token.workspace, ",".join(token.teams), token.project),
            *(int(token.is_read_only), token.created_at, token.expires_day),
            *(_hash(secret), self._state.notes),
        )

        def insert(connection: apsw.Connection) -> bool:
            with synced_transaction(connection):
                connection.execute(
                    f"INSERT INTO tokens({_COLUMNS}, hash, notes)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    row,
                )
                return bool(connection.changes())

        if not self._state.run(insert, PROMISE_WAIT_MS):
            raise UsageError(
                f"There is already a token named {token.name}.",
                hint="Choose another name, or revoke that one first.",
            )
        return secret

    def all(self) -> list[Token]:
        """Return all tokens, by name.

        Raises:
            StateUnusableError: They cannot be read now.
        """
        return self._read("", ())

    def find(self, secret: str) -> Token | None:
        """Return the token of a secret; None: there is none.

        Raises:
            StateUnusableError: That cannot be looked up now.
        """
        if not secret.startswith(PREFIX):
            return None
        found = self._read("AND hash = ?", (_hash(secret),))
        return found[0] if found else None

    def record_use(self, name: str, at_s: float) -> None:
        """Record when a token was used; errors are ignored."""

        def update(connection: apsw.Connection) -> None:
            connection.execute(_SET_USED, (int(at_s), name, self._state.notes))

        try:
            self._state.run(update)
        except StateUnusableError:
            return

    def revoke(self, name: str) -> bool:
        """Delete a token; return whether there was one of that name.

        Raises:
            StateUnusableError: It cannot be deleted now.
        """

        def delete(connection: apsw.Connection) -> bool:
            with synced_transaction(connection):
                connection.execute(
                    "DELETE FROM tokens WHERE name = ? AND notes = ?",
                    (name, self._state.notes),
                )
                return bool(connection.changes())

        return self._exists() and self._state.run(delete, PROMISE_WAIT_MS)

    def rename_projects(self, new_name: Callable[[str], str]) -> None:
        """Give the tokens of a renamed project its new name.

        Raises:
            StateUnusableError: None was renamed.
        """
        tokens = [
            (token.name, replaced(token, project=new_name(token.project)))
            for token in self.all()
            if token.project and new_name(token.project) != token.project
        ]

        def rename(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                connection.executemany(
                    "UPDATE tokens SET project = ? WHERE name = ? AND notes = ?",
                    [(new.project, name, self._state.notes) for name, new in tokens],
                )

        if tokens:
            self._state.run(rename, PROMISE_WAIT_MS)

    def _exists(self) -> bool:
        """Return whether there is a state; to look makes none."""
        return os.path.exists(self._state.path)

    def _read(self, condition: str, values: tuple[object, ...]) -> list[Token]:
        """Return the tokens of this notes folder that meet a condition."""
        if not self._exists():
            return []
        sql = (
            f"SELECT {_COLUMNS}, used_at FROM tokens"
            f" WHERE notes = ? {condition} ORDER BY name"
        )

        def read(connection: apsw.Connection) -> list[Token]:
            rows = connection.execute(sql, (self._state.notes, *values))
            return [_token_of(row) for row in rows]

        return self._state.run(read, PROMISE_WAIT_MS)


def _hash(secret: str) -> bytes:
    """Return what is kept of a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _token_of(row: tuple[object, ...]) -> Token:
    """Return the token of a row."""
    name, workspace, teams, project, is_read_only, created_at, expires, used_at = row
    return Token(
        name=str(name),
        workspace=str(workspace),
        teams=tuple(team for team in str(teams).split(",") if team),
        project=str(project),
        is_read_only=bool(is_read_only),
        created_at=int(str(created_at)),
        expires_day=int(str(expires)),
        used_at=int(str(used_at)),
    )
