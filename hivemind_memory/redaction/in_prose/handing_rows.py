"""Tells which lines may hand over a secret; all others are left without reading them.

Of the lines of documents one in thirty has a part of a word for a secret and something
odd. What is asked first is what is quickest: the words that the gate has found, then
the words of the line, then how its odd pieces look.
"""

from __future__ import annotations

from bisect import bisect_right

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.handing_evidence import Above
from hivemind_memory.redaction.in_prose.handing_labels import (
    ANY_CODES,
    CODE_STEMS,
    LOCKS,
    Label,
)
from hivemind_memory.redaction.in_prose.handing_state import BASE
from hivemind_memory.redaction.in_prose.handing_words import (
    HEADS,
    LONG_SURE_WORDS,
    OPENING,
    PARTS_OF_WORDS,
    SHORT_SURE_WORDS,
    WITH,
)
from hivemind_memory.redaction.in_prose.line_tokens import labels_in, words_of
from hivemind_memory.redaction.in_prose.spelled_out import digits_in
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.values.value_score import score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.redaction.line_words import LineWords

_MOST_ROWS_BELOW = 2
_SHORT_LINE = 110
_SHORT_ROW = 9
_SHORT_LABEL = 40
_LONGEST_PIECE = 200
_GROUP = 4
_LONG = 14  # letters alone that may look as odd as they must
_LEAST_LOOKS, _LEAST_BESIDE_A_PLACE, _CHOSEN = 2.0, 2.5, 3.0
_AROUND = "\"'`„“”«»「」『』()[]{}*_#.,;:!?。、"
_QUOTES = "\"'`„“”«»「」『』()[]{}*_#.,;:。、"
_JOINTS = lazy_re(r"[\"'`„“”«»「」『』()\[\]{}*,;:=。、<>|\u3040-\uffef]+|[.!?]+$")
_SHORT_HEAD = 60
_LONGEST_LIST = 10
_SPOKEN_CODES = frozenset(("code", "codes", "kod", "código", "codice"))
_LEAST_SPOKEN = 4
_NUMBER_WORDS = ANY_CODES | LOCKS | frozenset(CODE_STEMS)
_NUMBER = lazy_re(
    r"(?<![A-Za-z0-9_./:-])(?:\d{3,8}|\d{3}-\d{3}|\d\d?(?:-\d\d?){2,7})"
    r"(?![A-Za-z0-9_/:-])"
)
_SURE = LONG_SURE_WORDS | SHORT_SURE_WORDS | OPENING | _SPOKEN_CODES


class Rows:
    """The lines of a text that may hand over a secret."""

    __slots__ = (
        *("_heads", "_lines", "_lists", "_named", "_own", "_sure", "_there", "_words"),
    )

    def __init__(self, there: LineWords, words: set[str], own: frozenset[int]) -> None:
        """Look at the lines that name a secret, and at those around them.

        Args:
            there: The text.
            words: What it has of ``GATE_WORDS``.
            own: Numbers of the lines that are not read, and name nothing.
        """
        self._there, self._lines, self._words = there, there.lines, words
        self._own = own
        self._named = rows_naming(there, words) - own
        self._heads = [row for row in self._named if _is_head(self._lines[row].strip())]
        self._lists = self._in_lists()
        self._sure: set[int] = set()

    def to_read(self) -> list[int]:
        """Return the numbers of the lines to read, in order."""
        there, lines, words = self._there, self._lines, self._words
        below = self._below().union(self._lists)
        odd = self._with_odd_piece(below | _with_slash(there))
        sure = set(there.rows(words & LONG_SURE_WORDS))
        for row in there.rows(words & SHORT_SURE_WORDS):
            if row in odd or not SHORT_SURE_WORDS.isdisjoint(words_of(lines[row])):
                sure.add(row)
        for row in self._named.intersection(there.rows(words & _SPOKEN_CODES)):
            if sum(map(digits_in, words_of(lines[row]))) >= _LEAST_SPOKEN:
                sure.add(row)
        for row in there.rows(words & OPENING):
            said = words_of(lines[row])
            if not WITH.isdisjoint(said) and not OPENING.isdisjoint(said):
                sure.add(row)
        sure -= self._own
        coded = self._named.intersection(there.rows(words & _NUMBER_WORDS))
        numbers = {row for row in coded if _NUMBER.search(lines[row])}
        headed = {row for row in below if self._is_headed(row, sure)}
        self._sure = sure
        return sorted((sure | odd | numbers | headed) - self._own)

    def may_have_value(self, row: int, part: str) -> bool:
        """Whether a part of a line of ``to_read`` has what the line is read for."""
        low = part.lower()
        return (
            (row in self._sure and any(word in low for word in self._words & _SURE))
            or any(
                _looks_of(piece) >= _LEAST_LOOKS
                for piece in part.split()
                if piece in self._there.odd
            )
            or _NUMBER.search(part) is not None
        )

    def _with_odd_piece(self, near: set[int]) -> set[int]:
        """Return the lines with a piece that looks as odd as it must.

        Args:
            near: Lines on which less is enough than on those that name a secret.
        """
        odd: set[int] = set()
        some = near | self._named
        for piece, rows in self._there.odd.items():
            if some.isdisjoint(rows):
                continue
            looks = _looks_of(piece)
            if looks >= _LEAST_LOOKS:
                odd.update(near.intersection(rows))
            if looks >= _LEAST_BESIDE_A_PLACE:
                odd.update(self._named.intersection(rows))
        return odd

    def above(self, row: int) -> Above | None:
        """Return what the lines above call a value of a line, if they lead to it."""
        if row in self._lists:
            return self._lists[row]
        left = _MOST_ROWS_BELOW
        for upper in range(row - 1, max(-1, row - 4), -1):
            line = self._lines[upper].strip()
            if not line:
                continue
            if upper in self._heads and (said := _said_by_head(line)):
                return said
            left -= 1
            if not left:
                break
        return None

    def _is_headed(self, row: int, sure: set[int]) -> bool:
        """Whether a short line is below a heading that names a password."""
        lines = self._lines
        return lines[row].count(" ") < _SHORT_ROW and any(
            row - up in sure and lines[row - up].startswith("#") for up in (1, 2)
        )

    def _below(self) -> set[int]:
        """Return the lines with text below those that may lead to them."""
        below: set[int] = set()
        for row in self._heads:
            left = _MOST_ROWS_BELOW
            for lower in range(row + 1, min(row + 4, len(self._lines))):
                if left and self._lines[lower].strip():
                    below.add(lower)
                    left -= 1
        return below

    def _in_lists(self) -> dict[int, Above]:
        """Return the rows below a head that says that logins are listed."""
        lines = self._lines
        lists: dict[int, Above] = {}
        for row in self._there.rows(self._words & HEADS):
            if row in self._own:
                continue
            line = lines[row].strip()
            if len(line) > _SHORT_HEAD or not (
                line[0] in "#*=h" or line[-1] in ":*" or line.count(" ") < 3
            ):
                continue
            if HEADS.isdisjoint(words_of(line)):
                continue
            for lower in range(row + 1, min(row + 1 + _LONGEST_LIST, len(lines))):
                is_blank = not lines[lower].strip()
                if (is_blank and lower > row + 1) or lines[lower].startswith("#"):
                    break
                lists.setdefault(
                    lower, Above(label=Label.PASSWORD, base=1.5, is_list=True)
                )
        return lists


