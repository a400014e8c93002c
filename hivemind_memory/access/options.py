"""Who may change the options of config.json: see decision 031."""

from __future__ import annotations

from hivemind_memory.access.rules import SEE_ALL, check_person
from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller


def check_may_configure(caller: Caller, what: str) -> None:
    """Raise unless a caller sees the whole memory.

    Options say what every caller may do, and a caller of some scopes would lift its own
    limits: without a tree of workspaces, its workspace has the rights of a root.

    Raises:
        UsageError: It sees some scopes only.
    """
    check_person(caller, what)
    if not caller.is_owner:
        raise UsageError(
            f"{what} changes the options for all; you can only see part of the memory"
            " here.",
            hint=SEE_ALL,
            effect="Nothing was changed",
        )
