"""Suggests a type for a text by its words: which words make it a lesson, an identity.

A few rules for English text that would rather stay silent than be wrong; each names the
words that it saw. Pure.
"""

from __future__ import annotations

import re

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.patterns.lazy_pattern import lazy_re

# The start of a sentence or of a list item.
_START = r"(?:^|[.!?:]\s)[\s>*-]*+"
_GENERAL = frozenset({"context", "fact", "observation", "event", "reference"})
"""Types that say little: only against these may a hint contradict the caller."""

_MAX_CHARS = 2_000


class TypeHint(NamedTuple):
    """The type that a text reads like."""

    type: str
    words: str
    """The words that suggest it."""


class _Rule(NamedTuple):
    """A wording that is typical of a type."""

    type: str
    pattern: re.Pattern[str]
    fits: frozenset[str]
    """Other types for which such a text is fine."""

    is_strong: bool = False
    """It may contradict a type that the caller chose."""


def _rule(kind: str, pattern: str, *fits: str, is_strong: bool = False) -> _Rule:
    """Return one rule."""
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return _Rule(kind, compiled, frozenset(fits), is_strong)


_RULES = (
    _rule(
        "todo",
        r"^[\s>*-]*+((?:todo|fixme)\b|\[ \] \S+)",
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
_ADDRESS = lazy_re(r"https?://\S+")


def suggest_type(
    content: str, *, chosen: str = "", default: str = ""
) -> TypeHint | None:
    """Return the type that a text reads like, if it differs from the one it has.

    Args:
        content: The text to save.
        chosen: The type that the caller chose; empty: none.
        default: The type that the text gets if none is chosen.

    >>> suggest_type("Never deploy on Fridays.", default="context")
    TypeHint(type='lesson', words='Never deploy')
    >>> suggest_type("The tests never ran on Windows.", default="context")
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
