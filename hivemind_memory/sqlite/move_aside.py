"""Moves a damaged database away, so that a new one can be made in its place."""

from __future__ import annotations

import os
from contextlib import suppress


def move_aside(path: str, aside: str) -> None:
    """Rename a database with the log beside it; an earlier one of that name goes.

    The log first: whoever opens *path* meanwhile makes an empty database there, and
    SQLite deletes a log beside that. The shared memory is made again from the log.

    Raises:
        OSError: It cannot be renamed.
    """
    is_first = not os.path.exists(aside)  # else its log is that of another database
    stale = (f"{aside}-shm", f"{path}-shm", *(() if is_first else (f"{aside}-wal",)))
    for file in stale:
        with suppress(FileNotFoundError):
            os.unlink(file)
    for suffix in ("-wal", ""):
        with suppress(FileNotFoundError):
            os.replace(path + suffix, aside + suffix)
