"""The comment line above an appended entry: written, read, and never forged.

An entry begins at its comment and goes to the next one, or to the end of the note. The
comment is exactly one line, at column 0, so a person can read it and grep can find it::

    <!-- hm id=01JD3W… by=claude-code source=agent at=2026-11-21T14:03:11+01:00 -->
"""

from __future__ import annotations

import re
from datetime import datetime
from sys import intern

from hivemind_memory.markdown.text import encodable
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.own_forms import is_ulid
from hivemind_memory.model.trust import EXTERNAL, SOURCES
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OPENING = "<!-- hm "
"""How every comment line of an entry begins."""

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""The digits of a ULID, by their value."""

_LINE = lazy_re(r"<!-- hm((?: [a-z_]+=[!-~\u00a1-\U0010ffff]*)+) -->")
_ID = lazy_re(OPENING.encode() + rb"(?:[!-~]++ ){0,16}?id=([0-9A-HJKMNP-TV-Z]{26}) ")
# What would end the value, the comment or the line, and the escape itself.
_UNSAFE = lazy_re(r"[\x00-\x20\x7f-\xa0%<>]|\s")
_ESCAPES = lazy_re(r"(?:%[0-9A-Fa-f]{2})+")
# Our own comments at the start of a line, however they are spaced or written.
_LOOKALIKE = lazy_re(
    r"^([^\S\n]*)<(?=!--+[^\S\n]*(?:hm\s|hivemind:))", re.IGNORECASE | re.MULTILINE
)


def render_provenance(provenance: Provenance, *, forgotten_at: str = "") -> str:
    """Return the comment line of an entry, without a newline.

    Args:
        provenance: What the line says; empty values are left out.
        forgotten_at: When it was forgotten, ISO 8601; used only if it is forgotten.
    """
    values = {
        "id": provenance.id,
        "by": provenance.by,
        "session": provenance.session,
        "source": provenance.source,
        "ref": provenance.ref,
        "tags": ",".join(provenance.tags),
        "at": provenance.at,
    }
    if provenance.is_forgotten:
        values["forgotten"] = forgotten_at or "yes"
    parts = [f"{name}={_quoted(value)}" for name, value in values.items() if value]
    return f"{OPENING}{' '.join(parts)} -->"


def parse_provenance(line: str) -> Provenance | None:
    """Return what a comment line says, or None for any other line.

    The whole line must be the comment, with an id, a source and a time that parse, and
    no name twice. A source that this version does not know has the lowest trust.
    """
    if not line.startswith(OPENING):
        return None
    whole = _LINE.fullmatch(line.removesuffix("\r"))
    if whole is None:
        return None
    pairs = [part.partition("=") for part in whole[1][1:].split(" ")]
    values = {name: _unquoted(value) for name, _, value in pairs}
    if len(values) < len(pairs) or not is_ulid(values.get("id", "")):
        return None
    at, source = values.get("at", ""), values.get("source", "")
    if not source or not _is_time(at):
        return None
    return Provenance(
        id=values["id"],
        at=at,
        # A note has thousands of entries by the same agent, and their chunks are kept.
        by=intern(values.get("by", "")),
        session=intern(values.get("session", "")),
        source=intern(source) if source in SOURCES else EXTERNAL,
        ref=values.get("ref", ""),
        tags=tuple(filter(None, values.get("tags", "").split(","))),
        is_forgotten="forgotten" in values,
    )


def own_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines before the first entry, without blank ones at the end.

    An entry has a source of its own, perhaps an external one, so the memory in whose
    file it stands ends before it.
    """
    stop = next(
        (at for at, line in enumerate(lines) if parse_provenance(line)), len(lines)
    )
    while stop and not lines[stop - 1].strip():
        stop -= 1
    return list(lines[:stop])


def own_text(text: str) -> str:
    """Return a memory's text without the entries below it; see ``own_lines``."""
    return "\n".join(own_lines(text.split("\n")))


def entry_ids(data: bytes) -> frozenset[str]:
    """Return the ids of the entries that a note holds."""
    return frozenset(match.decode() for match in _ID.findall(data))


def escape_markers(content: str) -> str:
    """Return *content* with lines that look like our comments made harmless.

    Else an agent could end its own entry and begin one in another's name, or open the
    marked section of an agent's file.

    >>> escape_markers("<!-- hm id=1 -->")
    '&lt;!-- hm id=1 -->'
    """
    return _LOOKALIKE.sub(r"\1&lt;", content) if "<!" in content else content


def new_entry_text(
    provenance: Provenance,
    content: str,
    *,
    newline: str = "\n",
    ends_with_newline: bool = True,
    is_empty: bool = False,
) -> str:
    r"""Return what is appended to a note so that it holds one entry more.

    Two blank lines, the comment, the content without blank edges, a last newline.

    Args:
        provenance: Who writes and when.
        content: Any text; its markers are escaped here.
        newline: The line end of the note, ``"\n"`` or ``"\r\n"``.
        ends_with_newline: The note ends with a newline; else one is put first.
        is_empty: The note holds nothing yet: no blank lines first.
    """
    text = encodable(content).replace("\r\n", "\n").replace("\r", "\n").rstrip()
    edge = len(text) - len(text.lstrip())
    text = escape_markers(text[text.rfind("\n", 0, edge) + 1 :])
    lines = [render_provenance(provenance), *text.split("\n"), ""]
    if not is_empty:
        lines[:0] = ["", ""] if ends_with_newline else ["", "", ""]
    return newline.join(lines)


def new_ulid(now_s: float, randomness: bytes) -> str:
    """Return a ULID: 48 bits of time, 80 of chance, sortable by time.

    Args:
        now_s: Seconds since the epoch; 48 bits of milliseconds last to the year 10889.
        randomness: 10 random bytes.

    Raises:
        ValueError: It is another number of bytes, or the time does not fit.

    Source:
        https://github.com/ulid/spec

    >>> new_ulid(1469918176.385, bytes(10))
    '01ARYZ6S410000000000000000'
    """
    if len(randomness) != 10:
        message = f"A ULID needs 10 random bytes, not {len(randomness)}."
        raise ValueError(message)
    now_ms = round(now_s * 1000)
    if not 0 <= now_ms < 1 << 48:
        message = f"The time of a ULID must be from 1970 to 10889, not {now_s} s."
        raise ValueError(message)
    number = now_ms << 80 | int.from_bytes(randomness, "big")
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -5, -5))


def ulid_seconds(ulid: str) -> float:
    """Return the time of a ULID, in seconds since the epoch.

    >>> ulid_seconds("01ARYZ6S410000000000000000")
    1469918176.385
    """
    number = 0
    for character in ulid[:10]:
        number = number << 5 | CROCKFORD.index(character)
    return number / 1000


def _is_time(text: str) -> bool:
    """Return whether *text* is a time as ISO 8601 writes it."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _quoted(value: str) -> str:
    """Return *value* with what would break the comment percent-encoded."""

    def encoded(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match[0].encode())

    return _UNSAFE.sub(encoded, encodable(value))


def _unquoted(value: str) -> str:
    """Undo ``_quoted``; what is not an escape, or no UTF-8, harms nothing."""

    def decoded(match: re.Match[str]) -> str:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace")

    return _ESCAPES.sub(decoded, value) if "%" in value else value
