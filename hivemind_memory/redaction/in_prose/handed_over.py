"""Finds what a line hands over: the name of a secret, what leads on, and the secret.

One small grammar for sentences, chats, notes and lists in any language. It reads a line
word by word and adds up what speaks for a value: what it is called (``Label``), how
closely that leads to it, what else the line says (``handing_evidence``), and how much
the value looks like a secret (``values/value_score.py``). The words are in
``handing_words``.
"""

from __future__ import annotations

from hivemind_memory.redaction.in_formats.columns import columns
from hivemind_memory.redaction.in_prose.handing_evidence import (
    Above,
    Place,
    said_by,
    said_of_digits,
    value_at,
    weight,
)
from hivemind_memory.redaction.in_prose.handing_labels import (
    ANY_CODES,
    CODE_STEMS,
    DOORS,
    Label,
)
from hivemind_memory.redaction.in_prose.handing_state import BASE, FAR, State
from hivemind_memory.redaction.in_prose.handing_words import (
    GATE_WORDS,
    HEADS,
    LONG_SURE_WORDS,
    OPENING,
    SHORT_SURE_WORDS,
    WITH,
)
from hivemind_memory.redaction.in_prose.line_tokens import (
    labels_in,
    tokens_of,
    words_of,
)
from hivemind_memory.redaction.in_prose.spelled_out import digits_in, spelled_out
from hivemind_memory.redaction.in_prose.spoken_letters import is_pin
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.lazy_pattern import lazy_re
from hivemind_memory.redaction.values.value_score import score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

ENOUGH = 6.0
"""What must speak for a value, of some nine points at most."""

_MOST_ROWS_BELOW = 2
_SHORT_LINE = 110
_LONG_LINE = 400
_SHORT_ROW = 9
_SHORT_LABEL = 40
_LONGEST_PIECE = 200
_GROUP = 4
_LEAST_LOOKS, _LEAST_BESIDE_A_PLACE, _CHOSEN = 2.0, 2.5, 3.0
_AROUND = "\"'`„“”«»「」『』()[]{}*_#.,;:!?。、"
_QUOTES = "\"'`„“”«»「」『』()[]{}*_#.,;:。、"
_JOINTS = lazy_re(r"[\"'`„“”«»「」『』()\[\]{}*,;:=。、<>|\u3040-\uffef]+|[.!?]+$")
_SPELLED = frozenset((Label.PASSWORD, Label.CODE, Label.ANY_CODE))
_SHORT_HEAD = 60
_LONGEST_LIST = 10
_SIGNED = lazy_re(
    r"(?=.*\d)(?=.*[A-Za-z]{3})(?:\w[\w.-]{3,30}[!?#$%*]{1,3}|\w{2,20}[!?#$%*]\w{2,20})"
)
_ROW = lazy_re(
    r"[ \t>]{0,20}[-*•–+][ \t]{1,4}[^\W\d_][\w .-]{1,24}[:–—]"
    r"[ \t]{1,4}\S{7,40}[ \t\r]{0,4}"
)
_SPOKEN_CODES = frozenset(("code", "codes", "kod", "código", "codice"))
_LEAST_SPOKEN = 4
_CODE_HEADS = ("code", "kod", "código", "codice", "код")
_LOGIN_HEADS = ("login", "cred", "zugang", "access")
_NUMBER_WORDS = ANY_CODES | DOORS | frozenset(CODE_STEMS)
_NUMBER = lazy_re(
    r"(?<![A-Za-z0-9_./:-])(?:\d{3,8}|\d{3}-\d{3}|\d\d?(?:-\d\d?){2,7})"
    r"(?![A-Za-z0-9_/:-])"
)


def handed_over(there: LineWords) -> Iterator[TextSpan]:
    """Yield what lines hand over.

    Args:
        there: A text, and what it has of ``GATE_WORDS``.
    """
    labelled = set(there.rows(GATE_WORDS))
    yield from _rows_of_lists(there, labelled)
    if not labelled:
        return
    if "|" in there.text:
        yield from columns(there, words=_LOGIN_HEADS)
    if "|" in there.text or "\t" in there.text:
        yield from columns(there, words=_CODE_HEADS, chosen=is_pin)
    below = _rows_below(there.lines, labelled)
    lists = _lists(there.lines, labelled)
    for row in _rows(there, labelled, {*below, *lists}):
        line, at = there.lines[row], there.starts[row]
        above = lists.get(row)
        if above is None and row in below:
            above = _above(there.lines, row, labelled)
        for start, end in _pieces(line):
            for first, last, kind in _in_line(line[start:end], above):
                yield (at + start + first, at + start + last, kind)


def _rows(there: LineWords, labelled: set[int], below: set[int]) -> list[int]:
    """Return the numbers of the lines to read, in order."""
    lines = there.lines
    odd: set[int] = set()
    for piece, rows in there.odd.items():
        near = [row for row in rows if row in below or " / " in lines[row]]
        named = [row for row in rows if row in labelled]
        looks = _looks_of(piece) if near or named else 0.0
        if looks >= _LEAST_LOOKS:
            odd.update(near)
        if looks >= _LEAST_BESIDE_A_PLACE:
            odd.update(named)
    sure = set(there.rows(LONG_SURE_WORDS))
    for row in there.rows(SHORT_SURE_WORDS):
        if row in odd or not SHORT_SURE_WORDS.isdisjoint(words_of(lines[row])):
            sure.add(row)
    for row in there.rows(_SPOKEN_CODES):
        if sum(map(digits_in, words_of(lines[row]))) >= _LEAST_SPOKEN:
            sure.add(row)
    for row in there.rows(OPENING):
        words = words_of(lines[row])
        if not WITH.isdisjoint(words) and not OPENING.isdisjoint(words):
            sure.add(row)
    numbers = {row for row in there.rows(_NUMBER_WORDS) if _NUMBER.search(lines[row])}
    headed = {row for row in below if _is_headed(lines, row, sure)}
    return sorted(sure | odd | numbers | headed)


