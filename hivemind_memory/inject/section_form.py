"""Tells a section that ``hm inject`` wrote from a person's text between such marks.

In the file that is injected into, the headline below the first mark tells: what follows
may have been cut short or added to by a person, or be of another version of the
program, in another worktree. In any other file there is no reason to edit a section.
There it begins with the guide, word for word. Below it there are only quoted lines,
blank lines and what says that there is more. Any other line, or a code fence around it,
makes it a person's text: documentation, say. That is never removed; the hooks of
``commit_check`` refuse its marks, so nothing of a section slips out with it.

The rule is here twice: for git as a ``sed`` script, and in Python for an eject and a
purge. A test compares the two.
"""

from __future__ import annotations

import re

from hivemind_memory.files.marked_section import SECTION_MARKS
from hivemind_memory.inject.section import CREATED, guide_lines, other_lines
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANKS = bytes(range(33)) + b"\x7f"
_QUOTED = ">[^[:cntrl:]]*"
_QUOTE = r">[^\x00-\x1f\x7f]*"
_FENCE = lazy_re(rb" {0,3}(`{3,}|~{3,})")
_COUNT, _NOUN = "COUNT", "NOUN"

BEGIN_MARK = "<!-- hivemind:begin v[0-9]* -->"
"""The first line of a section, of any version, for every sed; see ``SECTION_MARKS``."""

MARK_TAIL = "[[:cntrl:][:blank:]]*$"
"""What may follow a mark in its line."""


HEADLINE = guide_lines(has_tools=True)[0]
"""First line of every section, of every version of the program."""


def is_injected(body: str) -> bool:
    r"""Return whether ``hm inject`` wrote what is between two marks.

    >>> is_injected("## Hivemind Memory (auto-injected, do not edit)\nedited")
    True
    """
    lines = body.removeprefix(f"{CREATED}\n").split("\n")
    return lines[0].rstrip() == HEADLINE


def line_pattern(line: str) -> str:
    """Return a pattern for a line, for Python and for every sed."""
    text = re.sub(r"[^A-Za-z0-9 ,:;-]", ".", line)
    return text.replace(_COUNT, "[A-Za-z0-9 ]*").replace(_NOUN, "memor[iesy]*")


_GUIDES = tuple(
    zip(
        map(line_pattern, guide_lines(has_tools=True)),
        map(line_pattern, guide_lines(has_tools=False)),
        strict=True,
    )
)
"""For each line of the guide: with and without the tools."""

_OTHERS = tuple(map(line_pattern, other_lines(_COUNT, _NOUN)))


def _steps() -> Iterator[str]:
    """Yield the commands for ``sed``; only what every sed supports.

    The hold space is empty, or has the run of characters that opened a fence, or an x:
    marks that are not ours were seen, so from there on nothing is removed.
    """
    yield from ("/^ \\{0,3\\}[`~<]/!b", f"/^{BEGIN_MARK}{MARK_TAIL}/!bf")
    yield from ("x", "/./{", "x", "b", "}", "x")
    yield from ("$b", "N", f"/\\n{line_pattern(CREATED)}{MARK_TAIL}/{{", "$b", "N", "}")
    for at, (tools, commands) in enumerate(_GUIDES):
        yield from ("$b", "N") if at else ()
        if tools != commands:
            yield f"/\\n{tools}{MARK_TAIL}/bg{at}"
        yield f"/\\n{commands}{MARK_TAIL}/!bx"
        if tools != commands:
            yield f":g{at}"
    yield from (":r", "$b", "N", f"/\\n{SECTION_MARKS.end.decode()}{MARK_TAIL}/d")
    for line in ("", _QUOTED, *_OTHERS):
        yield f"/\\n{line}{MARK_TAIL}/br"
    yield from (":x", "x", "s/^/x/", "x", "b")
    # A fence opens, unless a backtick follows its first ones.
    yield from (":f", "/^ *```/bo", "/^ *~~~/!b", ":o", "x", "/./!{", "x")
    yield from ("/^ *``*[^`]*[^`]`/b", "h", "s/^ *//", "/^`/s/[^`].*//")
    yield from ("/^~/s/[^~].*//", "x", "b", "}")
    # It closes with as many of the same, or more. A line itself never passes G, which
    # can give it a newline at the end of a file.
    yield from ("G", f"/^\\(``*\\)\\n *\\1`*{MARK_TAIL}/s/.*//")
    yield from (f"/^\\(~~*\\)\\n *\\1~*{MARK_TAIL}/s/.*//", "s/\\n.*//", "x")


CLEAN_COPY = "LC_ALL=C sed " + " ".join(f"-e '{step}'" for step in _steps())
"""The command that git runs for a file that we did not inject into."""


def without_sections(data: bytes) -> bytes:
    r"""Return *data* without the sections that ``hm inject`` wrote.

    >>> without_sections(b"<!-- hivemind:begin v1 -->\nmine\n<!-- hivemind:end -->\n")
    b'<!-- hivemind:begin v1 -->\nmine\n<!-- hivemind:end -->\n'
    """
    if SECTION_MARKS.lookalikes[0] not in data:
        return data
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    kept: list[bytes] = []
    at, fence = 0, b""
    while at < len(lines):
        is_begin = re.fullmatch(BEGIN_MARK.encode(), lines[at].rstrip(_BLANKS))
        if is_begin and not fence:
            stop = _section_end(lines, at + 1)
            if not stop:
                break
            at = stop
        else:
            kept.append(lines[at])
            fence = _fence_after(fence, lines[at])
            at += 1
    return b"".join((*kept, *lines[at:]))


def _section_end(lines: list[bytes], at: int) -> int:
    """Return where a section ends whose second line is at *at*; 0: it is not ours."""
    if at < len(lines) and lines[at].rstrip(_BLANKS) == CREATED.encode():
        at += 1
    for patterns in _GUIDES:
        if at == len(lines) or not _is_one_of(lines[at], patterns):
            return 0
        at += 1
    for stop, line in enumerate(lines[at:], start=at + 1):
        if line.rstrip(_BLANKS) == SECTION_MARKS.end:
            return stop
        if not _is_one_of(line, ("", _QUOTE, *_OTHERS)):
            return 0
    return 0


def _is_one_of(line: bytes, patterns: tuple[str, ...]) -> bool:
    """Return whether a line matches a pattern, blanks at its end apart."""
    text = line.rstrip(_BLANKS)
    return any(re.fullmatch(pattern.encode(), text) for pattern in patterns)


def _fence_after(fence: bytes, line: bytes) -> bytes:
    """Return what opened the code fence that a line is in or opens; empty: none."""
    found = _FENCE.match(line)
    if not found:
        return fence
    run, rest = found[1], line[found.end() :].rstrip(_BLANKS)
    if fence:
        return b"" if run.startswith(fence) and not rest else fence
    return b"" if run[:1] == b"`" and b"`" in rest else run
