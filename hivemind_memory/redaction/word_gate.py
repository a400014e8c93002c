"""Finds the words of rules in a text: the first check of every text.

To search a text for each of hundreds of words takes longer than to index it. But a text
has few different pieces between its blanks, and most of these stood in an earlier text:
what a piece holds is remembered. A piece that may be a token never is.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from hivemind_memory.redaction.spans import found_at, shortest_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping

    GatePattern = tuple[re.Pattern[str], tuple[str, ...]]
    """A pattern, and the words with which all it finds begins, if there are such."""

SHORTEST_TOKEN = 14  # what the rules ask for at least
LONG = 28  # from here on it need not have a digit
_DIGITS = frozenset("0123456789")
_MAX_KEPT = 50_000
"""Pieces remembered, some 4 MB; then all are forgotten."""

_MAX_NEW = 500
"""A text with more new pieces is not worth remembering: it repeats few of them."""


class WordGate:
    """Finds which of some words stand in a text."""

    __slots__ = ("_parts", "_patterns", "_plain", "_spaced", "_telling")

    def __init__(
        self, words: Iterable[str], patterns: Mapping[str, GatePattern]
    ) -> None:
        """Make a gate.

        Args:
            words: In lower case; those with blanks count whole.
            patterns: Name -> what finds it in the pieces of a text.
        """
        self._patterns = tuple(patterns.items())
        parts: dict[str, None] = {}
        self._spaced: list[tuple[str, str]] = []
        for word in dict.fromkeys(words):
            part = max(word.split(), key=len)
            parts[part] = None
            if part != word:
                self._spaced.append((part, word))
        self._parts = tuple(
            (part, tuple(other for other in parts if part in other and other != part))
            for part in shortest_parts(parts)
        )
        self._plain: set[str] = set()
        self._telling: dict[str, tuple[str, ...]] = {}

    def words_in(self, low: str) -> tuple[set[str], set[str]]:
        """Return which words stand in a text, and the pieces that are not plain.

        Args:
            low: A text in lower case.

        Returns:
            The words, and all pieces between blanks that hold a word or may be a token.
        """
        pieces = set(low.split()).difference(self._plain)
        found: set[str] = set()
        if not pieces:
            return found, pieces
        new = []
        for piece in pieces:
            told = self._telling.get(piece)
            if told is None:
                new.append(piece)
            else:
                found.update(told)
        if new:
            found.update(self._learn(new))
        for part, word in self._spaced:
            if part in found and word in low:
                found.add(word)
        return found, pieces

    def _learn(self, pieces: list[str]) -> list[str]:
        """Return which words stand in some pieces, and remember what each holds."""
        joined = "\n".join(pieces)
        places = list(self._places(joined))
        if len(pieces) > _MAX_NEW:
            return [word for _, word in places]
        if len(self._plain) + len(self._telling) > _MAX_KEPT:
            self._plain.clear()
            self._telling.clear()
        told: list[dict[str, None]] = [{} for _ in pieces]
        ends = list(accumulate(len(piece) + 1 for piece in pieces))
        for at, word in places:
            told[bisect_right(ends, at)][word] = None
        for piece, words in zip(pieces, told, strict=True):
            if may_be_token(piece):
                continue
            if words:
                self._telling[piece] = tuple(words)
            else:
                self._plain.add(piece)
        return [word for _, word in places]

    def _places(self, joined: str) -> Iterator[tuple[int, str]]:
        """Yield where words stand in some pieces, and what the patterns find."""
        for shortest, longer in self._parts:
            if shortest in joined:
                for word in (shortest, *longer):
                    at = joined.find(word)
                    while at >= 0:
                        yield at, word
                        at = joined.find(word, at + 1)
        for name, (pattern, starts) in self._patterns:
            found = (
                found_at(pattern, joined, joined, starts)
                if starts
                else pattern.finditer(joined)
            )
            for match in found:
                yield match.start(), name


def may_be_token(piece: str) -> bool:
    """Whether a text without blanks is long enough for what rules look for."""
    return len(piece) >= LONG or (
        len(piece) >= SHORTEST_TOKEN and not _DIGITS.isdisjoint(piece)
    )
