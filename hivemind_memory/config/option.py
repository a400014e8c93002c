"""One row of the table of options: everything about it but its value."""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from typing import Any

INFINITY = float("inf")


class Option:
    """The properties of one option, without its value.

    Not a dataclass, for speed: two dozen are made before every cold answer.
    """

    __slots__ = (
        "check",
        "choices",
        "default",
        "description",
        "env",
        "high",
        "is_secret",
        "is_url",
        "kind",
        "low",
        "name",
    )

    name: str
    """Key under ``memory`` in config.json."""

    kind: str
    """bool, int, float, str, ``str | None``, list: of texts, or dict: a JSON object."""

    check: str
    """The function in ``objects`` that knows what may be in it; empty: none is
    needed."""

    env: tuple[str, ...]
    """Environment variables that set it, the first one that is set wins."""

    def __init__(  # noqa: PLR0913 - a row has as many arguments as the table columns
        self,
        default: object,
        description: str,
        *,
        low: float = -INFINITY,
        high: float = INFINITY,
        choices: tuple[str, ...] = (),
        is_url: bool = False,
        is_secret: bool = False,
        also_env: str = "",
        check: str = "",
    ) -> None:
        self.name = ""
        self.kind = ""
        self.default = default
        self.description = description
        self.low = low
        self.high = high
        self.choices = choices
        self.is_url = is_url
        self.is_secret = is_secret
        self.env = (also_env,) if also_env else ()
        self.check = check


def is_writable(text: str) -> bool:
    r"""Return whether the system takes a text as a path or as a word of a command.

    >>> is_writable("/srv/notes"), is_writable("a\0b"), is_writable("\ud800")
    (True, False, False)
    """
    try:
        return b"\0" not in text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False


def option(default: object, description: str, **columns: Any) -> Any:
    """Return a row of the table, as the type checker takes a field's default."""
    return Option(default, description, **columns)


def share(default: float, text: str) -> Any:
    """Return the field of an option from 0 to 1."""
    return option(default, text, low=0, high=1)
