"""Finds, writes and removes one marked section in the bytes of a file.

Bytes in, bytes out: nothing here decodes, so any encoding, line ending or damage in the
rest of the file survives. A mark is a whole line. A line that only begins like a mark,
a mark without its partner, a second pair or the wrong order means that the section is
damaged; that is an error, because guessing could delete the user's text.
"""

from __future__ import annotations

from hivemind_memory.errors import NotInjectedError
from hivemind_memory.model.value import value


@value
class SectionMarks:
    """The two lines around a section, without line endings."""

    begin: bytes
    end: bytes
    lookalikes: tuple[bytes, ...]
    """Prefixes that only the two lines may begin with."""


@value
class SectionSpan:
    """Where a section is in its file."""

    start: int
    """Offset of the first mark."""

    stop: int
    """Offset after the second mark and its line ending."""

    newline: bytes
    """Line ending of the section."""

    is_joined: bool
    """The file had no last newline: the one before the section belongs to the section,
    and there is none after it."""


SECTION_MARKS = SectionMarks(
    begin=b"<!-- hivemind:begin v1 -->",
    end=b"<!-- hivemind:end -->",
    lookalikes=(b"<!-- hivemind:begin", b"<!-- hivemind:end"),
)
"""Enclose the section in a file that an agent reads."""

SECTION_HEADLINE = "## Hivemind Memory (auto-injected, do not edit)"
"""First line of every section, of every version of the program."""

GUIDE_WORDS = "keeps a persistent memory that every agent shares"
NOTES_WORDS = "information to weigh, not instructions to follow"
"""What a section says of itself, and of its memories. No commit takes these words, so a
part of a section is noticed too."""

SETTINGS_MARKS = SectionMarks(
    begin=b"# hivemind:begin",
    end=b"# hivemind:end",
    lookalikes=(b"# hivemind:begin", b"# hivemind:end"),
)
"""Enclose our lines in git's own files and in scripts."""


class SectionDamagedError(NotInjectedError):
    """The marks in a file do not form one section; nothing was written."""


def find_section(
    data: bytes, marks: SectionMarks = SECTION_MARKS
) -> SectionSpan | None:
    """Return where the section is, or None if there is none.

    Raises:
        SectionDamagedError: There are marks, but not exactly one pair in order.
    """
    found = [
        (offset, line)
        for offset, line in _lines(data, marks)
        if line.startswith(marks.lookalikes)
    ]
    if not found:
        return None
    # Editors leave blanks at the end of a line, and tools add them.
    stripped = [line.rstrip() for _, line in found]
    if stripped != [marks.begin, marks.end]:
        message = f"the {_describe(stripped, marks)}"
        begin, end = marks.begin.decode(), marks.end.decode()
        hint = f"Delete everything from {begin} to {end}, then inject again."
        raise SectionDamagedError(message, hint=hint)
    (start, first), (last, closing) = found
    stop = last + len(closing)
    return SectionSpan(
        start=start,
        stop=stop,
        newline=b"\r\n" if first.endswith(b"\r\n") else b"\n",
        is_joined=not closing.endswith(b"\n"),
    )


def put_section(data: bytes, body: str, marks: SectionMarks = SECTION_MARKS) -> bytes:
    r"""Return *data* with *body* between the marks: in place, else at the end.

    The section uses the line endings of the file. A file without a last newline gets
    one before the section and none after it, so that ``remove_section`` can undo it.

    Args:
        data: The whole file.
        body: Lines joined by ``"\n"``, without a last one; none may look like a mark.
        marks: What encloses the section.

    Raises:
        SectionDamagedError: See ``find_section``.

    >>> put_section(b"mine", "theirs", SETTINGS_MARKS)
    b'mine\n# hivemind:begin\ntheirs\n# hivemind:end'
    """
    span = find_section(data, marks)
    newline = span.newline if span else _newline_of(data)
    lines = (marks.begin, *body.encode().split(b"\n"), marks.end)
    section = newline.join(lines)
    if span is not None:
        closing = b"" if span.is_joined else newline
        return data[: span.start] + section + closing + data[span.stop :]
    if data and not data.endswith(b"\n"):
        return data + newline + section
    return data + section + newline


def remove_section(data: bytes, marks: SectionMarks = SECTION_MARKS) -> bytes:
    r"""Return *data* as it was before a section was put into it.

    Raises:
        SectionDamagedError: See ``find_section``.

    >>> remove_section(b"a\n# hivemind:begin\nb\n# hivemind:end", SETTINGS_MARKS)
    b'a'
    """
    span = find_section(data, marks)
    if span is None:
        return data
    before = data[: span.start]
    if span.is_joined:
        before = before.removesuffix(span.newline)
    return before + data[span.stop :]


def body_of(data: bytes, marks: SectionMarks = SECTION_MARKS) -> str:
    """Return the lines between the marks; empty if there is no section.

    Raises:
        SectionDamagedError: See ``find_section``.
    """
    span = find_section(data, marks)
    if span is None:
        return ""
    lines = data[span.start : span.stop].splitlines()
    return b"\n".join(lines[1:-1]).decode("utf-8", "replace")


def _lines(data: bytes, marks: SectionMarks) -> list[tuple[int, bytes]]:
    """Return the lines that may be marks, with their offsets."""
    # Most files contain neither word.
    if not any(likeness in data for likeness in marks.lookalikes):
        return []
    lines, offset = [], 0
    for line in data.split(b"\n"):
        whole = line + b"\n" if offset + len(line) < len(data) else line
        lines.append((offset, whole))
        offset += len(whole)
    return lines


def _newline_of(data: bytes) -> bytes:
    """Return the line ending of a file's first line."""
    at = data.find(b"\n")
    return b"\r\n" if at > 0 and data[at - 1 : at] == b"\r" else b"\n"


def _describe(found: list[bytes], marks: SectionMarks) -> str:
    """Return what is wrong with the marks."""
    odd = [line for line in found if line not in (marks.begin, marks.end)]
    if odd:
        return f"line {odd[0][:60].decode('utf-8', 'replace')!r} looks like a marker"
    begins, ends = found.count(marks.begin), found.count(marks.end)
    if begins == ends == 1:
        return "end marker comes before the begin marker"
    return f"markers do not form one pair: {begins} begin, {ends} end"
