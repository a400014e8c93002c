"""What the type of a memory says about its place in a section."""

from __future__ import annotations

from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.inject.outcomes import Quote, Reason
from hivemind_memory.model.memory_types import (
    FIRST,
    LESSON,
    SEARCH_ONLY,
    find_type,
    types_of_config,
)
from hivemind_memory.model.standing import ACTIVE, UNTRUSTED
from hivemind_memory.notes.entries import parse_provenance
from hivemind_memory.notes.front_matter import split_front_matter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow

_KEPT = Reason(facet="always", value=1.0)
_LESSON = Reason(facet="lesson", value=1.0)


class Typed:
    """The typed memories that a worktree's caller may see."""

    def __init__(self, memory: Memory, rows: Iterable[MemoryRow]) -> None:
        self._memory = memory
        self._rows = {row.path: row for row in rows}
        self._types = types_of_config(memory.settings.types)
        self._today = memory.today()

    def always(self) -> list[Quote]:
        """Return what no question has to find: pinned, identity, then lessons.

        Among lessons the most important comes first, of equals the newest.
        """
        rows = [row for row in self._rows.values() if self._may_be_told(row)]
        pinned = [row for row in rows if row.is_pinned]
        rest = [row for row in rows if not row.is_pinned]
        identities = [row for row in rest if self._injected(row) == FIRST]
        lessons = [row for row in rest if self._injected(row) == LESSON]
        kept = [*_ordered(pinned), *_ordered(identities)]
        quotes = [self._quote(row, _KEPT, is_kept=True) for row in kept]
        quotes += [self._quote(row, _LESSON) for row in _ordered(lessons)]
        return [quote for quote in quotes if quote is not None]

    def is_search_only(self, path: str) -> bool:
        """Return whether a note is found by a search and never told unasked."""
        row = self._rows.get(path)
        return row is not None and self._injected(row) == SEARCH_ONLY

    def is_untrusted(self, path: str) -> bool:
        """Return whether a note says of itself that it is from outside."""
        row = self._rows.get(path)
        return row is not None and is_untrusted(row.source)

    def is_over(self, path: str) -> bool:
        """Return whether a memory is expired or done."""
        row = self._rows.get(path)
        return row is not None and self._is_over(row)

    def _may_be_told(self, row: MemoryRow) -> bool:
        """Whether a memory is in force, trusted and not over."""
        is_trusted = not is_untrusted(row.source)
        return row.standing == ACTIVE and is_trusted and not self._is_over(row)

    def _is_over(self, row: MemoryRow) -> bool:
        """Whether a memory is expired or done."""
        days = (row.expires_day, row.done_day)
        return any(day is not None and day <= self._today for day in days)

    def _injected(self, row: MemoryRow) -> str:
        """Return how a memory of its type comes into a section."""
        kind = find_type(row.type, self._types) if row.type else None
        return kind.injected if kind else ""

    def _quote(
        self, row: MemoryRow, reason: Reason, *, is_kept: bool = False
    ) -> Quote | None:
        """Return a memory whole; None: it says nothing, or went meanwhile."""
        try:
            text = self._memory.read(row.path).text
        except (NoteNotFoundError, NoteUnreadableError):
            return None
        lines = text.split("\n")
        first = split_front_matter(text).line_count
        while first < len(lines) and not lines[first].strip():
            first += 1
        last = _last_own_line(lines, first)
        if first > last:
            return None
        return Quote(
            path=row.path,
            first_line=first + 1,
            last_line=last + 1,
            text="\n".join(lines[first : last + 1]),
            date=row.created[:10],
            score=reason.value,
            reasons=(reason,),
            type=row.type,
            key=row.key,
            is_kept=is_kept,
        )


def is_untrusted(source: object) -> bool:
    """Return whether a front matter's word for its source means the outside."""
    if not isinstance(source, str):
        return False
    # A web clipper writes the address of the page there.
    return source.strip().casefold() in UNTRUSTED or "://" in source


def _last_own_line(lines: list[str], first: int) -> int:
    """Return the last line of a memory's own text, before what was appended to it.

    An entry in its file has a source of its own, be it from outside.
    """
    ends = range(first, len(lines))
    last = next((at for at in ends if parse_provenance(lines[at])), len(lines)) - 1
    while last >= first and not lines[last].strip():
        last -= 1
    return last


def _ordered(rows: list[MemoryRow]) -> list[MemoryRow]:
    """Return memories, the most important first, of equals the newest."""
    newest = sorted(rows, key=lambda row: (row.created, row.path), reverse=True)
    return sorted(newest, key=lambda row: -row.importance)
