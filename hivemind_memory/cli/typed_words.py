"""What a word of the command line is: text, a number, several words in quotes."""

from __future__ import annotations

import os

from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.cli.command import Flag


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


def next_word(
    name: str, flag: Flag, rest: list[str], known: Iterable[str], effect: str = ""
) -> str:
    """Take the value of an option from the words after it.

    Args:
        name: The option, as it was typed.
        flag: What it is.
        rest: The words after it; the value is taken from them.
        known: What is no value.
        effect: What was not done, for the error.
    """
    if not rest or rest[0] in known:
        message = f"`{name}` needs a value: {flag.metavar}."
        if rest:
            message = f"`{name}` needs a value, but the next word is `{rest[0]}`."
        hint = f"`{flag.names[-1]}={rest[0]}` gives it one." if rest else ""
        raise UsageError(message, hint=hint or flag.description, effect=effect)
    return rest.pop(0)


def empty_option(name: str, flag: Flag, effect: str = "") -> UsageError:
    """Return the error for an option without a value: to leave it out says the same.

    A variable of a script that is not set would otherwise pass for that.
    """
    hint = f"Leave it out, or give it one: {flag.names[-1]} {flag.metavar}."
    return UsageError(f"The value of `{name}` is empty.", hint=hint, effect=effect)
