"""Checks the values of a memory before it is saved. Pure.

``validate_texts`` runs twice in each save: before secrets are looked for, and on the
texts without them, because masking changes lengths.
"""

from __future__ import annotations

from datetime import datetime

from hivemind_memory.errors import UnknownTypeError, UsageError
from hivemind_memory.model.citation import parse_source_ref, parse_writer
from hivemind_memory.model.memory_types import resolve_type
from hivemind_memory.model.trust import SOURCES
from hivemind_memory.model.value import replaced
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
    new = validate_texts(wanted, limit_chars=limit_chars)
    if not new.key:
        raise _invalid("the key is blank", "A key is short, like deploy-lesson.")
    return replaced(
        new,
        type=_validate_type(wanted.type, types),
        importance=validate_fraction("importance", wanted.importance),
        visibility=_validate_choice("visibility", wanted.visibility, _VISIBILITIES),
        expires=_validate_date("expires", wanted.expires),
        source=_validate_choice("source", wanted.source, SOURCES),
    )


def validate_texts(wanted: NewMemory, *, limit_chars: int) -> NewMemory:
    """Return a new memory with its texts as they will be written; none is too long.

    Quick for texts of any length, so it comes before what is not: a search for secrets
    takes seconds for megabytes.

    Raises:
        UsageError: One is too long, or cannot be written; the message says why.
    """
    return replaced(
        wanted,
        key=_validate_line("key", wanted.key, MAX_KEY_CHARS),
        content=_validate_content(wanted.content, limit_chars),
        reason=_validate_line("reason", wanted.reason),
        related=_validate_items("related", wanted.related),
        contradicts=_validate_items("contradicts", wanted.contradicts),
        tags=_validate_items("tags", wanted.tags),
        by=parse_writer("by", _validate_line("by", wanted.by)),
        session=parse_writer("session", _validate_line("session", wanted.session)),
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
        raise _invalid(f"{name} cannot be {value!r}", "Give a number from 0 to 1.")
    return float(value)


def _validate_type(name: str, types: Mapping[str, MemoryType]) -> str:
    """Return the name of a type; empty: none is given."""
    if not name.strip():
        return ""
    try:
        return resolve_type(name, types).name
    except UnknownTypeError as error:
        raise UnknownTypeError(
            error.problem, hint=error.hint, effect="Nothing was saved"
        ) from error


def _validate_content(content: str, limit_chars: int) -> str:
    """Return the content as it is written to the file."""
    refuse_binary("content", content)
    text = fit_content(content)
    if not text:
        raise _invalid("the content is empty", "Give the text to remember.")
    if len(text) > limit_chars:
        raise _invalid(
            f"the content has {len(text):,} characters; the limit for a memory is"
            f" {limit_chars:,}",
            "Shorten it, or write it to a note, which may be longer.",
        )
    return text


def _validate_line(name: str, text: str, limit_chars: int = MAX_LINE_CHARS) -> str:
    """Return a text of the front matter without blank edges."""
    refuse_surrogates(name, text)
    fit = text.strip()
    if len(fit) > limit_chars:
        raise _invalid(
            f"the {name} has {len(fit):,} characters; the limit is {limit_chars:,}",
            "Shorten it; the content may be longer.",
        )
    return fit


def _validate_items(name: str, items: tuple[str, ...]) -> tuple[str, ...]:
    """Return the items of a list, without blanks and duplicates."""
    if len(items) > MAX_ITEMS:
        raise _invalid(
            f"{name} has {len(items):,} items; the limit is {MAX_ITEMS}", "Give fewer."
        )
    fit = (_validate_line(name, item, MAX_LINE_CHARS) for item in items)
    return tuple(dict.fromkeys(item for item in fit if item))


def _validate_choice(name: str, text: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices; upper and lower case are the same."""
    fit = text.strip().lower()
    if fit not in choices:
        named = ", ".join(choice for choice in choices if choice)
        raise _invalid(f"{name} cannot be {text[:60]!r}", f"Give one of {named}.")
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
        raise _invalid(f"{name} cannot be {text[:60]!r}", "Give a day: 2027-01-31.")
    return fit


def _invalid(clause: str, hint: str) -> UsageError:
    """Return the error for a value that cannot be saved."""
    return UsageError(f"{clause}.", hint=hint, effect="Nothing was saved")
