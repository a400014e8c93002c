"""Tells which words that rules need stand in a text: every text is asked this first.

To search a text for each of hundreds of words takes longer than to index it. But a text
has few different pieces between its blanks, and most of these stood in an earlier text:
what a piece holds is remembered. A piece that may be a token never is.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping

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
        self, words: Iterable[str], patterns: Mapping[str, re.Pattern[str]]
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
        self._parts = tuple(parts)
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
        present = [part for part in self._parts if part in joined]
        patterns = [one for one in self._patterns if one[1].search(joined)]
        named = [name for name, _ in patterns]
        if len(pieces) > _MAX_NEW:
            return present + named
        if len(self._plain) + len(self._telling) > _MAX_KEPT:
            self._plain.clear()
            self._telling.clear()
        for piece in pieces:
            if may_be_token(piece):
                continue
            told = [part for part in present if part in piece]
            told += [name for name, pattern in patterns if pattern.search(piece)]
            if told:
                self._telling[piece] = tuple(told)
            else:
                self._plain.add(piece)
        return present + named


def may_be_token(piece: str) -> bool:
    """Whether a text without blanks is long enough for what rules look for."""
    return len(piece) >= LONG or (
        len(piece) >= SHORTEST_TOKEN and not _DIGITS.isdisjoint(piece)
    )