def _is_headed(lines: list[str], row: int, sure: set[int]) -> bool:
    """Whether a short line is below a heading that names a password."""
    return lines[row].count(" ") < _SHORT_ROW and any(
        row - up in sure and lines[row - up].startswith("#") for up in (1, 2)
    )


def _rows_below(lines: list[str], labelled: set[int]) -> set[int]:
    """Return the lines with text below those that call something a secret."""
    below: set[int] = set()
    for row in labelled:
        left = _MOST_ROWS_BELOW
        for lower in range(row + 1, min(row + 4, len(lines))):
            if left and lines[lower].strip():
                below.add(lower)
                left -= 1
    return below


@asked_once
def _looks_of(piece: str) -> float:
    """Return how much what is in a text between blanks looks like a secret."""
    if len(piece) > _LONGEST_PIECE:
        return 0.0
    parts = {piece.strip(_AROUND), piece.strip(_QUOTES), *_JOINTS.split(piece)}
    return max(_CHOSEN if len(part) == _GROUP else score(part) for part in parts)


def _pieces(line: str) -> Iterator[tuple[int, int]]:
    """Yield where a line is read: as a whole, or sentence by sentence if it is long."""
    start = 0
    while len(line) - start > _LONG_LINE:
        end = line.rfind(". ", start + 80, start + _LONG_LINE)
        end = end + 1 if end >= 0 else line.rfind(" ", start + 80, start + _LONG_LINE)
        end = end if end >= 0 else start + _LONG_LINE
        yield (start, end)
        start = end
    yield (start, len(line))


def _rows_of_lists(there: LineWords, labelled: set[int]) -> Iterator[TextSpan]:
    """Yield what rows such as ``- Miro: post1tWall!`` hold, without a word for it."""
    for piece, rows in there.odd.items():
        if not _SIGNED.fullmatch(piece) or score(piece) < _CHOSEN:
            continue
        for row in rows:
            if row not in labelled and _ROW.fullmatch(there.lines[row]):
                end = there.starts[row] + len(there.lines[row].rstrip())
                yield (end - len(piece), end, "password")


def _lists(lines: list[str], labelled: set[int]) -> dict[int, Above]:
    """Return the rows below a head that says that logins or passwords are listed."""
    lists: dict[int, Above] = {}
    for row in labelled:
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
            lists.setdefault(lower, Above(Label.PASSWORD, 1.5, is_list=True))
    return lists


def _above(lines: list[str], row: int, labelled: set[int]) -> Above | None:
    """Return what the line above calls a value, if it leads to the line below."""
    left = _MOST_ROWS_BELOW
    for upper in range(row - 1, max(-1, row - 4), -1):
        line = lines[upper].strip()
        if not line:
            continue
        if upper in labelled and len(line) < _SHORT_LINE and _is_head(line):
            is_asked = "?" in line
            kinds = [
                kind
                for kind in labels_in(line)
                if kind is not Label.KEY or line[-1] in ":?："
            ]
            if kinds:
                best = max(kinds, key=BASE.__getitem__)
                more = 1.0 if is_asked and best is not Label.KEY else 0.0
                return Above(best, min(3.0, BASE[best] + more), is_asked=is_asked)
        left -= 1
        if not left:
            break
    return None


def _is_head(line: str) -> bool:
    """Whether a line may say what is below it."""
    return (
        len(line) < _SHORT_LABEL
        or line.endswith((":", "：", "？", ":**", "**"))
        or "?" in line
        or line[0] in "#*=|"
        or line.startswith("h2.")
    )


def _in_line(line: str, above: Above | None) -> Iterator[TextSpan]:
    """Yield what a line hands over."""
    tokens = tokens_of(line)
    found = ((place, *value_at(tokens, place)) for place in range(len(tokens)))
    values = {place: (end, looks) for place, end, looks in found if looks}
    if not values and not any(
        token.label in _SPELLED or token.low in OPENING for token in tokens
    ):
        return
    more: float | None = None
    state = State()
    skip_to = 0
    for place, token in enumerate(tokens):
        if place < skip_to:
            continue
        is_near = state.label and (state.since < FAR or not state.words)
        if is_near or (above and not place):
            spelled = spelled_out(
                tokens,
                place,
                state.label or (above.label if above else 0),
                is_tight=state.since == 0 and state.words < FAR,
                is_below=above is not None and not place and not state.label,
                line=line,
            )
            if spelled:
                skip_to, kind = spelled
                yield (token.start, tokens[skip_to - 1].end, kind)
                continue
        end, looks = values.get(place, (0, 0.0))
        if looks:
            more = said_by(line, tokens) if more is None else more
            sure = weight(Place(tokens, place, end), state, above, looks)
            if sure + looks + more + said_of_digits(token, tokens) >= ENOUGH:
                last = tokens[end - 1].end
                is_pin = line[token.start : last].replace(" ", "").isdigit()
                yield (token.start, last, "pin" if is_pin else "password")
                skip_to = end
                state.led = state.led if state.since == 0 else 0.0
                continue
        state.read(tokens, place)
