"""What memory_save and memory_learn return, as data and as text."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field, field_validator

from hivemind_memory.mcp_server.shaping import ResultPart
from hivemind_memory.model.display import lines_text
from hivemind_memory.model.memories import PENDING, STATUSES
from hivemind_memory.model.save_hints import HintWords, SaveHint, hint_texts

HINT_WORDS = HintWords(
    global_scope='scope="global"',
    opening='memory_save with type="preference" and a supersede_reason',
)


class SaveOut(ResultPart):
    """What memory_save returns once the memory is on disk."""

    path: str
    start_line: int
    end_line: int
    id: str
    key: str
    type: str
    scope: str = Field(default="", description="default: global")
    status: str = Field(
        default="active", description="pending: in the inbox until a person accepts it"
    )
    is_new: bool = Field(
        default=True, description="false: the memory already said exactly this"
    )
    superseded: str = Field(default="", description="id of the memory it replaced")
    is_indexed: bool = Field(description="it is in the index already")
    hints: list[str] = Field(default_factory=list, description="what to improve")
    warnings: list[str] = Field(default_factory=list)

    @field_validator("hints", mode="before")
    @classmethod
    def _say_hints(cls, hints: Iterable[SaveHint]) -> tuple[str, ...]:
        """Render the hints in the words of the tools."""
        return hint_texts(hints, HINT_WORDS)


def render_saved(saved: SaveOut) -> str:
    """Return where a memory was saved and what it replaced, as text."""
    place = lines_text(saved.path, saved.start_line, saved.end_line)
    is_pending = saved.status == STATUSES[PENDING]
    what, verb = ("claim", "Pending in") if is_pending else ("memory", "Saved in")
    if not saved.is_new:
        verb = f"Unchanged, the {'pending ' * is_pending}{what} already says this:"
    text = f"{verb} {place} as {saved.type} {saved.key} (id {saved.id})"
    if saved.scope:
        text += f" in {saved.scope}"
    if saved.superseded:
        text += f", replacing {saved.superseded}"
    found = "a search finds it now" if saved.is_indexed else "it is not indexed yet"
    if is_pending:
        found = "it waits for a person to accept it, and searches leave it out"
    notes = [f"warning: {warning}" for warning in saved.warnings]
    notes += [f"hint: {hint}" for hint in saved.hints]
    return "\n".join([f"{text}; {found}.", *notes])
