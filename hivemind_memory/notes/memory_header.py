"""What a note says of itself as a memory: its type, key, edges and standing.

Front matter is a person's text: whatever has no use is passed over, never an error.
"""

from __future__ import annotations

import re
from datetime import date

from hivemind_memory.model.memories import MemoryHeader
from hivemind_memory.model.memory_types import find_type
from hivemind_memory.model.scope import INBOX, inner_path, place_in_scope
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.notes.dates import day_of_iso
from hivemind_memory.notes.status import (
    ACTIVE,
    CONTRADICTS,
    FORGOTTEN,
    PENDING,
    RELATED,
    SUPERSEDED,
    UPDATES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hivemind_memory.model.memory_types import MemoryType


MAX_EDGES = 200
"""Edges of one note that count; a page of links is no memory."""

_KINDS = {"supersedes": UPDATES, "contradicts": CONTRADICTS, "related": RELATED}
# [[note]], [[note|shown]], [[note#heading]]; a shell's [[ -f x ]] begins with a space.
_WIKI_LINK = re.compile(
    r"!?\[\[([^\s\[\]|#][^\[\]|#\n]{0,200})(?:[#|][^\[\]\n]{0,200})?\]\]"
)
_WIKI_WEIGHT = 1.0
_EPOCH = date(1970, 1, 1).toordinal()


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
    edges = tuple(_edges(front_matter, bodies))
    if kind is None:
        return MemoryHeader(
            memory_id=_text(front_matter, "id"),
            visibility=_visibility(front_matter),
            standing=_status(path, front_matter),
            source=_text(front_matter, "source"),
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
        importance=_share(front_matter.get("importance"), kind.importance),
        visibility=_visibility(front_matter),
        standing=_status(path, front_matter),
        source=_text(front_matter, "source"),
        session=_text(front_matter, "session"),
        created=_text(front_matter, "created"),
        expires_day=_day(front_matter, "expires"),
        done_day=_day(front_matter, "done"),
        is_pinned=is_pinned,
        does_age=kind.does_age and not is_pinned,
        edges=edges,
    )


def _status(path: str, front_matter: Mapping[str, object]) -> int:
    """Return whether a note is in force, replaced, waiting or hidden."""
    if front_matter.get("forgotten") not in (None, False, ""):
        return FORGOTTEN
    return status_unless_forgotten(path, front_matter)


def status_unless_forgotten(path: str, front_matter: Mapping[str, object]) -> int:
    """Return how a note stands, whether it is forgotten or not."""
    room = place_in_scope(path)
    if room == INBOX:
        return PENDING
    is_replaced = room == SUPERSEDED_FOLDER or _text(front_matter, "superseded_by")
    return SUPERSEDED if is_replaced else ACTIVE


def _edges(
    front_matter: Mapping[str, object], bodies: Iterable[str]
) -> Iterator[tuple[str, str, float]]:
    """Yield the edges of a note, each once."""
    seen: set[tuple[str, str]] = set()
    for kind, target, weight in _all_edges(front_matter, bodies):
        if target and (kind, target) not in seen and len(seen) < MAX_EDGES:
            seen.add((kind, target))
            yield kind, target, weight


def _all_edges(
    front_matter: Mapping[str, object], bodies: Iterable[str]
) -> Iterator[tuple[str, str, float]]:
    """Yield what the front matter names, then what the text links to."""
    for name, kind in _KINDS.items():
        value = front_matter.get(name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                weight = _share(one.get("weight"), 1.0)
                yield kind, _target(one.get("id") or one.get("key")), weight
            else:
                yield kind, _target(one), 1.0
    for body in bodies:
        if "[[" in body:
            for match in _WIKI_LINK.finditer(body):
                yield RELATED, match[1].strip(), _WIKI_WEIGHT


def _target(value: object) -> str:
    """Return to what an edge points, without the brackets of a link."""
    text = value.strip() if isinstance(value, str) else ""
    link = _WIKI_LINK.fullmatch(text)
    return link[1].strip() if link else text


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


def _share(value: object, default: float) -> float:
    """Return a number within 0..1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        return default
    return min(1.0, max(0.0, float(value)))


def _day(front_matter: Mapping[str, object], key: str) -> int | None:
    """Return the day that a value tells; ``true`` was long ago."""
    value = front_matter.get(key)
    if value is True:
        return 0
    return day_of_iso(value) if isinstance(value, str) else None


def _stem(path: str) -> str:
    """Return the name of a note without its folder and ending."""
    return inner_path(path).rpartition("/")[2].removesuffix(".md")
