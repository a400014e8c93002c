"""Checks one value against its row of the table. Reads nothing."""

from __future__ import annotations

from hivemind_memory.config.option import INFINITY, is_writable
from hivemind_memory.model.json_text import (
    InvalidJsonError,
    begins_like_json,
    parse_json,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.config.option import Option

_TRUE = frozenset(("1", "true", "yes", "on"))
_FALSE = frozenset(("0", "false", "no", "off"))


class InvalidPartError(ValueError):
    """Something within an object is not allowed; the message is a sentence about it."""


def check_value(option: Option, value: object) -> object:
    """Return *value* as the option's type, as it is in config.json.

    Raises:
        ValueError: It is of another type, or outside what is allowed; the message is
            ``allowed_values(option)``.
        InvalidPartError: It is an object, and a part of it is not allowed.
    """
    checked = value
    if option.kind == "float" and type(value) is int:
        checked = _to_float(value, option)
    if not _has_kind(option, checked) or not _is_allowed(option, checked):
        raise ValueError(allowed_values(option))
    if option.check and checked != option.default:
        _check_parts(option, checked)
    return checked


def parse_value(option: Option, text: str) -> object:
    """Return what *text*, from the environment or a command line, means.

    Raises:
        ValueError: It means nothing that the option may be.
    """
    value: object = text
    try:
        if option.kind == "bool":
            value = _parse_bool(text)
        elif option.kind == "int":
            value = int(text)
        elif option.kind == "float":
            value = float(text)
        elif option.kind == "dict":
            value = parse_json(text)
        elif option.kind == "list":
            value = _parse_list(text)
        elif option.kind == "str | None" and text == "null":
            value = None
    except ValueError as error:
        raise ValueError(allowed_values(option)) from error
    return check_value(option, value)


def parse_part(text: str) -> object:
    """Return what *text* means as one part of an object: mostly itself.

    >>> parse_part("pi --fast"), parse_part('["pi", "--fast"]')
    ('pi --fast', ['pi', '--fast'])

    Raises:
        InvalidPartError: It begins like JSON but is not.
    """
    if not begins_like_json(text):
        return text
    try:
        return parse_json(text)
    except InvalidJsonError as error:
        raise InvalidPartError(str(error)) from error


def allowed_values(option: Option) -> str:
    """Return what the option may be, as the end of a sentence.

    >>> from hivemind_memory.config.settings import options
    >>> allowed_values(options()["min_score"])
    'a number from 0 to 1'
    """
    if option.choices:
        names = ", ".join(option.choices)
        return f"{'a list with any' if option.kind == 'list' else 'one'} of {names}"
    if option.kind == "bool":
        return "true or false"
    if option.kind in ("int", "float"):
        noun = "a whole number" if option.kind == "int" else "a number"
        bounds = f" from {option.low:.10g} to {option.high:.10g}"
        if option.high == INFINITY:
            bounds = f", {option.low:.10g} or more"
        return noun + bounds
    if option.is_url:
        return "a URL that begins with http:// or https:// and has a host"
    if option.kind == "dict":
        return "a JSON object"
    return "a string or null" if option.kind == "str | None" else "a string"


def _to_float(value: int, option: Option) -> float:
    """Return a whole number as a number; a very long one has no such form."""
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(allowed_values(option)) from error


def _check_parts(option: Option, value: object) -> None:
    """Ask the option's own function about the parts of an object."""
    # Loaded only if such an option is set.
    from hivemind_memory.config import objects

    complaint = getattr(objects, option.check)(value)
    if complaint:
        raise InvalidPartError(complaint)


def _has_kind(option: Option, value: object) -> bool:
    """Whether the value has the option's type; True is no whole number here."""
    if option.kind == "str | None":
        return value is None or type(value) is str
    return type(value).__name__ == option.kind


def _is_allowed(option: Option, value: object) -> bool:
    """Whether a value of the right type is within its bounds."""
    if isinstance(value, int | float):
        # Not the other way round: a comparison with NaN is never true.
        return option.low <= value <= option.high
    if isinstance(value, list):
        return all(name in option.choices for name in value)
    if not isinstance(value, str):
        return True
    if option.choices:
        return value in option.choices
    if option.is_url and value:
        return _is_address(value)
    return is_writable(value)


def _is_address(text: str) -> bool:
    """Whether a text names a scheme, a host and, if at all, a port that can be."""
    scheme, _, rest = text.partition("://")
    authority = rest.partition("/")[0].rpartition("@")[2]
    host, _, port = authority.rpartition(":")
    if ":" not in authority or authority.endswith("]"):  # without a port
        host, port = authority, "1"
    is_port = port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65_536
    is_text = text.isprintable() and " " not in text
    return (
        scheme in {"http", "https"} and host not in {"", "[]"} and is_port and is_text
    )


def _parse_list(text: str) -> object:
    """Return names that are separated by commas, or a JSON array.

    >>> _parse_list("context, "), _parse_list('["context"]')
    (['context'], ['context'])
    """
    if text.lstrip().startswith("["):
        return parse_json(text)
    return [name for part in text.split(",") if (name := part.strip())]


def _parse_bool(text: str) -> bool:
    """Return the boolean that a person meant."""
    folded = text.strip().lower()
    if folded in _TRUE or folded in _FALSE:
        return folded in _TRUE
    raise ValueError(text)
