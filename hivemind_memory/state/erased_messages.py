"""Which messages of transcripts were purged, a table of ``state.db``.

The agents keep their transcripts, and ``transcripts.db`` is made again from them at any
time: what was purged must not come back. Keyed hashes recognize it and tell nothing.
"""

from __future__ import annotations

import hmac

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.sqlite.connection import synced_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from hivemind_memory.state.state_file import StateFile


class ErasedMessages:
    """What was purged in one notes folder. Any method may raise."""

    def __init__(self, state: StateFile) -> None:
        self._state = state
        self._key = b""
        self._hashes: frozenset[bytes] = frozenset()

    def add(self, texts: Iterable[tuple[str, str]]) -> None:
        """Remember messages: the session of each, or an empty text for any, and it.

        Raises:
            StateUnusableError: They cannot be written now.
        """
        pairs = list(texts)

        def insert(connection: apsw.Connection) -> None:
            key = _key_of(connection)
            with synced_transaction(connection):
                connection.executemany(
                    "INSERT INTO erased(hash, notes) VALUES (?, ?)"
                    " ON CONFLICT DO NOTHING",
                    [(_hash(key, *pair), self._state.notes) for pair in pairs],
                )

        if pairs:
            self._state.run(insert, PROMISE_WAIT_MS)

    def load(self) -> None:
        """Read what was purged, for ``has``.

        Raises:
            StateUnusableError: It cannot be read now.
        """

        def read(connection: apsw.Connection) -> None:
            self._key = _key_of(connection)
            rows = connection.execute(
                "SELECT hash FROM erased WHERE notes = ?", (self._state.notes,)
            )
            self._hashes = frozenset(bytes(row[0]) for row in rows)

        if is_there(self._state.path):
            self._state.run(read, PROMISE_WAIT_MS)

    def has(self, session: str, text: str) -> bool:
        """Return whether a message was purged, with its session or with its text."""
        return bool(self._hashes) and not self._hashes.isdisjoint(
            (_hash(self._key, session, text), _hash(self._key, "", text))
        )


def is_erased_session(connection: apsw.Connection, notes: str, session: str) -> bool:
    """Return whether a whole session was purged, for who holds a transaction."""
    found = connection.execute(
        "SELECT 1 FROM erased WHERE notes = ? AND hash = ?",
        (notes, _hash(_key_of(connection), session, "")),
    )
    return bool(found.fetchall())


def _key_of(connection: apsw.Connection) -> bytes:
    """Return the key that only this home has."""
    [(key,)] = connection.execute("SELECT value FROM meta WHERE key = 'key'")
    return bytes(key)


def _hash(key: bytes, session: str, text: str) -> bytes:
    """Return the keyed hash of a message."""
    data = f"{session}\0{text}".encode("utf-8", "surrogatepass")
    return hmac.digest(key, data, "sha256")
