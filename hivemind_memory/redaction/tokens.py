"""Tells which rules for tokens a text needs, and applies them; most texts need none."""

from __future__ import annotations

from hivemind_memory.redaction.keywords import EXACT, FOLDED
from hivemind_memory.redaction.spans import TextSpan, blocks_with, lowered
from hivemind_memory.redaction.word_gate import may_be_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def by_tokens(text: str, low: str, pieces: Iterable[str]) -> list[TextSpan]:
    """Return what the rules find; most texts have nothing that they would look at.

    Args:
        text: The whole text.
        low: The same in lower case, line for line.
        pieces: Its pieces between blanks that may be a token, in lower case.
    """
    long, near = _long_parts(text, low, pieces)
    some = " ".join(long)
    exact = [word for word in EXACT if word in some]
    folded = [word for word in FOLDED if word in near]
    if not exact and not folded:
        return []
    from hivemind_memory.redaction.rules import by_rules

    return by_rules(text, low, exact, folded)


def _long_parts(text: str, low: str, pieces: Iterable[str]) -> tuple[list[str], str]:
    """Return the lines with a part that may be a value, and what stands near them.

    A name says something on the line of its value, or on the line above.
    """
    long: list[str] = []
    near: list[str] = []
    for start, end in blocks_with(low, pieces):
        long.append(text[start:end])
        above = low.rfind("\n", 0, max(0, start - 1)) + 1
        near.append(low[above:end])
    return long, "\n".join(near)


def in_plain(plain: str) -> list[TextSpan]:
    """Return what a text has that stood in base64."""
    low = lowered(plain)
    spans = by_tokens(plain, low, filter(may_be_token, set(low.split())))
    if "PRIVATE KEY" in plain:
        from hivemind_memory.redaction.private_keys import private_keys

        spans += private_keys(plain)
    return spans
