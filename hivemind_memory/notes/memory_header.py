"""What a note's front matter and path say about it: type, key, edges and status.

Front matter is written by people: what means nothing is ignored, never an error.
"""

from __future__ import annotations

from hivemind_memory.model.memories import MemoryHeader
from hivemind_memory.model.memory_types import find_type
from hivemind_memory.model.scope import inner_path
from hivemind_memory.model.trust import untrusted_source
from hivemind_memory.notes.dates import day_of_iso
from hivemind_memory.notes.edge import edges_of, fraction
from hivemind_memory.notes.status import status_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivemind_memory.model.memory_types import MemoryType


def header_of(
    path: str,
    front_matter: Mapping[str, object],
    bodies: Iterable[str] = (),
    custom: Mapping[str, MemoryType] | None = None,
) -> MemoryHeader:
    """Return what a note says of itself.

    Args:
        path: Where it lies.
        front_matter: Its parsed values; empty for free text.
        bodies: Its chunks' texts, for ``[[links]]``.
        custom: Types of a person's own.
    """
    kind = find_type(_text(front_matter, "type"), custom) if front_matter else None
    edges = tuple(edges_of(front_matter, bodies))
    if kind is None:
        return MemoryHeader(
            memory_id=_text(front_matter, "id"),
            visibility=_visibility(front_matter),
            standing=status_of(path, front_matter),
            source=_source(front_matter),
            session=_text(front_matter, "session"),
            expires_day=_day(front_matter, "expires"),
            is_pinned=front_matter.get("pinned") is True,
            does_age=front_matter.get("pinned") is not True,
            edges=edges,
        )
    is_pinned = front_matter.get("pinned") is True
    return MemoryHeader(
        memory_id=_text(front_matter, "id"),
        type=kind.name,
        key=_text(front_matter, "key") or _stem(path),
        importance=fraction(front_matter.get("importance"), kind.importance),
        visibility=_visibility(front_matter),
        standing=status_of(path, front_matter),
        source=_source(front_matter),
        session=_text(front_matter, "session"),
        created=_text(front_matter, "created"),
        expires_day=_day(front_matter, "expires"),
        done_day=_day(front_matter, "done"),
        is_pinned=is_pinned,
        does_age=kind.does_age and not is_pinned,
        edges=edges,
    )


def _source(front_matter: Mapping[str, object]) -> str:
    """Return the source as it is written; of a list, what makes it untrusted."""
    return _text(front_matter, "source") or untrusted_source(front_matter.get("source"))


def _text(front_matter: Mapping[str, object], key: str) -> str:
    """Return a value as text; a number is one too."""
    value = front_matter.get(key)
    if isinstance(value, bool):
        return ""
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _visibility(front_matter: Mapping[str, object]) -> str:
    """Return public, private, or empty; what is neither is private, to be safe."""
    text = _text(front_matter, "visibility").lstrip(":").casefold()
    if not text:
        return ""
    return "public" if text == "public" else "private"


def _day(front_matter: Mapping[str, object], key: str) -> int | None:
    """Return the day that a value tells; ``true`` was long ago."""
    value = front_matter.get(key)
    if value is True:
        return 0
    return day_of_iso(value) if isinstance(value, str) else None


def _stem(path: str) -> str:
    """Return the name of a note without its folder and ending."""
    return inner_path(path).rpartition("/")[2].removesuffix(".md")
