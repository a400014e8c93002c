"""When a memory looks for namespaces that are over: before its first answer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NamespaceEnds:
    """Ends the namespaces that are over, once for each call of a server."""

    def __init__(self) -> None:
        self._is_done = False

    def carry_out(self, memory: Any, *, is_again: bool = False) -> None:
        """Forget what platforms wrote in namespaces that are over; never raises.

        Args:
            memory: Not kept: one that refers to itself stays until it is collected.
            is_again: Look even if that was done before: time has passed.
        """
        if is_again or not self._is_done:
            # First: what is done for it asks the same memory.
            self._is_done = True
            from hivemind_memory.curation.ended_namespaces import end_namespaces

            end_namespaces(memory)

    def skip(self) -> None:
        """Look for none: the memory is open to end them."""
        self._is_done = True
