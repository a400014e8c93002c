"""Finds the key of the vault: in the system's keyring, or by a command that prints it.

The home of ``keyring``, an extra. Where neither can be used there is no key, and the
vault is not encrypted.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from base64 import b64decode, b64encode

from hivemind_memory.errors import VaultLockedError
from hivemind_memory.vault.cipher import KEY_BYTES, derive_key
from hivemind_memory.vault.vault_file import COMMAND, KEYRING, PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.vault.vault_file import VaultHeader

_SERVICE = "hivemind-memory"
_WAIT_S = 60
"""A command may ask the person for a password."""

_MIN_KEY_CHARS = 16


def preferred(command: str) -> str:
    """Return where the key of a vault should be."""
    if command:
        return COMMAND
    return KEYRING if _has_keyring() else PLAIN


def find_key(header: VaultHeader, command: str) -> bytes:
    """Return the key of a vault that is encrypted.

    Raises:
        VaultLockedError: It cannot be had now.
    """
    if header.key_from == COMMAND:
        return derive_key(_printed_key(command), header.salt)
    return _key_in_keyring(header.id)


def make_key(header: VaultHeader, command: str) -> bytes:
    """Return the key for a vault that is being encrypted; a keyring gets a new one.

    Raises:
        VaultLockedError: There can be none now.
    """
    if header.key_from == COMMAND:
        return find_key(header, command)
    import keyring
    from keyring.errors import KeyringError

    key = os.urandom(KEY_BYTES)
    try:
        keyring.set_password(_SERVICE, header.id, b64encode(key).decode())
    except KeyringError as error:
        raise _locked(
            "The system's keyring did not take the vault's key.",
            "Unlock it and try again, or set vault_key_command.",
        ) from error
    return _key_in_keyring(header.id)  # it may have refused without saying so


def _has_keyring() -> bool:
    """Return whether there is a keyring of the system that keeps a key safely."""
    try:
        import keyring
    except ImportError:
        return False
    try:
        # Those below 1 are no keyring at all, or a file that anyone can read.
        return bool(keyring.get_keyring().priority >= 1)
    # A backend that is broken raises whatever it likes; then there is none.
    except Exception:  # noqa: BLE001
        return False


def _key_in_keyring(name: str) -> bytes:
    """Return the key that the system's keyring has for a vault.

    Raises:
        VaultLockedError: It has none, or does not give it.
    """
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise _locked(
            "The vault's key is in the system's keyring, and the package keyring is"
            " not installed.",
            "Install hivemind-memory[keyring].",
        ) from error
    try:
        text = keyring.get_password(_SERVICE, name)
    except KeyringError as error:
        raise _locked(
            "The system's keyring does not give the vault's key.", "Unlock it."
        ) from error
    if text is None:
        raise _locked(
            "The system's keyring has no key for this vault; without that key its"
            " values are lost.",
            "If the key cannot be restored, delete the vault's file and set the"
            " values again.",
        )
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise _locked(
            "The vault's key in the system's keyring is damaged.",
            "Restore it; without it the values are lost.",
        ) from error


def _printed_key(command: str) -> str:
    """Return what ``vault_key_command`` prints, without blanks around it.

    Raises:
        VaultLockedError: It printed no key.
    """
    if not command:
        raise _locked(
            "The vault is encrypted with a key that vault_key_command prints, and that"
            " option is not set.",
            "Set it again with `hm config set vault_key_command`.",
        )
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_WAIT_S,
            check=False,
        )
    except (OSError, ValueError, IndexError) as error:
        raise _locked("vault_key_command cannot be run.", _TRY) from error
    except subprocess.TimeoutExpired as error:
        raise _locked(
            f"vault_key_command printed no key within {_WAIT_S} s.", _TRY
        ) from error
    if done.returncode != 0:
        raise _locked(f"vault_key_command failed with status {done.returncode}.", _TRY)
    key = done.stdout.decode("utf-8", "replace").strip()
    if len(key) < _MIN_KEY_CHARS:
        raise _locked(
            f"vault_key_command printed fewer than {_MIN_KEY_CHARS} characters.",
            "It has to print a random key, such as one from `openssl rand -hex 32`.",
        )
    return key


_TRY = "Run it in a shell: it has to print the key and end with status 0."


def _locked(message: str, hint: str) -> VaultLockedError:
    """Return the error for a key that cannot be had."""
    return VaultLockedError(message, hint=hint)
