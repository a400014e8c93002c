"""Finds what a line hands over: the name of a secret, what leads on, and the secret.

One small grammar for sentences, chats, notes and lists in any language. It reads a line
word by word and adds up what speaks for a value: what it is called (``Label``), how
closely that leads to it, what else the line says (``handing_evidence``), and how much
the value looks like a secret (``values/value_score.py``). The words are in
``handing_words``.
"""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
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
    Label,
)
from hivemind_memory.redaction.in_prose.handing_rows import Rows
from hivemind_memory.redaction.in_prose.handing_state import FAR, State
from hivemind_memory.redaction.in_prose.handing_words import (
    GATE_WORDS,
    OPENING,
)
from hivemind_memory.redaction.in_prose.line_tokens import (
    tokens_of,
)
from hivemind_memory.redaction.in_prose.spelled_out import spelled_out
from hivemind_memory.redaction.in_prose.spoken_letters import is_pin
from hivemind_memory.redaction.own_writing import own_rows
from hivemind_memory.redaction.values.value_score import score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

ENOUGH = 6.0
"""What must speak for a value, of some nine points at most."""

_LONG_LINE = 400
_CHOSEN = 3.0
_PUBLIC_KEY = lazy_re(
    r"(?i)public_?key[\"'`]{0,1}[ \t]{0,4}[:=][ \t]{0,4}[\"'`]{0,1}\Z"
)
_SPELLED = frozenset((Label.PASSWORD, Label.CODE, Label.ANY_CODE))
_SIGNED = lazy_re(
    r"(?=.*\d)(?=.*[A-Za-z]{3})(?:\w[\w.-]{3,30}[!?#$%*]{1,3}|\w{2,20}[!?#$%*]\w{2,20})"
)
_SIGNS = frozenset("!?#$%*")
_ROW = lazy_re(
    r"[ \t>]{0,20}[-*•–+][ \t]{1,4}[^\W\d_][\w .-]{1,24}[:–—]"
    r"[ \t]{1,4}\S{7,40}[ \t\r]{0,4}"
)
_CODE_HEADS = ("code", "kod", "código", "codice", "код")
_LOGIN_HEADS = ("login", "cred", "zugang", "access")


def handed_over(there: LineWords) -> Iterator[TextSpan]:
    """Yield what lines hand over.

    Args:
        there: A text, and what it has of ``GATE_WORDS``.
    """
    words = there.words(GATE_WORDS)
    own = own_rows(there)
    yield from _rows_of_lists(there, words, own)
    if not words:
        return
    if "|" in there.text:
        yield from columns(there, words=_LOGIN_HEADS)
    if "|" in there.text or "\t" in there.text:
        yield from columns(there, words=_CODE_HEADS, chosen=is_pin)
    rows = Rows(there, words, own)
    for row in rows.to_read():
        line, at = there.lines[row], there.starts[row]
        above = rows.above(row)
        for start, end in _pieces(line):
            # Of a long line, most parts have nothing of what it was taken for.
            if end - start < len(line) and not (
                above or rows.may_have_value(row, line[start:end])
            ):
                continue
            for first, last, kind in _in_line(line[start:end], above):
                yield (at + start + first, at + start + last, kind)


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


def _rows_of_lists(
    there: LineWords, words: set[str], own: frozenset[int]
) -> Iterator[TextSpan]:
    """Yield what rows such as ``- Miro: post1tWall!`` hold, without a word for it."""
    signed = [
        (piece, rows)
        for piece, rows in there.odd.items()
        if not _SIGNS.isdisjoint(piece)
        and _SIGNED.fullmatch(piece)
        and score(piece) >= _CHOSEN
    ]
    labelled = own.union(there.rows(words)) if signed else own
    for piece, rows in signed:
        for row in rows:
            if row not in labelled and _ROW.fullmatch(there.lines[row]):
                end = there.starts[row] + len(there.lines[row].rstrip())
                yield (end - len(piece), end, "password")


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
        if looks and not _PUBLIC_KEY.search(line[: token.start]):
            more = said_by(line, tokens) if more is None else more
            sure = weight(
                Place(tokens=tokens, start=place, end=end), state, above, looks
            )
            if sure + looks + more + said_of_digits(token, tokens) >= ENOUGH:
                last = tokens[end - 1].end
                is_pin = line[token.start : last].replace(" ", "").isdigit()
                yield (token.start, last, "pin" if is_pin else "password")
                skip_to = end
                state.led = state.led if state.since == 0 else 0.0
                continue
        state.read(tokens, place)
