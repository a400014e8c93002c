r"""Makes text fit to show: escaped, cut to a length, a number with its noun.

No note may control a terminal or hide text from a reader: one list for every place
where a person or a model reads, the terminal, a pipe, JSON, answers over MCP and the
section. What is escaped is shown as it would stand in JSON or Python: ``\x1b``,
``\u202e``.
"""

from __future__ import annotations

import re
from functools import cache

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NAMED = 5
"""Of many names, so many are told."""

"""Notes that a notice names one by one."""

_MAX_PLACES = 3
"""Places that are named where one text is in several."""

# C0 without tab and newline, delete, C1: what terminals obey.
_CONTROL = (*range(9), *range(11, 32), *range(127, 160))
# Ranges of what is not seen, turns the direction of what is, or looks unlike on every
# machine. Unicode's Default_Ignorable_Code_Point is complete here, unassigned ones too.
_HIDDEN = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x2028, 0x202E),  # with the separators of lines and paragraphs
    (0x2060, 0x206F),
    (0x2800, 0x2800),  # the blank pattern of Braille
    (0x3164, 0x3164),
    (0xD800, 0xF8FF),  # surrogates, private use
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0D),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),  # with the marks of annotations
    (0xFFFE, 0xFFFF),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    *((plane | 0xFFFE, plane | 0xFFFF) for plane in range(0x10000, 0xE0000, 0x10000)),
    (0xE0000, 0xE0FFF),
    (0xEFFFE, 0x10FFFF),  # private use to the end
)
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
# Symbols that an emoji is made of, the only ones that need a selector.
_EMOJI = (
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf"
    "\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)


MAX_ERROR_CHARS = 2_000
"""Longest error of a command: it may repeat what was typed."""

_ENDLESS = lazy_re(r"([^\s/]{60})[^\s/]{196,}")
"""A word that is longer than any name of a file may be."""

_COMMAND = lazy_re(r"`[^`]*`")
_OPTION = lazy_re(r"(?<![\w-])--[a-z]")


_OPENERS = frozenset({"A", "An", "Cannot", "It", "Its", "No", "Only", "The", "There"})
_OPENERS |= {"This", "That", "These"}


def clause(text: str) -> str:
    """Return a sentence as it stands behind a colon; a name at its start stays.

    >>> clause("No language model is chosen.")
    'no language model is chosen'
    >>> clause("Ollama does not answer.")
    'Ollama does not answer'
    """
    first, space, rest = text.partition(" ")
    first = first.lower() if first in _OPENERS else first
    return f"{first}{space}{rest}".removesuffix(".")


def behind_text(why: str) -> str:
    """Return what is said beside an answer of an index that is behind its notes.

    >>> behind_text("the disk is full")
    'Recent changes may be missing: the disk is full'
    """
    return f"Recent changes may be missing: {why}" if why else ""


def not_indexed_text(paths: Sequence[str], of_one: str, of_several: str) -> str:
    """Return that large notes are not indexed yet, and what an answer may so lack.

    Args:
        paths: The notes, at least one.
        of_one: The consequence for a single note, as a clause.
        of_several: The same for several.
    """
    is_one = len(paths) == 1
    return (
        f"{first_few(paths)} {'is' if is_one else 'are'} large and"
        f" not indexed yet, so {of_one if is_one else of_several};"
        f" the next search indexes {'it' if is_one else 'them'}"
    )


def _escape(code: int) -> str:
    """Return how one character is shown."""
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(code: int) -> str:
    """Return how one character is in JSON, above 16 bits as two halves."""
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


@cache  # and not at import: text of ASCII alone needs none
def _pattern(extra: str) -> re.Pattern[str]:
    """Return what matches a hidden character, or one of some more."""
    ranges = "".join(f"{chr(first)}-{chr(last)}" for first, last in _HIDDEN)
    return re.compile(f"[{ranges}{extra}]")


_FOR_TEXT = {code: _escape(code) for code in _CONTROL}
_FOR_LINE = {9: "\\t", 10: "\\n", **_FOR_TEXT}
_SUSPECT = _JOINERS + _SELECTORS
_RANGES = (*_HIDDEN, *((ord(code), ord(code)) for code in _SUSPECT))
_FEW_CODES = 64
_SUSPECT_IN_JSON = f"{_SUSPECT}\x7f-\x9f"


def escape_text(text: str) -> str:
    """Return *text* with everything visible that steers, turns or hides."""
    return _show_hidden(_unix_lines(text).translate(_FOR_TEXT))


def escape_line(text: str) -> str:
    """Return *text*, a name or a message, as one visible line."""
    return _show_hidden(text.translate(_FOR_LINE))


def escape_json(text: str) -> str:
    """Return JSON *text* of the same value that steers no terminal and hides nothing.

    Such characters are only within strings, and there an escape means the same.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    show = _pattern(_SUSPECT_IN_JSON).sub
    return show(lambda found: _json_escape(ord(found[0])), text)


def shorten(text: str, limit_chars: int) -> str:
    """Return *text*, or as much of it as fits with an ellipsis into *limit_chars*.

    >>> shorten("harbour", 7), shorten("harbour", 6)
    ('harbour', 'harbo…')
    """
    if len(text) <= limit_chars:
        return text
    return f"{text[: limit_chars - 1]}…" if limit_chars > 0 else ""


def shorten_words(text: str, limit_chars: int) -> str:
    """Return a message of bounded length, its longest words cut.

    No part of a path is as long as the words that are cut.

    >>> shorten_words(f"There is no key {'x' * 5000} here.", 2000)[-20:]
    'xxxxxxxxxxxxx… here.'
    """
    return shorten(_ENDLESS.sub(r"\1…", text), limit_chars)


def without_options(hint: str) -> str:
    """Return a hint without the clauses that tell a client to pass an option.

    An agent or a program can pass none. A whole command is for a person: it stays.

    >>> without_options("`hm init` makes it; --memory-dir names another")
    '`hm init` makes it'
    """
    clauses = hint.split("; ")
    kept = [
        clause for clause in clauses if not _OPTION.search(_COMMAND.sub("", clause))
    ]
    return "; ".join(kept)


def age_text(age_s: float) -> str:
    """Return how long something took or is ago, in its largest unit.

    >>> age_text(2.4), age_text(7_300), age_text(90_000)
    ('2 s', '2 h', '1 d')
    """
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if age_s >= seconds:
            return f"{age_s // seconds:.0f} {unit}"
    return f"{age_s:.0f} s"


def listed(names: Sequence[str]) -> str:
    """Return some names as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def first_few(
    names: Sequence[str], limit: int = MAX_NAMED, *, between: str = ", "
) -> str:
    """Return the first names, and how many more there are.

    >>> first_few(["a", "b"]), first_few(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    >>> first_few(["a: x", "b: y"], 1, between="; ")
    'a: x; and 1 more'
    """
    more = len(names) - limit
    join = " " if between == ", " else between
    return between.join(names[:limit]) + (
        f"{join}and {more:,} more" if more > 0 else ""
    )


def count_text(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count_text(1, "note"), count_text(1_200, "entry", "entries")
    ('1 note', '1,200 entries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _unix_lines(text: str) -> str:
    """Return *text* without the carriage returns that belong to line ends."""
    return text.replace("\r\n", "\n") if "\r" in text else text


def _show_hidden(text: str) -> str:
    """Show what is hidden, except where a script or an emoji needs it."""
    if text.isascii() or not _has_suspect(text):
        return text
    return _pattern(_SUSPECT).sub(_shown, text)


def _has_suspect(text: str) -> bool:
    """Return whether a pattern may find something; of few characters, it is known.

    Compiling the pattern takes longer than the rest of an answer with an é in it.
    """
    codes = [ord(letter) for letter in set(text) if letter > "\x7f"]
    if len(codes) > _FEW_CODES:
        return True
    return any(first <= code <= last for code in codes for first, last in _RANGES)


def _shown(found: re.Match[str]) -> str:
    """Return a suspect character, escaped unless it is needed where it is."""
    text, at = found.string, found.start()
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if found[0] in _JOINERS:
        # They make one emoji of several and shape Persian and Indic words. Between
        # ASCII letters, or next to each other, they can only hide something.
        is_needed = all(map(_is_joined, (before, after)))
    elif found[0] in _SELECTORS and before.isascii():
        is_needed = before in tuple("#*0123456789") and after == _KEYCAP
    else:
        is_needed = found[0] in _SELECTORS and bool(re.match(_EMOJI, before))
    return found[0] if is_needed else _escape(ord(found[0]))


def _is_joined(side: str) -> bool:
    """Return whether a joiner may have this character on a side."""
    if not side or side.isascii():
        return False
    return side == "\ufe0f" or not _pattern(_SUSPECT).match(side)


def hidden_in(text: str) -> list[str]:
    """Return the characters that ``escape_text`` would show, in order.

    >>> hidden_in("pay \u202e001"), hidden_in("tea")
    (['\u202e'], [])
    """
    control = [letter for letter in text if ord(letter) in _FOR_TEXT]
    if text.isascii():
        return control
    found = _pattern(_SUSPECT).finditer(text)
    return control + [at[0] for at in found if _shown(at) != at[0]]


def lines_text(path: str, start_line: int, end_line: int) -> str:
    """Return lines of a note as all commands and tools take them.

    >>> lines_text("a.md", 3, 5), lines_text("a.md", 3, 3)
    ('a.md:3-5', 'a.md:3')
    """
    last = f"-{end_line}" if end_line != start_line else ""
    return f"{path}:{start_line}{last}"


def places_text(places: Sequence[str]) -> str:
    """Return the first places, and how many more there are.

    >>> places_text(["a.md:1-2", "b.md:1-2", "c.md:1-2", "d.md:1-2"])
    'a.md:1-2, b.md:1-2, c.md:1-2 and 1 more place'
    """
    rest = len(places) - _MAX_PLACES
    more = f" and {count_text(rest, 'more place')}" if rest > 0 else ""
    return ", ".join(places[:_MAX_PLACES]) + more
