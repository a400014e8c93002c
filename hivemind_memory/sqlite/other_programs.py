"""Reads SQLite files of other programs, and changes nothing in them."""

from __future__ import annotations

from contextlib import contextmanager

import apsw

from hivemind_memory.errors import IndexUnusableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Query = Callable[[str, tuple[object, ...]], Iterable[tuple[object, ...]]]

_TIMEOUT_MS = 1_000


@contextmanager
def open_of_another_program(path: str) -> Iterator[Query]:
    """Open another program's SQLite file; yield what runs a query on it.

    Raises:
        IndexUnusableError: It cannot be opened or read, also while it is read.
    """
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(_TIMEOUT_MS)
            yield connection.execute
        finally:
            connection.close()
    except apsw.Error as error:
        message = f"{path} cannot be read: {error}."
        raise IndexUnusableError(message, hint="Try again later.") from error
