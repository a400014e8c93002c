"""Which type a text reads like: a few plain rules, precise rather than eager. Pure.

English only. A rule that fires tells the words that made it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Where a sentence or an item of a list begins.
_START = r"(?:^|[.!?:]\s+)[\s>*-]*"
_GENERAL = frozenset({"context", "fact", "observation", "event", "reference"})
"""Types that say little: only for these a hint may speak against the person."""

_MAX_CHARS = 2_000


class TypeHint(NamedTuple):
    """What a text reads like."""

    type: str
    words: str
    """The words that say so."""


class _Rule(NamedTuple):
    """One way of speaking and the type that it is typical of."""

    type: str
    pattern: re.Pattern[str]
    fits: frozenset[str]
    """Other types that such a text may well have."""

    is_strong: bool = False
    """It may speak against a type that was chosen."""


def _rule(kind: str, pattern: str, *fits: str, is_strong: bool = False) -> _Rule:
    """Return one rule."""
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return _Rule(kind, compiled, frozenset(fits), is_strong)


_RULES = (
    _rule(
        "todo",
        r"^[\s>*-]*((?:todo|fixme)\b|\[ \] \S+)",
        "goal",
        is_strong=True,
    ),
    _rule("todo", _START + r"((?:we|i|someone) (?:still )?(?:need|needs|have) to)\b"),
    _rule(
        "decision",
        r"((?:\bwe|\bi|\bthe team)(?:'ve| have)? (?:decided|chose|chosen|agreed|settled"
        r" on|opted for)|^decision:)",
        "lesson",
        "historical",
        is_strong=True,
    ),
    _rule(
        "preference",
        r"\b((?:i|the user|the owner) (?:really |strongly )?(?:prefers?|likes?|hates?"
        r"|dislikes?)|my (?:preferred|favou?rite))\b",
        "identity",
        "lesson",
        is_strong=True,
    ),
    _rule("goal", _START + r"((?:the|our|my) goal is|(?:we|i) aim to)\b", "todo"),
    _rule(
        "identity",
        _START + r"(i am the|you are the|my name is)\b",
        "preference",
    ),
    _rule(
        "lesson",
        _START + r"((?:never|always|avoid|beware of|make sure (?:to|that))\b [\w'-]+)",
        *("preference", "decision", "identity"),
        is_strong=True,
    ),
    _rule(
        "historical",
        r"\b((?:completed|finished|shipped|retired|shut down)(?: \w+){0,3} (?:on|in)"
        r" \d{4}(?:-\d\d)?)",
        *("event", "context"),
    ),
)
_ADDRESS = re.compile(r"https?://\S+")


def type_hint(content: str, *, chosen: str = "", default: str = "") -> TypeHint | None:
    """Return the type that a text reads like, if it is another than it has.

    Args:
        content: What is saved.
        chosen: The type that was named; empty: none was.
        default: The type that it gets when none was named.

    >>> type_hint("Never deploy on Fridays.", default="context")
    TypeHint(type='lesson', words='Never deploy')
    >>> type_hint("The tests never ran on Windows.", default="context")
    """
    head = content[:_MAX_CHARS]
    for rule in _RULES:
        match = rule.pattern.search(head)
        if match is None:
            continue
        if chosen:
            fits = chosen == rule.type or chosen in rule.fits
            if fits or not rule.is_strong or chosen not in _GENERAL:
                return None
        elif default == rule.type:
            return None
        return TypeHint(rule.type, match[1])
    is_pointer = bool(_ADDRESS.search(head)) and len(_ADDRESS.sub("", head).split()) < 9
    if is_pointer and not chosen and default != "reference":
        return TypeHint("reference", "an address and little else")
    return None
