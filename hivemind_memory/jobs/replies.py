"""Tells a reply that says nothing from one that is of no use."""

from __future__ import annotations

from contextlib import contextmanager

from hivemind_memory.errors import ChatReplyError
from hivemind_memory.providers.errors import useless_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.model.ports import Chat

_PLAIN = str.maketrans(
    {"\u2010": "-", "\u2011": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " "}
)


def rows_in(reply: Mapping[str, object], name: str) -> list[object]:
    """Return the list that a reply has under a name; an empty one says: nothing.

    Small models reply with a single row, or with the schema that they were told.

    Raises:
        ValueError: It has no such list; the message is the end of a sentence.
    """
    rows = reply.get(name)
    if not isinstance(rows, list):
        raise unusable(f"without a list of {name}")
    return rows


def plain(text: str) -> str:
    """Return a text with the hyphens and spaces that people type and search for.

    Some models write others that look alike, also within names and paths.
    """
    return text.translate(_PLAIN)


def unusable(why: str) -> ValueError:
    """Return the error for a reply of no use; *why* is the end of a sentence."""
    return ValueError(why)


@contextmanager
def read_from(chat: Chat) -> Iterator[None]:
    """Let what reads a reply raise ``ChatReplyError`` instead of ``ValueError``.

    Args:
        chat: Whose reply it is.
    """
    try:
        yield
    except ValueError as error:
        message = useless_text(chat.name, str(error))
        raise ChatReplyError(message) from None
