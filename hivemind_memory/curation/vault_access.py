"""Says who may do what with the vault of a memory's home.

There is one vault for a home, and it is the owner's. Any shell may list its keys and
give their values to a command; only a person who sees the whole memory may change it or
see a value.
"""

from __future__ import annotations

from collections.abc import Mapping

from hivemind_memory.access.read_only import check_not_read_only
from hivemind_memory.access.rules import check_owner, check_person
from hivemind_memory.errors import UsageError
from hivemind_memory.redaction import holds_known
from hivemind_memory.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.files.places import Places
    from hivemind_memory.vault.vault import VaultSet


def open_vault(places: Places, settings: Settings) -> Vault:
    """Return the vault, to list its keys and to give values to a command."""
    return Vault(places.home, settings.vault_key_command)


def open_own_vault(
    places: Places, settings: Settings, *, caller: Caller, what: str
) -> Vault:
    """Return the vault to its owner, who changes it and sees its values.

    Args:
        places: Where the home is.
        settings: The options.
        caller: Who asks.
        what: What is done, such as a command, for the error.

    Raises:
        ScopeError: The caller may only read.
        UsageError: The caller is an agent, or sees only some scopes.
    """
    check_person(caller, what)
    check_owner(caller, what)
    check_not_read_only(caller, "Nothing was changed")
    return open_vault(places, settings)


def keep_value(
    vault: Vault, key: str, text: str, *, now_s: float, is_secret: bool
) -> VaultSet:
    """Keep a value in the vault, under a key that names no other one; see ``set``.

    Raises:
        UsageError: The key is new and contains a secret of the vault: keys are listed.
    """
    if holds_known(key) and all(known.key != key for known in vault.all()):
        raise UsageError(
            "The key contains a secret of the vault, and keys are listed.",
            hint="Choose another key.",
            effect="Nothing was saved",
        )
    return vault.set(key, text, now_s=now_s, is_secret=is_secret)


def check_option_names(value: object) -> None:
    """Refuse an object for config.json that names something after a secret.

    Args:
        value: The object; its keys are names, and so are the items of lists in it.

    Raises:
        UsageError: A name in it contains a secret of the vault.
    """
    if any(map(holds_known, _names_in(value))):
        raise UsageError(
            "A name contains a secret of the vault, and names are shown.",
            hint="Choose another name.",
            effect="Nothing was changed",
        )


def _names_in(value: object) -> Iterator[str]:
    """Yield the keys of an object, and the texts in its lists, at any depth."""
    if isinstance(value, Mapping):
        yield from map(str, value)
        for part in value.values():
            yield from _names_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from (part,) if isinstance(part, str) else _names_in(part)
