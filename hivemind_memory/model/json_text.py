"""Reads text that a person typed and that may be JSON."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class InvalidJsonError(ValueError):
    """A text is not JSON; the message is a sentence about one that begins like it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The value begins like JSON, but is not valid: {why}.")


def begins_like_json(text: str) -> bool:
    """Return whether a text begins as an object, an array or a string of JSON does."""
    return text.lstrip()[:1] in ("{", "[", '"')


def parse_json(text: str) -> object:
    """Return the value that a text is in JSON, which has no NaN and no infinity.

    >>> parse_json('{"a": [1]}')
    {'a': [1]}

    Raises:
        InvalidJsonError: It is not JSON, or cannot be read as such.
    """
    import json

    def refuse(name: str) -> NoReturn:
        raise InvalidJsonError(f"JSON has no {name}")

    try:
        return json.loads(text, parse_constant=refuse)
    except InvalidJsonError:
        raise
    except json.JSONDecodeError as error:
        raise InvalidJsonError(str(error)) from error
    except RecursionError as error:
        raise InvalidJsonError("it is nested too deeply") from error
    except ValueError as error:  # Python's limit for the digits of an integer
        raise InvalidJsonError("a number has too many digits") from error
