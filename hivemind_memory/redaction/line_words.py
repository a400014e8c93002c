"""Where the words of rules stand in a text, line by line.

A rule is dear on a whole text and cheap on the lines that hold one of its words. The
gate has seen each piece of the text, so no rule searches the text for its words again.
"""

from __future__ import annotations

from itertools import accumulate

from hivemind_memory.redaction.spans import lowered, matches_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    Piece = tuple[tuple[str, ...], tuple[str, ...], int, bool]
    """Of a text between blanks: the words it holds, the words with a blank that it may
    be a part of, what it looks like, and whether it may be a token."""

_NOWHERE = -1
_TELLING = 2  # as in ``pieces.Look``


class LineWords:
    """The lines of a text, and the words of rules on each."""

    __slots__ = (
        *("_rows", "doubtful", "lines", "low", "odd", "starts", "telling", "text"),
        *("_asked", "knows_all", "tokens"),
    )

    def __init__(self, text: str, low: str, lines: list[str]) -> None:
        """Begin with no words; the gate adds them, line by line."""
        self.text = text
        self.low = low
        """The text in lower case, letter for letter."""

        self.lines = lines
        self.starts = [0, *accumulate(len(line) + 1 for line in lines)]
        """Where each line begins, and where one after the last would."""

        self.telling: dict[int, None] = {}
        """Numbers of the lines with a piece that looks like a secret, in order."""

        self.doubtful: dict[int, None] = {}
        """The same for pieces that are a secret where something says so."""

        self.odd: dict[str, list[int]] = {}
        """Pieces that look so -> the numbers of their lines."""

        self.tokens: dict[str, list[int]] = {}
        """Pieces that may be a token -> the numbers of their lines."""

        self.knows_all = False
        """Whether the gate has looked for the words of every form."""

        self._rows: dict[str, list[int]] = {}
        self._asked: dict[str, int] = {}
        """Words with a blank -> the last line that was searched for each."""

    def add(self, known: Mapping[str, Piece]) -> None:
        """Add what the gate knows of pieces of this text."""
        # One loop without calls: it sees every piece of a text.
        rows_of, odd, tokens = self._rows, self.odd, self.tokens
        telling, doubtful, told = self.telling, self.doubtful, known.get
        for row, line in enumerate(self.lines):
            for piece in line.split():
                what = told(piece)
                if what is None:
                    continue
                words, spaced, look, is_token = what
                for word in words:
                    rows = rows_of.get(word)
                    if rows is None:
                        rows_of[word] = [row]
                    elif rows[-1] != row:
                        rows.append(row)
                if spaced:
                    self._add_spaced(row, spaced)
                if look:
                    _add_row(odd, piece, row)
                    (telling if look == _TELLING else doubtful)[row] = None
                if is_token:
                    _add_row(tokens, piece, row)

    def _add_spaced(self, row: int, words: tuple[str, ...]) -> None:
        """Add those of some words with a blank that are on a line."""
        asked, low = self._asked, self.low
        for word in words:
            # A line may be the whole text, and each of its pieces a part of the word.
            last = asked.get(word)
            if last is None and word not in low:
                asked[word] = _NOWHERE
                continue
            if last in (row, _NOWHERE):
                continue
            asked[word] = row
            if word in low[self.starts[row] : self.starts[row + 1] - 1]:
                _add_row(self._rows, word, row)

    def only(self, lines: list[str], rows: dict[int, int]) -> LineWords:
        """Return some of the lines with their words, among others without any.

        Args:
            lines: These lines and the others.
            rows: Number of a line here -> its number among *lines*, in order.
        """
        text = "\n".join(lines)
        kept = LineWords(text, lowered(text), lines)
        kept.odd = _renumbered(self.odd, rows)
        kept.tokens = _renumbered(self.tokens, rows)
        kept._rows = _renumbered(self._rows, rows)
        return kept

    def __contains__(self, word: str) -> bool:
        """Whether a word is in the text."""
        return word in self._rows

    def words(self, some: AbstractSet[str]) -> set[str]:
        """Return which of some words are in the text."""
        # The smaller one is gone through: of a note, that is what it has.
        if len(some) > len(self._rows):
            return {word for word in self._rows if word in some}
        return self._rows.keys() & some

    def has_any(self, words: AbstractSet[str]) -> bool:
        """Whether one of some words is in the text."""
        return not self._rows.keys().isdisjoint(words)

    def rows(self, words: Iterable[str]) -> list[int]:
        """Return the numbers of the lines with one of some words, in order."""
        here = self.words(words) if isinstance(words, (set, frozenset)) else words
        some = [self._rows[word] for word in here if word in self._rows]
        if len(some) < 2:
            return some[0] if some else []
        return sorted(set().union(*some))

    def line_at(self, row: int) -> tuple[int, int]:
        """Return where a line begins and ends."""
        return self.starts[row], self.starts[row + 1] - 1

    def blocks(
        self, rows: Iterable[int], *, above: int = 0, below: int = 0
    ) -> list[tuple[int, int]]:
        """Return where some lines begin and end, neighbors as one.

        Args:
            rows: Their numbers, in order.
            above: Lines above that belong to each.
            below: Lines below that belong to each.
        """
        joined: list[tuple[int, int]] = []
        last_row = len(self.lines) - 1
        for row in rows:
            first, last = max(0, row - above), min(last_row, row + below)
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
            else:
                joined.append((first, last))
        return [
            (self.starts[first], self.starts[last + 1] - 1) for first, last in joined
        ]

    def near(
        self,
        pattern: re.Pattern[str],
        words: Iterable[str],
        *,
        above: int = 0,
        below: int = 0,
    ) -> Iterator[re.Match[str]]:
        """Return what a pattern finds on lines that hold a word; see ``blocks``."""
        rows = self.rows(words)
        # No generator where there is nothing to look at: that is nearly always so.
        return self.on(pattern, rows, above=above, below=below) if rows else iter(())

    def on(
        self,
        pattern: re.Pattern[str],
        rows: Iterable[int],
        *,
        above: int = 0,
        below: int = 0,
    ) -> Iterator[re.Match[str]]:
        """Yield what a pattern finds on some lines; see ``blocks``."""
        for start, end in self.blocks(rows, above=above, below=below):
            yield from pattern.finditer(self.text, start, end)

    def at(
        self, pattern: re.Pattern[str], words: Iterable[str]
    ) -> Iterator[re.Match[str]]:
        """Yield what a pattern finds, if all it finds begins with one of some words.

        Args:
            pattern: Of many words, which takes long to search a text for.
            words: In lower case.
        """
        places: set[int] = set()
        for word in self._rows.keys() & words:
            for row in self._rows[word]:
                stop = self.starts[row + 1]
                at = self.low.find(word, self.starts[row], stop)
                while at >= 0:
                    places.add(at)
                    at = self.low.find(word, at + 1, stop)
        return matches_at(pattern, self.text, places) if places else iter(())


def _add_row(places: dict[str, list[int]], word: str, row: int) -> None:
    """Add the number of a line to those of a word; later lines come later."""
    rows = places.get(word)
    if rows is None:
        places[word] = [row]
    elif rows[-1] != row:
        rows.append(row)


def _renumbered(
    places: dict[str, list[int]], rows: dict[int, int]
) -> dict[str, list[int]]:
    """Return what is on some lines, whose numbers are others now."""
    return {
        word: some
        for word, old in places.items()
        if (some := [rows[row] for row in old if row in rows])
    }
