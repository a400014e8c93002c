"""One marked section within the bytes of a file; every other byte stays.

Bytes in, bytes out: nothing here decodes, so any encoding, line end or damage in the
rest of the file survives. A mark is a whole line at column 0. What begins like a mark
and is none, a mark without its partner, a second pair, the wrong order: the section is
damaged, and whoever asked decides nothing on a guess.
"""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.errors import NotInjectedError


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionMarks:
    """The two lines around a section, without line ends."""

    begin: bytes
    end: bytes
    lookalikes: tuple[bytes, ...]
    """What only the two lines may begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpan:
    """Where a section stands in its file."""

    start: int
    """Offset of the first mark."""

    stop: int
    """Offset behind the second mark and its line end."""

    newline: bytes
    """How the section's lines end."""

    is_joined: bool
    """The file had no last newline: the one before the section is ours, and there is
    none behind it."""


SECTION_MARKS = SectionMarks(
    begin=b"<!-- hivemind:begin v1 -->",
    end=b"<!-- hivemind:end -->",
    lookalikes=(b"<!-- hivemind:begin", b"<!-- hivemind:end"),
)
"""Around the section in an agent's file."""

SETTINGS_MARKS = SectionMarks(
    begin=b"# hivemind:begin",
    end=b"# hivemind:end",
    lookalikes=(b"# hivemind:begin", b"# hivemind:end"),
)
"""Around our lines in git's own files."""


class SectionDamagedError(NotInjectedError):
    """The marks in a file do not make one section; nothing was written."""


def find_section(
    data: bytes, marks: SectionMarks = SECTION_MARKS
) -> SectionSpan | None:
    """Return where the section stands, or None when there is none.

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
    stripped = [line.removesuffix(b"\n").removesuffix(b"\r") for _, line in found]
    if stripped != [marks.begin, marks.end]:
        message = f"the {_describe(stripped, marks)}"
        begin, end = marks.begin.decode(), marks.end.decode()
        hint = f"Delete all from {begin} to {end} by hand; the next one is whole."
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

    The section takes the line ends of the file. A file without a last newline gets one
    before the section and none behind it, so that ``remove_section`` knows.

    Args:
        data: The whole file.
        body: Lines joined by ``"\n"``, without a last one; none may be like a mark.
        marks: Which section.

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
    """Return what stands between the marks; empty when there is no section.

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
    # Most files hold neither word, and then this is one quick look.
    if not any(likeness in data for likeness in marks.lookalikes):
        return []
    lines, offset = [], 0
    for line in data.split(b"\n"):
        whole = line + b"\n" if offset + len(line) < len(data) else line
        lines.append((offset, whole))
        offset += len(whole)
    return lines


def _newline_of(data: bytes) -> bytes:
    """Return how the first line of a file ends."""
    at = data.find(b"\n")
    return b"\r\n" if at > 0 and data[at - 1 : at] == b"\r" else b"\n"


def _describe(found: list[bytes], marks: SectionMarks) -> str:
    """Return what is wrong with the marks."""
    odd = [line for line in found if line not in (marks.begin, marks.end)]
    if odd:
        return f"line {odd[0][:60].decode('utf-8', 'replace')!r} is like a mark of ours"
    begins, ends = found.count(marks.begin), found.count(marks.end)
    if begins == ends == 1:
        return "end mark stands before the begin mark"
    return f"marks do not make one pair: {begins} begin, {ends} end"
