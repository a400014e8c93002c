r"""Bytes to text and back, whatever the bytes are.

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
    """Tell whether Markdown sees nothing on a line."""
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
