"""Checks what may be saved under a key, and suggests a type for it. Pure.

A value that passes here is not checked again. The type is suggested by a few rules for
English text that would rather stay silent than be wrong; each names the words it saw.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from hivemind_memory.errors import UsageError
from hivemind_memory.model.memory_types import resolve_type
from hivemind_memory.model.place import parse_source_ref
from hivemind_memory.model.trust import SOURCES
from hivemind_memory.notes.memory_file import fit_content
from hivemind_memory.notes.writer import refuse_binary, refuse_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.curation import NewMemory
    from hivemind_memory.model.memory_types import MemoryType


MAX_KEY_CHARS = 200
MAX_LINE_CHARS = 1_000
"""Characters of a reason, and of every other text in the front matter."""

MAX_ITEMS = 50
"""Items of each list: tags, related, contradicts."""

_VISIBILITIES = ("", "public", "private")


def validate_memory(
    wanted: NewMemory, *, limit_chars: int, types: Mapping[str, MemoryType]
) -> NewMemory:
    """Return a new memory as it will be written: types by name, texts stripped.

    Args:
        wanted: As the caller gave it.
        limit_chars: Characters that the content may have.
        types: Types defined in config.json.

    Raises:
        UsageError: It cannot be saved; the message says why in one sentence.
        UnknownTypeError: There is no such type.
    """
    key = _validate_line("key", wanted.key, MAX_KEY_CHARS)
    if not key:
        raise _invalid("the key is blank", "A key is short, like deploy-lesson.")
    return replace(
        wanted,
        key=key,
        content=_validate_content(wanted.content, limit_chars),
        type=resolve_type(wanted.type, types).name if wanted.type.strip() else "",
        reason=_validate_line("reason", wanted.reason),
        importance=validate_fraction("importance", wanted.importance),
        visibility=_validate_choice("visibility", wanted.visibility, _VISIBILITIES),
        related=_validate_items("related", wanted.related),
        contradicts=_validate_items("contradicts", wanted.contradicts),
        expires=_validate_date("expires", wanted.expires),
        tags=_validate_items("tags", wanted.tags),
        by=_validate_line("by", wanted.by),
        session=_validate_line("session", wanted.session),
        source=_validate_choice("source", wanted.source, SOURCES),
        source_ref=parse_source_ref(wanted.source_ref),
    )


def validate_fraction(name: str, value: float | None) -> float | None:
    """Return a number from 0 to 1, or None.

    Raises:
        UsageError: It is something else.
    """
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # NaN fails both comparisons.
    if not is_number or not 0 <= value <= 1:
        raise _invalid(f"{name} must be a number between 0 and 1", f"Got {value!r}.")
    return float(value)


def _validate_content(content: str, limit_chars: int) -> str:
    """Return the content as it is written to the file."""
    refuse_binary("content", content)
    text = fit_content(content)
    if not text:
        raise _invalid("the content is blank", "Give the text to remember.")
    if len(text) > limit_chars:
        raise _invalid(
            f"the content has {len(text):,} characters, and a memory holds at most"
            f" {limit_chars:,}",
            "Shorten it; memory_write takes longer texts.",
        )
    return text


def _validate_line(name: str, text: str, limit_chars: int = MAX_LINE_CHARS) -> str:
    """Return a text of the front matter without blank edges."""
    refuse_surrogates(name, text)
    fit = text.strip()
    if len(fit) > limit_chars:
        raise _invalid(
            f"the {name} has {len(fit):,} characters, at most {limit_chars:,} fit",
            "Shorten it; the content may be longer.",
        )
    return fit


def _validate_items(name: str, items: tuple[str, ...]) -> tuple[str, ...]:
    """Return the items of a list, without blanks and duplicates."""
    if len(items) > MAX_ITEMS:
        raise _invalid(
            f"{name} has {len(items):,} items, at most {MAX_ITEMS} fit", "Give fewer."
        )
    fit = (_validate_line(name, item, MAX_LINE_CHARS) for item in items)
    return tuple(dict.fromkeys(item for item in fit if item))


def _validate_choice(name: str, text: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices; upper and lower case are the same."""
    fit = text.strip().lower()
    if fit not in choices:
        named = ", ".join(choice for choice in choices if choice)
        raise _invalid(f"{name} must be one of {named}", f"Got {text[:60]!r}.")
    return fit


def _validate_date(name: str, text: str) -> str:
    """Return an ISO 8601 date, with or without a time."""
    fit = text.strip()
    try:
        # Later code reads the first ten characters only.
        is_fit = not fit or datetime.fromisoformat(fit).date().isoformat() == fit[:10]
    except ValueError:
        is_fit = False
    if not is_fit:
        raise _invalid(f"{name} must be a date like 2027-01-31", f"Got {text[:60]!r}.")
    return fit


def _invalid(clause: str, hint: str) -> UsageError:
    """Return the error for a value that cannot be saved."""
    return UsageError(f"{clause}.", hint=hint, effect="Nothing was saved")


# The start of a sentence or of a list item.
_START = r"(?:^|[.!?:]\s+)[\s>*-]*"
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
