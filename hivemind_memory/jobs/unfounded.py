"""Finds what a language model says that no text it was given says. Pure.

Numbers, paths, identifiers and quoted names can be compared by machine; whether a
sentence is true cannot.
"""

from __future__ import annotations

import re

from hivemind_memory.jobs.replies import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\s\"'`“”„«»()\[\]{}<>,;]+")
_IN_NAME = re.compile(
    r"""
    [\w]/[\w] | [a-z0-9]_[a-z0-9] | [a-z][A-Z] | \w\.[a-z]\w | \w::\w | ://
    | (?<![\w])[~.]?/[\w] | --\w | @\w | \w\d | \d\w
    """,
    re.VERBOSE,
)
"""What makes a word a path, an address, an option, or an identifier as programs have
them. Each word is looked at once: in one pattern, a long word takes minutes."""

_QUOTED = re.compile(
    r"\"([^\"\n]{1,120})\"|`([^`\n]{1,120})`|[“„]([^”“\n]{1,120})[”“]"
    r"|«([^»\n]{1,120})»|(?<!\w)'([^'\n]{1,120})'(?!\w)"
)
_AROUND = ".,:;!?…"


def find_unfounded(text: str, sources: Iterable[str]) -> str:
    """Return what a text says and no source does; empty: nothing that can be compared.

    It is the first such number, path, identifier or quoted name.

    >>> find_unfounded("Port 5433 of `db1`.", ["db1 listens on 5432"])
    '5433'
    """
    text, given = plain(text), plain(" ".join(" ".join(sources).split()))
    folded = given.casefold()
    numbers = set(_NUMBER.findall(given))
    for name in _names_in(text):
        if " ".join(name.split()).casefold() not in folded:
            return name
    # Digits of a longer number are another number.
    return next((each for each in _NUMBER.findall(text) if each not in numbers), "")


def _names_in(text: str) -> Iterator[str]:
    """Yield the paths, identifiers and quoted names of a text."""
    for match in _QUOTED.finditer(text):
        yield next(part for part in match.groups() if part is not None).strip(_AROUND)
    for match in _WORD.finditer(text):
        if _IN_NAME.search(match[0]):
            yield match[0].strip(_AROUND)
