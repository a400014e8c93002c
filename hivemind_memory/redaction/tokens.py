"""Tells which rules for tokens a text needs, and applies them; most texts need none."""

from __future__ import annotations

from hivemind_memory.redaction.keywords import EXACT, FOLDED
from hivemind_memory.redaction.spans import TextSpan, lowered
from hivemind_memory.redaction.word_gate import SHORTEST_TOKEN, may_be_token


def by_tokens(text: str, low: str) -> list[TextSpan]:
    """Return what the rules find; most texts have nothing that they would look at."""
    long, near = _long_parts(text, low)
    if not long:
        return []
    some = " ".join(long)
    exact = [word for word in EXACT if word in some]
    folded = [word for word in FOLDED if word in near]
    if not exact and not folded:
        return []
    from hivemind_memory.redaction.rules import by_rules

    return by_rules(text, low, exact, folded)


def _long_parts(text: str, low: str) -> tuple[list[str], str]:
    """Return the parts that may be a value, and what stands near them.

    A name says something on the line of its value, or on the line above.

    Args:
        text: The whole text.
        low: The same in lower case, line for line.
    """
    long: list[str] = []
    near: list[str] = []
    lows = low.split("\n")
    for at, line in enumerate(text.split("\n")):
        if len(line) < SHORTEST_TOKEN:
            continue
        parts = [part for part in line.split() if may_be_token(part)]
        if parts:
            long += parts
            near += lows[max(0, at - 1) : at + 1]
    return long, "\n".join(near)


def in_plain(plain: str) -> list[TextSpan]:
    """Return what a text has that stood in base64."""
    low = lowered(plain)
    spans = by_tokens(plain, low)
    if "PRIVATE KEY" in plain:
        from hivemind_memory.redaction.private_keys import private_keys

        spans += private_keys(plain)
    return spans
