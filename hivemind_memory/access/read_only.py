"""Refuses changes by a caller that may only read."""

from __future__ import annotations

from hivemind_memory.errors import ScopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller


READ_ONLY = "this token only reads"
"""What programs are told over HTTP: their contracts have no place for a hint."""


def check_not_read_only(caller: Caller, effect: str) -> None:
    """Raise if a caller may change nothing.

    Args:
        caller: Who asks.
        effect: What is not done, for the error.

    Raises:
        ScopeError: It may not.
    """
    if caller.is_read_only:
        raise ScopeError(
            "This connection may only read: its token is read-only.",
            hint="Ask a person for a token that may write.",
            effect=effect,
        )
