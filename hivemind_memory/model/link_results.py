"""What a link between two memories, or the end of one, did."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.model.keys import operand
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath


@value
class LeftLink:
    """A link between two memories that is still there after one was removed."""

    kind: str
    from_path: NotePath
    to_path: str
    why: str = ""
    """text: it is a reference in the text; scope: the caller may not change the memory
    that it starts at; empty: it can be removed."""

    @property
    def remedy(self) -> str:
        """How to remove it."""
        if self.why == "scope":
            return "you cannot change it from here"
        if self.why == "text":
            return f"it is in the text: `hm edit {operand(self.from_path)}`"
        return (
            f"`hm unlink --kind {quote(self.kind)} {operand(self.from_path)}"
            f" {operand(self.to_path)}` removes it"
        )


@value
class LinkResult:
    """What a link, or the end of one, did."""

    kind: str
    """related_to, updates or contradicts."""

    from_path: NotePath
    from_id: str
    to_path: str
    to_id: str
    """As it was named when there is no such memory."""

    weight: float
    is_changed: bool
    """False: it was so already; nothing was written."""

    others: tuple[LinkResult, ...] = ()
    """Further links that were removed with it."""

    left: tuple[LeftLink, ...] = ()
    """Links between the two that are still there after one was removed."""

    changed_paths: tuple[NotePath, ...] = ()
    is_indexed: bool = False
