"""What a word of the command line is: text, a number, several words in quotes."""

from __future__ import annotations

import os

from hivemind_memory.errors import UsageError


def decoded(word: str, effect: str) -> str:
    """Return a word of the command line as the person typed it.

    Under a locale without UTF-8 Python hands on each byte by itself.

    Raises:
        UsageError: It is not UTF-8; *effect* says what was not done.
    """
    try:
        word.encode()
    except UnicodeEncodeError:
        data = os.fsencode(word)
    else:
        return word
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        shown = data.decode("utf-8", "backslashreplace")
        message = f"`{shown}` is not UTF-8 text."
        hint = "Your terminal or script uses another encoding; type it in UTF-8."
        raise UsageError(message, hint=hint, effect=effect) from error


def is_number(word: str) -> bool:
    """Whether a word is a number, which may begin with a dash as options do."""
    try:
        float(word)
    except ValueError:
        return False
    return word[-1].isdigit()


def has_blank(text: str) -> bool:
    """Whether a blank or a newline is in *text*: no option has one in its name."""
    return any(map(str.isspace, text))
