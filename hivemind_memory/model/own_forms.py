"""Names that this program makes: ids, keys of claims, names of files, fields.

Who hides secrets asks here what is none: a hash in a key looks as random as a password.
"""

from __future__ import annotations

from hivemind_memory.model.memories import CLAIM_FIELDS, PROGRAM_FIELDS
from hivemind_memory.patterns.lazy_pattern import lazy_re

CLAIM_PREFIX = "learn:"
"""How the key of a claim begins."""

PROGRAM_KEY_PREFIX = "uuid-"
"""Before the id, in the key of a memory that a program writes over HTTP: alone, an id
would look like a secret there. A key is searched, and hardly any query has the word."""

CLAIM_HASH_CHARS = 12
"""Of the hash at its end."""

FIELDS = (
    *("id", "type", "key", "importance", "visibility", "created", "updated", "by"),
    *("session", "source", "supersedes", "reason", "related", "contradicts"),
    *("source_ref", "pinned", "done", "expires", "tags"),
)
"""The keys of a front matter that this program writes, in their order."""

STATUS_FIELDS = ("superseded_by", "superseded", "forgotten")
"""Those that say that a memory is no longer active."""

NAMED_FIELDS = frozenset((*FIELDS, *STATUS_FIELDS, *CLAIM_FIELDS, *PROGRAM_FIELDS)) - {
    "reason"
}
"""All but the one in which a person or an agent writes a sentence."""

UUID_FORM = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""How a UUID looks, as a pattern."""

ULID_FORM = "[0-7][0-9A-HJKMNP-TV-Z]{25}"
"""How a ULID of any time looks, as a pattern."""

# Of the years 2004 to 2039: a key of a network in hexadecimal may have as many digits.
_ULID = "01[0-9A-HJKMNP-TV-Z]{24}"
_FORMS = (
    rf"{_ULID}|(?P<key>[^\s:A-Z]{{1,80}})--{_ULID}(?:\.md)?"
    rf"|{CLAIM_PREFIX}(?P<topic>[^\s:]{{1,80}}):[0-9a-f]{{{CLAIM_HASH_CHARS}}}"
    rf"|memory-[0-9a-f]{{8}}|{PROGRAM_KEY_PREFIX}{UUID_FORM}"
)
_OWN = lazy_re(_FORMS)
_WITHIN = lazy_re(rf"(?<![^\W_])(?:{_FORMS})(?![^\W_])")
_ID = lazy_re(_ULID)
_ANY_ULID = lazy_re(ULID_FORM)
_SHORTEST, _LONGEST = 15, 120


def is_ulid(text: str) -> bool:
    """Return whether a text is a ULID, whoever made it."""
    return _ANY_ULID.fullmatch(text) is not None


def is_own_id(text: str) -> bool:
    """Return whether a text is an id as this program makes them: a ULID."""
    return _ID.fullmatch(text) is not None


def is_own_name(text: str) -> bool:
    """Return whether a text is a name that this program makes.

    >>> is_own_name("learn:pip:3fd4e0dfd2a6"), is_own_name("learn:pip:hunter2")
    (True, False)
    """
    return len(text) >= _SHORTEST and _OWN.fullmatch(text) is not None


def own_name_around(text: str, start: int, end: int) -> str | None:
    """Return what a caller chose of such a name, if a part of a text is in one.

    None: it is in none. Empty: the program made all of it.

    >>> own_name_around("see learn:pip:3fd4e0dfd2a6", 14, 26)
    'pip'
    """
    if end - start > _LONGEST:
        return None
    around = text[max(0, start - _LONGEST) : end + _LONGEST]
    shift = start - max(0, start - _LONGEST)
    for name in _WITHIN.finditer(around):
        if name.start() <= shift and name.end() >= shift + end - start:
            return name["key"] or name["topic"] or ""
    return None
