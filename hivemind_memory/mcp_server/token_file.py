"""The token that HTTP clients must send: made once, in a file for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Callable

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    make_private_folder,
    set_mode,
    write_all,
)

_LEAST_CHARS = 16


def read_token(path: str, make_token: Callable[[], str]) -> str:
    """Return the token in the file *path*, which is made if it is not there.

    Args:
        path: The file; others lose their right to read it.
        make_token: Returns a new token.

    Raises:
        HivemindError: It can be neither read nor made, or holds no token.
    """
    try:
        if not os.path.exists(path):
            _write_new(path, make_token())
        token = _read(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise HivemindError(
            f"The token cannot be read from {path}: {reason}.",
            hint="see who owns the file, or name another with --token-file",
        ) from error
    if len(token) < _LEAST_CHARS or not token.isascii() or not token.isprintable():
        raise HivemindError(
            f"{path} holds no token of at least {_LEAST_CHARS} characters.",
            hint="delete it, and a new one is made",
        )
    return token


def _read(path: str) -> str:
    """Return what the file holds, after shutting others out."""
    with open(path, encoding="utf-8") as file:
        set_mode(file.fileno(), PRIVATE_FILE)
        return file.read(4096).strip()


def _write_new(path: str, token: str) -> None:
    """Make the file whole at once; if another process was first, its token counts."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        make_private_folder(folder)
    part = f"{path}.{os.getpid()}"
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE)
    try:
        write_all(descriptor, f"{token}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(part, path)
    except FileExistsError:
        return
    finally:
        os.unlink(part)
