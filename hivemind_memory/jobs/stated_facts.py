"""What a text states exactly: numbers, paths and names, which can be looked up. Pure.

A language model may put a text in other words. It may not change a number, a path or a
name that is written as such.
"""

from __future__ import annotations

import re

from hivemind_memory.search.similarity import words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED = re.compile(
    r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|[“«„]([^”»“\n]{1,200})[”»“]"
)
_NAME = re.compile(
    r"""
    (?<![\w/])
    (?: --?[a-z][\w-]+                    # --option
      | [\w.~@-]*[/\\][\w./\\@:~-]+       # path, address
      | \w[\w-]*\.[a-z]\w{0,9}(?:\.\w+)*  # file.py, host.example
      | \w+_\w+                           # snake_case
      | [a-z]+[A-Z]\w+                    # camelCase
    )
    """,
    re.VERBOSE,
)
_EDGES = ".,;:!?'\"()[]"


def facts_in(text: str) -> frozenset[str]:
    """Return the numbers, paths and names of a text, in small letters.

    >>> sorted(facts_in('Run "make seed" on port 8081, see docs/ports.md.'))
    ['8081', 'docs/ports.md', 'make seed']
    """
    found = {match.group() for match in _NUMBER.finditer(text)}
    found |= {next(filter(None, match)) for match in _QUOTED.findall(text)}
    found |= {match.group() for match in _NAME.finditer(text)}
    return frozenset(filter(None, (_plain(fact).strip(_EDGES) for fact in found)))


def missing_facts(text: str, sources: Iterable[str]) -> frozenset[str]:
    """Return the facts of a text that none of some texts states.

    >>> sorted(missing_facts("Port 81 of `web`", ["web listens on 8081"]))
    ['81']
    """
    facts = facts_in(text)
    if not facts:
        return facts
    said = _plain("\n".join(sources))
    return frozenset(fact for fact in facts if not _is_in(fact, said))


def share_in(text: str, other: str) -> float:
    """Return how many of the words of a text another one has, 0..1."""
    words = words_in(text)
    return len(words & words_in(other)) / max(1, len(words))


def _is_in(fact: str, said: str) -> bool:
    """Return whether a fact stands in a text, not as a part of a longer number."""
    start = r"(?<!\d)(?<!\d[.,:])" if fact[:1].isdigit() else ""
    end = r"(?!\d)(?![.,:]\d)" if fact[-1:].isdigit() else ""
    return re.search(f"{start}{re.escape(fact)}{end}", said) is not None


def _plain(text: str) -> str:
    """Return a text in small letters with single spaces."""
    return " ".join(text.split()).casefold()
