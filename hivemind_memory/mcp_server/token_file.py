"""The file with the server's own token, which only its owner can read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    make_private_folder,
    open_regular,
    set_mode,
)
from hivemind_memory.files.errors import reason_of

_MIN_CHARS = 16


def _new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(32)


def read_token(path: str, make_token: Callable[[], str] = _new_token) -> str:
    """Return the token in the file *path*, which is created if it does not exist.

    Args:
        path: The file; other users lose the right to read it.
        make_token: Returns a new token.

    Raises:
        HivemindError: It can be neither read nor created, or holds no token.
    """
    try:
        if not os.path.exists(path):
            _write_new(path, make_token())
        token = _read(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "it is not text"
        raise HivemindError(
            f"Cannot read the token from {path}: {reason}.",
            hint="Check who owns the file, or choose another with --token-file.",
        ) from error
    if len(token) < _MIN_CHARS or not token.isascii() or not token.isprintable():
        raise HivemindError(
            f"{path} does not contain a token of at least {_MIN_CHARS} characters.",
            hint="Delete the file to have a new token created.",
        )
    return token


def _read(path: str) -> str:
    """Return what the file holds, after making it private."""
    with open(path, encoding="utf-8", opener=open_regular) as file:
        set_mode(file.fileno(), PRIVATE_FILE)
        return file.read(4096).strip()


def _write_new(path: str, token: str) -> None:
    """Create the file in one step; if another process was first, its token is used."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        make_private_folder(folder)
    write_file(path, f"{token}\n".encode(), is_new=True)
