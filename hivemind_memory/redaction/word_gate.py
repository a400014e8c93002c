"""Finds the words of rules in a text, and what its pieces look like: the first check.

To search a text for each of hundreds of words takes longer than to index it. But a text
has few different pieces between its blanks, and most of these stood in an earlier text:
what a piece holds is remembered. A piece that may be a token never is.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from hivemind_memory.redaction.judgments import remember
from hivemind_memory.redaction.line_words import LineWords
from hivemind_memory.redaction.spans import found_at, lowered

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from hivemind_memory.redaction.line_words import Piece

    GatePattern = tuple[re.Pattern[str], tuple[str, ...]]
    """A pattern, and the words with which all it finds begins, if there are such."""

SHORTEST_TOKEN = 14  # what the rules ask for at least
LONG = 28  # from here on it need not have a digit
_DIGITS = frozenset("0123456789")
_START = 3
"""Letters by which words are looked up: most of a text's begin none of them."""

_MAX_KEPT = 50_000
"""Pieces remembered, some 4 MB; then all are forgotten."""

_MAX_NEW = 5_000
"""A text with more new pieces is not worth remembering: it repeats few of them."""


class WordGate:
    """Finds which of some words are in a text, and on which lines."""

    __slots__ = (
        "_look",
        "_memory",
        "_once",
        "_patterns",
        "_short",
        "_spaced",
        "_words",
    )

    def __init__(
        self,
        words: Iterable[str],
        patterns: Mapping[str, GatePattern],
        look: Callable[[str], Mapping[str, int]] | None = None,
    ) -> None:
        """Make a gate.

        Args:
            words: In lower case; those with blanks count whole.
            patterns: Name -> what finds it in the pieces of a text.
            look: Returns what the pieces of a text look like, if they are not plain:
                see ``suspects.pieces``. Without it every piece is.
        """
        self._look = look
        self._patterns = tuple(patterns.items())
        self._spaced: dict[str, tuple[str, ...]] = {}
        self._words: dict[str, list[str]] = {}
        parts: dict[str, None] = {}
        for word in dict.fromkeys(words):
            part = max(word.split(), key=len)
            parts[part] = None
            if part != word:
                self._spaced[part] = (*self._spaced.get(part, ()), word)
        for part in parts:
            self._words.setdefault(part[:_START], []).append(part)
        self._short = [start for start in self._words if len(start) < _START]
        self._memory: tuple[set[str], dict[str, Piece]] = (set(), {})
        self._once: dict[str, Piece | None] = {}
        remember(self._once)

    def read(self, text: str) -> LineWords:
        """Return which words are on the lines of a text, and what its pieces are."""
        plain, told = self._memory
        if len(plain) + len(told) > _MAX_KEPT:
            # Another thread may still read with what is forgotten here.
            plain, told = self._memory = (set(), {})
        there = LineWords(text, lowered(text), text.split("\n"))
        there.knows_all = self._look is not None
        marked = set(text.split()).difference(plain)
        new = marked.difference(told)
        once: dict[str, Piece | None] = {}
        if new:
            # A copy: another thread may forget all of them at any time.
            once = dict(self._once)
            new = new.difference(once)
            if new:
                once |= self._learn(new, plain, told)
        known = {
            piece: what
            for piece in marked
            if (what := told.get(piece) or once.get(piece)) is not None
        }
        if known:
            there.add(known)
        return there

    def _learn(
        self, new: Collection[str], plain: set[str], told: dict[str, Piece]
    ) -> dict[str, Piece | None]:
        """Remember what some pieces hold; return those known for this text alone."""
        joined = "\n".join(new)
        low = joined.lower()
        if len(low) != len(joined):
            low = "\n".join(map(lowered, new))
        ends = list(accumulate(len(piece) + 1 for piece in new))
        held: dict[int, set[str]] = {}
        for at, word in self._places(low):
            held.setdefault(bisect_right(ends, at), set()).add(word)
        is_kept = len(new) <= _MAX_NEW
        looks = self._look(joined) if self._look else {}
        once: dict[str, Piece | None] = {}
        for place, piece in enumerate(new):
            words, look = held.get(place, ()), looks.get(piece, 0)
            is_token = len(piece) >= SHORTEST_TOKEN and may_be_token(piece)
            if words or look or is_token:
                spaced = [
                    spaced_word
                    for word in words
                    for spaced_word in self._spaced.get(word, ())
                ]
                memory = told if is_kept and not is_token else once
                memory[piece] = (tuple(words), tuple(spaced), look, is_token)
            elif is_kept:
                plain.add(piece)
            else:
                once[piece] = None
        self._once.update(once)
        return once

    def _places(self, low: str) -> Iterator[tuple[int, str]]:
        """Yield where words are in some pieces, and what the patterns find."""
        starts = {low[at : at + _START] for at in range(len(low) - _START + 1)}
        for start in (*self._short, *self._words.keys() & starts):
            for word in self._words[start]:
                at = low.find(word)
                while at >= 0:
                    yield at, word
                    at = low.find(word, at + 1)
        for name, (pattern, words) in self._patterns:
            found = (
                found_at(pattern, low, low, words) if words else pattern.finditer(low)
            )
            for match in found:
                yield match.start(), name


def may_be_token(piece: str) -> bool:
    """Whether a text without blanks is long enough for what rules look for."""
    return len(piece) >= LONG or (
        len(piece) >= SHORTEST_TOKEN and not _DIGITS.isdisjoint(piece)
    )
