"""Keeps, gives and deletes the values of the vault. One home has one vault."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from hivemind_memory.errors import (
    HivemindError,
    KeyNotFoundError,
    NotSavedError,
    UsageError,
    VaultLockedError,
)
from hivemind_memory.files.atomic import partial_copies
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.files.places import locks_folder, vault_file
from hivemind_memory.model.keys import no_such
from hivemind_memory.model.value import replaced, value
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.vault.vault_file import (
    COMMAND,
    KEYRING,
    PLAIN,
    VaultHeader,
    VaultItem,
    new_generation,
    read_vault,
    write_vault,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

MAX_VALUE_BYTES = 65_536
_KEY = lazy_re(r"[A-Za-z0-9_.:-]{1,128}", re.ASCII)
_CHECK = "hivemind vault"
_SALT_BYTES = 16
_EFFECT = "Nothing was saved"


@value
class VaultKey:
    """What a list shows of a key."""

    key: str
    is_secret: bool
    created_at: int
    """Seconds since the epoch."""

    updated_at: int


@value
class VaultSet:
    """What became of a value that was set."""

    is_new: bool
    """There was no such key."""

    key_from: str
    """Where the key of the encryption is: none, keyring or command."""

    is_key_new: bool
    """The vault was encrypted with that key for the first time."""


class Vault:
    """The vault of a home. Threads and processes may share it."""

    def __init__(self, home: str, key_command: str = "") -> None:
        """Read nothing yet.

        Args:
            home: The home folder.
            key_command: The option ``vault_key_command``.
        """
        self.path = vault_file(home)
        self._lock_file = os.path.join(locks_folder(home), "vault.lock")
        self._command = key_command

    def set(self, key: str, text: str, *, now_s: float, is_secret: bool) -> VaultSet:
        """Keep a value; it is on the disk when this returns.

        The whole vault is encrypted anew where its key should be elsewhere by now.

        Args:
            key: 1 to 128 of ``A-Z a-z 0-9 _ . : -``.
            text: The value, 1 byte to 64 KiB.
            now_s: The time, in seconds since the epoch.
            is_secret: Whether it is hidden everywhere else.

        Raises:
            NotSavedError: Nothing was saved; the message says why.
            UsageError: Key or value cannot be used.
            VaultLockedError: The vault, or its new key, cannot be used now.
        """
        from hivemind_memory.vault import keys

        _check(key, text)
        with self._changing():
            header, items, cipher_key = self._opened()
            wanted = keys.preferred(self._command)
            is_key_new = wanted != header.key_from
            if is_key_new:
                header, new_cipher_key = self._with_key(wanted)
                items = {
                    name: self._sealed(new_cipher_key, header, item)
                    for name, item in self._plain(cipher_key, items).items()
                }
                cipher_key = new_cipher_key
            old = items.get(key)
            item = VaultItem(
                key=key,
                content=text,
                is_secret=is_secret,
                created_at=old.created_at if old else int(now_s),
                updated_at=int(now_s),
            )
            items[key] = self._sealed(cipher_key, header, item)
            self._write(header, items)
        return VaultSet(
            is_new=old is None, key_from=header.key_from, is_key_new=is_key_new
        )

    def get(self, key: str) -> tuple[VaultKey, str]:
        """Return a key and its value.

        Raises:
            HivemindError: The vault cannot be read.
            KeyNotFoundError: There is no such key.
            VaultLockedError: It is encrypted, and its key cannot be had.
        """
        return self.get_many([key])[0]

    def get_many(self, names: list[str]) -> list[tuple[VaultKey, str]]:
        """Return keys and their values, in the order of their names; see ``get``."""
        header, items, cipher_key = self._opened(only=names)
        for name in names:
            if name not in items:
                raise _missing(name)
        return [
            (_shown(items[name]), _text_of(cipher_key, header, items[name]))
            for name in names
        ]

    def all(self) -> list[VaultKey]:
        """Return all keys without their values, by key; needs no key of the encryption.

        Raises:
            HivemindError: The vault cannot be read.
        """
        found = read_vault(self.path)
        items = found[1] if found else {}
        return [_shown(item) for _, item in sorted(items.items())]

    def delete(self, key: str) -> None:
        """Delete a key with its value, which needs no key of the encryption.

        Raises:
            KeyNotFoundError: There is no such key.
            NotSavedError: It was not deleted; the message says why.
        """
        if not os.path.exists(self.path):
            raise _missing(key)
        with self._changing("Nothing was deleted"):
            found = read_vault(self.path)
            if found is None or key not in found[1]:
                raise _missing(key)
            header, items = found
            del items[key]
            self._write(header, items, "Nothing was deleted")

    def secret_values(self) -> tuple[str, ...]:
        """Return the values that are secret.

        Raises:
            HivemindError: The vault cannot be read.
            VaultLockedError: It is encrypted, and its key cannot be had.
        """
        header, items, cipher_key = self._opened()
        return tuple(
            _text_of(cipher_key, header, item)
            for item in items.values()
            if item.is_secret
        )

    def protection(self) -> str:
        """Return what protects the values in the file, as a clause.

        Raises:
            HivemindError: The vault cannot be read.
        """
        found = read_vault(self.path)
        key_from = found[0].key_from if found else PLAIN
        return {
            PLAIN: "not encrypted: only you can read the file",
            KEYRING: "encrypted with a key in the operating system's keyring",
            COMMAND: "encrypted with the key that vault_key_command prints",
        }.get(key_from, "encrypted in a way that this version does not know")

    # -- inside ----------------------------------------------------------------

    def _changing(self, effect: str = _EFFECT) -> AbstractContextManager[None]:
        """Return a context in which no other process changes the vault."""
        return exclusive(
            self._lock_file,
            wait_s=LOCK_WAIT_S,
            refused=lambda why, hint: NotSavedError(why, hint=hint, effect=effect),
        )

    def _opened(
        self, *, only: list[str] | None = None
    ) -> tuple[VaultHeader, dict[str, VaultItem], bytes | None]:
        """Return header, items and key of the vault; None: it is not encrypted.

        Args:
            only: Keys that are wanted; if one of them is missing, no key is asked for.
        """
        found = read_vault(self.path)
        if found is None:
            return VaultHeader(id=new_generation(), generation=""), {}, None
        header, items = found
        if header.key_from == PLAIN or (only and not items.keys() >= set(only)):
            return header, items, None
        from hivemind_memory.vault import cipher, keys

        cipher_key = keys.find_key(header, self._command)
        try:
            cipher.unseal(cipher_key, header.check, header.id)
        except ValueError as error:
            raise VaultLockedError(
                f"The vault was encrypted with another key than the {header.key_from}"
                " gives now; without that key its values are lost.",
                hint=f"Put the old key back, or delete {self.path} and set its values"
                " again.",
            ) from error
        return header, items, cipher_key

    def _with_key(self, key_from: str) -> tuple[VaultHeader, bytes | None]:
        """Return the header and the key of a vault that is encrypted anew."""
        header = VaultHeader(id=new_generation(), generation="", key_from=key_from)
        if key_from == PLAIN:
            return header, None
        from hivemind_memory.vault import cipher, keys

        header = replaced(header, salt=os.urandom(_SALT_BYTES).hex())
        cipher_key = keys.make_key(header, self._command)
        check = cipher.seal(cipher_key, _CHECK, header.id)
        return replaced(header, check=check), cipher_key

    def _plain(
        self, cipher_key: bytes | None, items: Mapping[str, VaultItem]
    ) -> dict[str, VaultItem]:
        """Return items with their values as they are."""
        found = read_vault(self.path)
        if found is None:
            return dict(items)
        return {
            name: replaced(item, content=_text_of(cipher_key, found[0], item))
            for name, item in items.items()
        }

    def _sealed(
        self, cipher_key: bytes | None, header: VaultHeader, item: VaultItem
    ) -> VaultItem:
        """Return an item with its value encrypted, if the vault is."""
        if cipher_key is None:
            return item
        from hivemind_memory.vault import cipher

        bound_to = _bound_to(header, item)
        return replaced(item, content=cipher.seal(cipher_key, item.content, bound_to))

    def _write(
        self, header: VaultHeader, items: Mapping[str, VaultItem], effect: str = _EFFECT
    ) -> None:
        """Write the vault in its next generation."""
        header = replaced(header, generation=new_generation())
        folder = os.path.dirname(self.path)
        make_private_folder(folder)
        for partial in partial_copies(folder):
            with suppress(OSError):  # of a process that was killed: we hold the lock
                os.unlink(partial)
        write_vault(self.path, header, items, effect)


def _text_of(cipher_key: bytes | None, header: VaultHeader, item: VaultItem) -> str:
    """Return the value of an item.

    Raises:
        HivemindError: It was changed by something else.
    """
    if cipher_key is None:
        return item.content
    from hivemind_memory.vault import cipher

    try:
        return cipher.unseal(cipher_key, item.content, _bound_to(header, item))
    except ValueError as error:
        raise HivemindError(
            f"The value of {item.key} in the vault is damaged.", hint="Set it again."
        ) from error


def _bound_to(header: VaultHeader, item: VaultItem) -> str:
    """Return what an encrypted value belongs to: it cannot be given to another key."""
    return f"{header.id}\n{item.key}\n{int(item.is_secret)}"


def _check(key: str, text: str) -> None:
    """Raise a ``UsageError`` unless a key and a value can be used."""
    for problem, hint in _problems(key, text):
        raise UsageError(problem, hint=hint, effect=_EFFECT)


def _problems(key: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a key or a value, and what to do."""
    if not _KEY.fullmatch(key):
        what = "A key of the vault has 1 to 128 letters, digits and _ . : -"
        yield what, "STRIPE_KEY is one, for example."
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        yield "The value is not text.", "Encode it as base64 before."
        return
    if not text.strip():
        yield "The value is empty.", "Give it on standard input, or type it when asked."
    if size > MAX_VALUE_BYTES:
        yield f"The value has {size:,} bytes; {MAX_VALUE_BYTES:,} are the most.", ""
    if "\0" in text:
        yield "The value has a NUL byte, which no environment takes.", ""


def _shown(item: VaultItem) -> VaultKey:
    """Return what a list shows of an item."""
    return VaultKey(
        key=item.key,
        is_secret=item.is_secret,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _missing(key: str) -> KeyNotFoundError:
    """Return the error for a key that is not there."""
    message = no_such("vault key", key)
    return KeyNotFoundError(message, hint="`hm vault list` lists the keys.")
