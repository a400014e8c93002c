"""The secret values of the vaults that this process knows, read again when they change.

Asked for every text that is written, shown or sent: where there is no vault that costs
one look at the disk.
"""

from __future__ import annotations

import os
import threading
import time

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.descriptors import signature_of
from hivemind_memory.files.places import known_vaults
from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.model.snapshot import FileSignature

_RETRY_S = 5.0
"""A key that could not be had is asked for again after so long."""


class _Reading(NamedTuple):
    """What one vault said when it was read last."""

    signature: FileSignature
    values: tuple[str, ...]
    """The secret ones."""

    why_locked: str
    """Empty: it is not."""

    at_s: float


_lock = threading.RLock()
_readings: dict[str, _Reading] = {}
"""Path of a vault -> its last reading."""


def secret_values() -> tuple[str, ...]:
    """Return the secret values of all vaults; those that are locked give none."""
    return tuple(
        value for reading in _read_all() if reading for value in reading.values
    )


def vaults_state() -> object:
    """Return a value that differs once other values are secret.

    A vault that could not be opened may be open by now, and is the same file.
    """
    return tuple(
        (reading and reading.signature, bool(reading and reading.why_locked))
        for reading in _read_all()
    )


def why_locked() -> str:
    """Return why the values of a vault are not known; empty: they are."""
    for reading in _read_all():
        if reading and reading.why_locked:
            return reading.why_locked
    return ""


def _read_all() -> Iterator[_Reading | None]:
    """Yield what each vault says; None: it is not there."""
    for path, command in known_vaults():
        try:
            signature = signature_of(os.stat(path))
        except OSError:
            yield None
        else:
            yield _read(path, command, signature)


def _read(path: str, command: str, signature: FileSignature) -> _Reading:
    """Return what a vault says, from memory if it has not changed."""
    known = _readings.get(path)
    if known is None or not _counts(known, signature):
        with _lock:  # one thread asks for the key, which may take a while
            known = _readings.get(path)
            if known is None or not _counts(known, signature):
                opened = _open(path, command)
                known = _Reading(signature, *opened, at_s=time.monotonic())
                _readings[path] = known
    return known


def _counts(known: _Reading, signature: FileSignature) -> bool:
    """Return whether a reading still holds."""
    if known.signature != signature:
        return False
    return not known.why_locked or time.monotonic() - known.at_s < _RETRY_S


def _open(path: str, command: str) -> tuple[tuple[str, ...], str]:
    """Return the secret values of a vault, or why they are not known."""
    from hivemind_memory.vault.vault import Vault

    home = os.path.dirname(os.path.dirname(path))
    try:
        return Vault(home, command).secret_values(), ""
    except HivemindError as error:
        return (), str(error)
