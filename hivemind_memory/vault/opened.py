"""The secret values of the vaults that this process knows, read again when they change.

Asked for every text that is written, shown or sent: where there is no vault that costs
one look at the disk.
"""

from __future__ import annotations

import os
import threading
import time

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.places import known_vaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    FileState: TypeAlias = tuple[int, ...]

_RETRY_S = 5.0
"""A key that could not be had is asked for again after so long."""

_lock = threading.RLock()
_read: dict[str, tuple[FileState, tuple[str, ...], str, float]] = {}
"""Vault -> its state, its secret values, why it is locked, when it was read."""


def secret_values() -> tuple[str, ...]:
    """Return the secret values of all vaults; those that are locked give none."""
    found: tuple[str, ...] = ()
    for path, command in known_vaults():
        state = _state_of(path)
        if state is not None:
            found += _values_of(path, command, state)[0]
    return found


def vaults_state() -> object:
    """Return what is another value once other values are secret.

    A vault that could not be opened may be open by now, and is the same file.
    """
    found: list[object] = []
    for path, command in known_vaults():
        state = _state_of(path)
        is_locked = state is not None and bool(_values_of(path, command, state)[1])
        found.append((state, is_locked))
    return tuple(found)


def why_locked() -> str:
    """Return why the values of a vault are not known; empty: they are."""
    for path, command in known_vaults():
        state = _state_of(path)
        if state is not None and (why := _values_of(path, command, state)[1]):
            return why
    return ""


def _state_of(path: str) -> FileState | None:
    """Return what tells one state of a vault from the next; None: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino, found.st_size)


def _values_of(
    path: str, command: str, state: FileState
) -> tuple[tuple[str, ...], str]:
    """Return the secret values of a vault, and why there are none."""
    known = _read.get(path)
    if known is None or not _counts(known, state):
        with _lock:  # one thread asks for the key, which may take a while
            known = _read.get(path)
            if known is None or not _counts(known, state):
                known = _read[path] = (state, *_open(path, command), time.monotonic())
    return known[1], known[2]


def _counts(
    known: tuple[FileState, tuple[str, ...], str, float], state: FileState
) -> bool:
    """Return whether what was read of a vault still holds."""
    before, _, why, at_s = known
    return before == state and (not why or time.monotonic() - at_s < _RETRY_S)


def _open(path: str, command: str) -> tuple[tuple[str, ...], str]:
    """Return the secret values of a vault, or why they are not known."""
    from hivemind_memory.vault.vault import Vault

    home = os.path.dirname(os.path.dirname(path))
    try:
        return Vault(home, command).secret_values(), ""
    except HivemindError as error:
        return (), str(error)
