"""Says who may do what with the vault of a memory's home.

There is one vault for a home, and it is the owner's. Any shell may list its keys and
give their values to a command; only a person who sees the whole memory may change it or
see a value.
"""

from __future__ import annotations

from hivemind_memory.access.read_only import check_not_read_only
from hivemind_memory.access.rules import check_owner, check_person
from hivemind_memory.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.files.places import Places


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
