"""Reads the front matter that most notes have, without a YAML parser.

Each line is a key with a word, a number, a day, a text in quotes or a list of those, as
this program writes it. One line of another form, and the parser has to look. What is
taken here has the values that the parser finds; a test compares them.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re

MAX_CHARS = 4096
"""A longer block is left to the parser, which bounds how much it reads."""

# Bounded, for a longer number is an id: it stays text, and keeps its leading zeros.
_INTEGER = lazy_re(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = lazy_re(r"[-+]?[0-9]{0,18}(?:\.[0-9]{1,18}(?:[eE][-+]?[0-9]{1,2})?)")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NAME = r"[A-Za-z_][\w./+-]*"
_NUMBER = r"[-+]?[0-9]{1,18}(?:\.[0-9]{1,18})?(?![\w.])|[0-7][0-9A-Z]{25}"
_QUOTED = r'"[ !#-\[\]-~]*"'
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.+-]*[0-9Z])?"
_ADDRESS = r"https?://[\w./+%~=-]+"
_TEXT = rf"{_NAME}(?: [\w./+,;()'-]+)*"
_ITEM = rf"(?:{_NAME}(?: [\w./+;()'-]+)*|{_NUMBER}|{_QUOTED})"
_LIST = rf"\[(?:{_ITEM}(?:, *{_ITEM})*)?\]"
_LINE = lazy_re(
    r"([A-Za-z_][\w-]*):"
    rf"(?: +({_ADDRESS}|{_TEXT}|{_TIME}|{_NUMBER}|{_QUOTED}|{_LIST}))? *\n",
    re.ASCII,
)
_ITEMS = lazy_re(_ITEM, re.ASCII)


def simple_values(source: str) -> dict[str, object] | None:
    """Return the mapping that a simple front matter says.

    Args:
        source: The lines between the fences, their ends ``LF``.

    Returns:
        None: Only the parser knows.
    """
    if not source or len(source) > MAX_CHARS:
        return None
    values: dict[str, object] = {}
    at = 0
    while at < len(source):
        line = _LINE.match(source, at)
        if line is None:
            return None
        at = line.end()
        key, text = line[1], line[2] or ""
        if text.startswith("["):
            values[key] = [_value(item) for item in _ITEMS.findall(text)]
        else:
            values[key] = _value(text)
    return values


def _value(text: str) -> object:
    """Return what a word, a number or a text in quotes means."""
    return text[1:-1] if text.startswith('"') else scalar(text)


def scalar(text: str) -> object:
    """Return what an unquoted scalar means in YAML 1.2; a date stays text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