def rows_naming(there: LineWords, words: set[str]) -> set[int]:
    """Return the lines with one of some words that is no part of another word."""
    text, low, starts = there.text, there.low, there.starts
    named: set[int] = set()
    for word in words:
        rows = there.rows((word,))
        if word in PARTS_OF_WORDS or not word.isascii():
            named.update(rows)
            continue
        size = len(word)
        for row in rows:
            if row in named:
                continue
            stop = starts[row + 1] - 1
            at = low.find(word, starts[row], stop)
            while at >= 0:
                end = at + size
                is_begun = not low[at - 1 : at].isalpha() or text[at].isupper()
                if (is_begun or word == "code") and not low[end : end + 1].isalpha():
                    named.add(row)
                    break
                at = low.find(word, end, stop)
    return named


def _with_slash(there: LineWords) -> set[int]:
    """Return the lines with a slash between blanks, as in ``name / password``."""
    rows: set[int] = set()
    at = there.text.find(" / ")
    while at >= 0:
        rows.add(bisect_right(there.starts, at) - 1)
        at = there.text.find(" / ", at + 1)
    return rows


@asked_once
def _looks_of(piece: str) -> float:
    """Return how much what is in a text between blanks looks like a secret."""
    if len(piece) > _LONGEST_PIECE:
        return 0.0
    parts = {piece.strip(_AROUND), piece.strip(_QUOTES), *_JOINTS.split(piece)}
    return max(map(_looks_of_part, parts))


def _looks_of_part(part: str) -> float:
    """Return the same for a part of it; words are not asked for: they never do."""
    if len(part) == _GROUP:
        return _CHOSEN
    return 0.0 if part.isalpha() and len(part) < _LONG else score(part)


def _said_by_head(line: str) -> Above | None:
    """Return what a line calls a value below it."""
    kinds = [
        kind for kind in labels_in(line) if kind is not Label.KEY or line[-1] in ":?："
    ]
    if not kinds:
        return None
    is_asked = "?" in line
    best = max(kinds, key=BASE.__getitem__)
    more = 1.0 if is_asked and best is not Label.KEY else 0.0
    return Above(label=best, base=min(3.0, BASE[best] + more), is_asked=is_asked)


def _is_head(line: str) -> bool:
    """Whether a line may say what is below it."""
    return len(line) < _SHORT_LINE and (
        len(line) < _SHORT_LABEL
        or line.endswith((":", "：", "？", ":**", "**"))
        or "?" in line
        or line[0] in "#*=|"
        or line.startswith("h2.")
    )
