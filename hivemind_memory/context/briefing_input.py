"""What a language model is told of a scope, so that it can write a briefing of it.

The same rule says later whether what it wrote still holds: each of its memories is
still told to agents and says the same. Masked, bounded, and nothing private unless the
whole scope is.
"""

from __future__ import annotations

from hivemind_memory.access.visibility import PRIVATE
from hivemind_memory.markdown.entry import own_lines
from hivemind_memory.model.display import shorten
from hivemind_memory.model.memory_types import SEARCH_ONLY, find_type
from hivemind_memory.model.value import value
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow

MIN_MEMORIES = 3
"""Typed memories that a project must have; its few are read sooner than a briefing."""

MAX_CHARS = 6_000
"""Characters of all memories together."""

MAX_TEXT_CHARS = 1_200
"""Characters of one memory."""

_FIRST = ("identity", "decision", "goal")
_THEN = ("preference", "lesson")


@value
class ToldMemory:
    """A memory as the model is told of it."""

    row: MemoryRow
    type: str
    text: str

    @property
    def ref(self) -> str:
        """Its id, or the path of its note."""
        return self.row.memory_id or self.row.path

    @property
    def words(self) -> str:
        """All that is told of it."""
        return (
            f"{mask(self.row.key)}\n{self.type}\n{self.row.created[:10]}\n{self.text}"
        )


def choose_told(memory: Memory, told: Sequence[MemoryRow]) -> list[ToldMemory]:
    """Return what the model is told, in that order.

    Args:
        memory: As its owner, or the caller of the briefing, sees it.
        told: Memories of one scope that agents are told, most important first.
    """
    found: list[ToldMemory] = []
    left = MAX_CHARS
    for row in _in_order(memory, told):
        each = read_told(memory, row)
        if each is None:
            continue
        left -= len(each.words)
        if left < 0:
            break
        found.append(each)
    return found


def read_told(memory: Memory, row: MemoryRow) -> ToldMemory | None:
    """Return what the model is told of a memory; None: nothing."""
    found = memory.curation.stored.load(row.path)
    if found is None:
        return None
    settings = memory.settings
    is_private = settings.visibility_of(row.scope, found.visibility) == PRIVATE
    if is_private and settings.visibility_of(row.scope, "") != PRIVATE:
        return None
    # Masked as a whole: half of a secret is not recognized.
    text = mask("\n".join(own_lines(found.text.split("\n")))).strip()
    text = shorten(text, MAX_TEXT_CHARS)
    kind = find_type(row.type, memory.types) if row.type else None
    if not text or kind is None or kind.injected == SEARCH_ONLY:
        return None
    return ToldMemory(row=row, type=kind.name, text=text)


def _in_order(memory: Memory, told: Iterable[MemoryRow]) -> Iterator[MemoryRow]:
    """Yield the memories in the order in which they are told."""
    ranks: dict[str, int] = {}
    for name in {row.type for row in told}:
        kind = find_type(name, memory.types) if name else None
        found = kind.name if kind else ""
        ranks[name] = 0 if found in _FIRST else 1 if found in _THEN else 2
    yield from sorted(told, key=lambda row: (not row.is_pinned, ranks[row.type]))
