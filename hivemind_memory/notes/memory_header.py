"""Reads type, key, edges, status and day of a note from its front matter and path.

Front matter is written by people: what means nothing is ignored, never an error. Days
are counted since the epoch, so that a score does not move within a day.
"""

from __future__ import annotations

from datetime import date

from hivemind_memory.model.display import shorten
from hivemind_memory.model.memories import (
    ACTIVE,
    CLAIM_FIELDS,
    FORGOTTEN,
    MAX_SOURCE_REF_CHARS,
    PENDING,
    SUPERSEDED,
    MemoryHeader,
)
from hivemind_memory.model.memory_types import find_type
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.scope import INBOX, inner_path, place_in_scope
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.model.snapshot import NS_PER_DAY
from hivemind_memory.model.tags import tag_lines, tags_in
from hivemind_memory.model.trust import untrusted_source
from hivemind_memory.notes.edge import edges_of, fraction, targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note_path import NotePath

_MAX_CLAIM_CHARS = 40
"""Of a confidence, a count or a date."""

_CLAIM_CHARS = {"domains": 500}


def header_of(
    path: str,
    front_matter: Mapping[str, object],
    bodies: Iterable[str] = (),
    custom: Mapping[str, MemoryType] | None = None,
) -> MemoryHeader:
    """Return what a note says of itself.

    Args:
        path: Its path below the notes folder.
        front_matter: Its parsed values; empty for free text.
        bodies: Its chunks' texts, for ``[[links]]``.
        custom: Types of a person's own.
    """
    edges = tuple(edges_of(front_matter, bodies))
    if not front_matter:  # nearly all notes that a person writes
        return MemoryHeader(status=status_of(path, front_matter), edges=edges)
    is_pinned = front_matter.get("pinned") is True
    header = MemoryHeader(
        memory_id=_text(front_matter, "id"),
        visibility=_visibility(front_matter),
        status=status_of(path, front_matter),
        source=_source(front_matter),
        session=_text(front_matter, "session"),
        expires_day=_day(front_matter, "expires"),
        is_pinned=is_pinned,
        does_age=not is_pinned,
        edges=edges,
        tags=tag_lines(tags_in(front_matter.get("tags"))),
    )
    kind = find_type(_text(front_matter, "type"), custom)
    if kind is None:
        return header
    return header._replace(
        type=kind.name,
        key=_text(front_matter, "key") or _stem(path),
        importance=fraction(front_matter.get("importance"), kind.importance),
        created=_text(front_matter, "created"),
        done_day=_day(front_matter, "done"),
        does_age=kind.does_age and not is_pinned,
        source_ref=_line(front_matter, "source_ref", MAX_SOURCE_REF_CHARS),
        claim=_claim(front_matter),
    )


def _claim(front_matter: Mapping[str, object]) -> str:
    """Return what a claim says about its certainty, ``name=value`` a line."""
    found = (
        (name, _line(front_matter, name, _CLAIM_CHARS.get(name, _MAX_CLAIM_CHARS)))
        for name in CLAIM_FIELDS
    )
    return "\n".join(f"{name}={text}" for name, text in found if text)


def _line(front_matter: Mapping[str, object], key: str, limit_chars: int) -> str:
    """Return a value as one line, cut to a limit: it is shown next to the text."""
    return shorten(" ".join(_text(front_matter, key).split()), limit_chars)


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
    """Return the day that a value means; ``true`` means long ago."""
    value = front_matter.get(key)
    if value is True:
        return 0
    return day_of_iso(value) if isinstance(value, str) else None


def _stem(path: str) -> str:
    """Return the name of a note without its folder and ending."""
    return inner_path(path).rpartition("/")[2].removesuffix(".md")


def status_of(path: str, front_matter: Mapping[str, object]) -> int:
    """Return the status of a note: one of ``ACTIVE`` to ``FORGOTTEN``.

    Args:
        path: Its path below the notes folder.
        front_matter: Its parsed values.
    """
    if is_forgotten(front_matter):
        return FORGOTTEN
    return status_unless_forgotten(path, front_matter)


def status_unless_forgotten(path: str, front_matter: Mapping[str, object]) -> int:
    """Return the status that a note has, or had before it was forgotten."""
    folder = place_in_scope(path)
    if folder == INBOX:
        return PENDING
    successor = front_matter.get("superseded_by")
    is_replaced = folder == SUPERSEDED_FOLDER or (
        successor is not None and targets(successor)
    )
    return SUPERSEDED if is_replaced else ACTIVE


def is_forgotten(front_matter: Mapping[str, object]) -> bool:
    """Return whether a note is forgotten as a whole."""
    return front_matter.get("forgotten") not in (None, False, "")


_DAYS_BETWEEN_ZONES = 2
"""How far the days of two places may be apart at one moment, UTC+14 and UTC-12."""


def is_done(done_day: int | None, *, today: int) -> bool:
    """Return whether a memory is done.

    The day is the one on which it was done where it was done: further east it may be
    a day that has not begun yet here. A day in the future does not count.
    """
    return done_day is not None and done_day <= last_done_day(today)


def last_done_day(today: int) -> int:
    """Return the last day on which what is done today was done; see ``is_done``."""
    return today + _DAYS_BETWEEN_ZONES


def is_expired_or_done(
    expires_day: int | None, done_day: int | None, *, today: int
) -> bool:
    """Return whether a memory has expired or is done, and so is no longer injected.

    Args:
        expires_day: First day, since the epoch, on which it is expired; None: never.
        done_day: First day on which a todo or goal is done; None: it is open.
        today: The day, since the epoch.
    """
    is_expired = expires_day is not None and expires_day <= today
    return is_expired or is_done(done_day, today=today)


_EPOCH = date(1970, 1, 1).toordinal()


def day_of_note(
    path: NotePath, front_matter: Mapping[str, object], mtime_ns: int
) -> int | None:
    """Return the day of a note, in days since the epoch; None when it never ages.

    The date that the note gives itself (``updated``, ``date``, ``created``), else a
    date at the start of its name, else its last edit. ``global.md`` does not age.
    """
    name = path.rpartition("/")[2]
    if name == GLOBAL_NOTE:
        return None
    for key in ("updated", "date", "created") if front_matter else ():
        day = _day_of_value(front_matter.get(key))
        if day is not None:
            return day
    day = day_of_iso(name)
    return mtime_ns // NS_PER_DAY if day is None else day


def day_of_iso(text: str) -> int | None:
    """Return the day that *text* begins with (``2026-11-21…``), else None.

    >>> day_of_iso("1970-01-03T10:00:00+01:00")
    2
    """
    if not text[:4].isdigit():  # most names: an error takes longer
        return None
    try:
        return date.fromisoformat(text[:10]).toordinal() - _EPOCH
    except ValueError:
        return None


def _day_of_value(value: object) -> int | None:
    """Return the day that a value of a front matter means, if it is one."""
    return day_of_iso(value) if isinstance(value, str) else None
