r"""Decodes bytes to text and splits lines, whatever the bytes are.

One line model for the whole program: a line ends at ``"\n"`` and nowhere else. A
carriage return, a form feed, U+2028 and the like are characters of their line, so line
numbers agree with grep and git. Nothing here knows Markdown.
"""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"


def decode(data: bytes) -> str:
    r"""Return *data* as text that can always be encoded again.

    Broken UTF-8 becomes U+FFFD, so no surrogate can appear; a byte order mark at the
    start is left out. Everything else, NUL included, stays as it is.

    >>> decode(b"caf\xe9")
    'caf�'
    """
    return data.removeprefix(_BOM).decode("utf-8", "replace")


def is_utf8(data: bytes) -> bool:
    r"""Return whether all of *data* is UTF-8.

    >>> is_utf8(b"caf\xc3\xa9"), is_utf8(b"caf\xe9")
    (True, False)
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def encodable(text: str) -> str:
    """Return *text* with lone surrogates replaced by U+FFFD.

    Text that came through JSON or ``os.fsdecode`` may hold them, and a file cannot.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def split_lines(text: str) -> list[str]:
    r"""Return the lines of *text* without their ``"\n"``.

    A last newline ends its line and does not begin another.

    >>> split_lines("a\r\n\nb\n")
    ['a\r', '', 'b']
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def is_blank(line: str) -> bool:
    """Return whether Markdown sees nothing on a line."""
    return not line.strip(" \t\r")


def plain(text: str) -> str:
    """Return *text* fit to be searched: no carriage return, no NUL, no blank edges.

    The indentation of the first line stays, for it may be code.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "�")
    text = text.rstrip()
    edge = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, edge) + 1 :]


def without_comments(text: str) -> str:
    r"""Return *text* without the HTML comments that have their lines to themselves.

    One in a fence is code, and one that shares a line with text stays.

    >>> without_comments("# Title\n<!-- For you:\nwrite here. -->\nText <!-- x -->")
    '# Title\nText <!-- x -->'
    """
    if "<!--" not in text:
        return text
    kept: list[str] = []
    lines = text.split("\n")
    fence = ""
    at = 0
    while at < len(lines):
        line = lines[at].lstrip()
        is_code = bool(fence) or lines[at].startswith(("    ", "\t"))
        if line.startswith(("```", "~~~")):
            fence = "" if fence and line.startswith(fence) else fence or line[:3]
        if is_code or not line.startswith("<!--"):
            kept.append(lines[at])
            at += 1
            continue
        end = at
        while end < len(lines) and "-->" not in lines[end]:
            end += 1
        # Lines of a comment that is not closed, or that text follows, are kept as one:
        # none is looked at twice.
        if end == len(lines) or lines[end].partition("-->")[2].strip():
            kept += lines[at : end + 1]
        at = end + 1
    return "\n".join(kept)
