r"""Makes text safe to show: no note may steer a terminal or hide from a reader.

What is escaped is shown as it would stand in JSON or Python: ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# C0 without tab and newline, delete, C1: what terminals obey.
_CONTROL = (*range(9), *range(11, 32), *range(127, 160))
# What is not seen, or turns the direction of what is: soft hyphen, Arabic letter mark,
# Hangul and Khmer fillers, zero-width space, direction marks, separators, embeddings,
# word joiner and invisible operators, isolates, BOM, annotations, tags.
_INVISIBLE = (
    0xAD,
    0x61C,
    *(0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFFA0),
    *(0x200B, 0x200E, 0x200F),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
# Joiners make one emoji of several and shape Persian and Indic words; between ASCII
# letters they can only hide something.
_JOINERS = "\u200c\u200d"


def _escape(code: int) -> str:
    """Return how one character is shown."""
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(code: int) -> str:
    """Return how one character stands in JSON, above 16 bits as two halves."""
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _table(codes: Iterable[int]) -> dict[int, str]:
    return {code: _escape(code) for code in codes}


_FOR_PIPE = _table(_CONTROL)
_FOR_TERMINAL = _table((*_CONTROL, *_INVISIBLE))
_ON_ONE_LINE = {9: "\\t", 10: "\\n", **_FOR_TERMINAL}


def escape_for_pipe(text: str) -> str:
    """Return *text* without characters that steer a terminal, should it meet one."""
    return _unix_lines(text).translate(_FOR_PIPE)


def escape_for_terminal(text: str) -> str:
    """Return *text* with everything visible that steers, turns or hides."""
    shown = _unix_lines(text).translate(_FOR_TERMINAL)
    if shown.isascii():
        return shown
    if any(joiner in shown for joiner in _JOINERS):
        shown = _show_joiners(shown)
    return shown.encode("utf-8", "backslashreplace").decode()


def escape_line(text: str) -> str:
    """Return *text*, a name or a message, as one visible line."""
    shown = text.translate(_ON_ONE_LINE)
    return shown.encode("utf-8", "backslashreplace").decode()


def escape_json(text: str) -> str:
    """Return JSON *text* of the same value that steers no terminal and hides nothing.

    Such characters stand only within strings, and there an escape means the same.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    codes = (127, *range(128, 160), *_INVISIBLE, *map(ord, _JOINERS))
    return text.translate({code: _json_escape(code) for code in codes})


def _unix_lines(text: str) -> str:
    """Return *text* without the carriage returns that belong to line ends."""
    return text.replace("\r\n", "\n") if "\r" in text else text


def _show_joiners(text: str) -> str:
    """Show the joiners that have ASCII, or the edge of the text, on either side."""
    pieces = []
    for at, character in enumerate(text):
        is_joiner = character in _JOINERS
        around = text[at - 1 : at], text[at + 1 : at + 2]
        if is_joiner and any(not side or side.isascii() for side in around):
            character = _escape(ord(character))  # noqa: PLW2901 - the one that is shown
        pieces.append(character)
    return "".join(pieces)
