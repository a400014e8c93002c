"""Lets one restore at a time write into a home.

Of two at once, each would take the files of the other for its own: one that failed
removed what the other had counted as there.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

from hivemind_memory.backup.new_files import EFFECT
from hivemind_memory.errors import HivemindError
from hivemind_memory.files.descriptors import (
    identity_at,
    identity_of,
    make_private_folder,
)
from hivemind_memory.files.errors import cause_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.platform != "win32":
    import fcntl


@contextmanager
def only_restore(home: str) -> Iterator[None]:
    """Hold a home, which is made if it is missing, and removed again after an error.

    Raises:
        HivemindError: Another restore holds it, or it cannot be made.
    """
    missing = _missing_folders(home)
    fd = -1
    try:
        try:
            fd = _held(home)
        except OSError as error:
            cause, hint = cause_of(error)
            raise HivemindError(f"{cause}.", hint=hint, effect=EFFECT) from error
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # it is not empty
                os.rmdir(folder)
        raise
    finally:
        if fd >= 0:
            os.close(fd)


def _missing_folders(path: str) -> list[str]:
    """Return the folders that are missing, from a path upwards."""
    missing = []
    path = os.path.abspath(path)
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _held(home: str) -> int:
    """Return the descriptor of a home that is locked; -1 where folders know no locks.

    Another restore may remove the home that it made, so it is made anew then.
    """
    while True:
        make_private_folder(home)
        if sys.platform == "win32":
            return -1
        try:
            fd = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise HivemindError(
                f"Another restore into {home} is running.",
                hint="Wait until it has ended.",
                effect=EFFECT,
            ) from None
        except OSError:
            return fd  # a file system without locks
        if identity_at(home) == identity_of(os.fstat(fd)):
            return fd
        os.close(fd)
