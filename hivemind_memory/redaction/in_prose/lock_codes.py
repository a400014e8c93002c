"""Finds the digits that open a lock, a safe, a card or a telephone, in many languages.

A line that names a place and speaks of a code, ``PIN1 5378 PUK1 65613923``, a code to
sign in below the name of an account, and the answer to a question for one. Counts,
sizes, years and round numbers stay.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.statement_words import (
    CODE,
    COPULAS,
    ONE_TIME,
    PLACE,
    SIGNED_IN,
    SIGNS,
    SURE_CODE,
)
from hivemind_memory.redaction.prose_words import CODE_PARTS, ONE_TIME_PARTS
from hivemind_memory.redaction.spans import TextSpan, found_at
from hivemind_memory.redaction.values.password_check import is_counted, looks_chosen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords

_FAR = 70  # letters after a label that are read
_MOST_WORDS = 7
_LONGEST_LINE = 400
_ACCOUNT_LINES = 3
_CHUNK = lazy_re(
    r"[^\x00-\x20\"'`´<>|„“”«»‘\u2e80-\uffff]+|[\u2e80-\uff00\uff3b-\uffff]+|[：＝|]"
)
_VALUE = lazy_re(
    r"(?P<value>#?\d{3,12}[#*]?[A-F]?|[A-F]\d{3,8}[#*]?|\*\d{3,8}[#*]"
    r"|\d{2}(?:[-/.]\d{2}){2,3})"
    r"[.,;:!?)\]*_]{0,4}"
)
_WORD = lazy_re(r"[(\[*_]{0,3}[^\W\d_]+(?:[-'’/.][^\W\d_]+)*[.,;:!?)\]*_]{0,4}")
_COUNTED = lazy_re(
    r"[ \t]{0,2}(?:%|(?:of|per|lines|entries|pages|rows|bytes|ms|s|rps|times|chars|bits"
    r"|characters|digits|requests|users|items|[kmg]b|mm|cm|m|km|€|eur|usd|stellig)\b)"
)
_MEASURE = lazy_re(
    r"(?:size|port|length|limit|year|date|number of|version|line|row|page|zeile|seite"
    r"|ligne|línea|linea|riga|linha|строке|client|in) ?\Z"
)
_KEYED = lazy_re(r"[#*](?:(?<=[0-9]{3}.)(?![\w.-])|[0-9]{3})")
_DIGIT = lazy_re("[0-9]")
_SIGNED = lazy_re(
    r"[ \t]{0,3}(?:[:=：→]|->)[ \t*`\"']{0,4}(?P<value>\d{3,8}[#*]"
    r"|[#*]\d{3,8}[#*]?)(?![\w.])"
)
_AT_ONCE = lazy_re(
    r"(?:[ \t]{0,3}(?:[:=：→]|->|\(|–|—)[ \t*`\"']{0,4}|[ \t]{1,2}(?:(?:is|ist|est|es|è"
    r"|é|on|to|jest)[ ])?)"
    r"[*`\"']{0,3}(?P<value>#?\d{3,8}[#*]?[A-F]?)(?![\w.:/%-]|[ ]?\d)"
)
_DIAL = lazy_re(
    r"(?i)(?:(?<![a-z])(?:links|rechts|left|right|gauche|droite|izquierda|derecha"
    r"|sinistra"
    r"|destra|[lr])[ \t:=]{1,3}(?P<one>\d{1,3})[ \t,;/–>-]{0,4}){2,6}"
)
_SIGN = lazy_re("[:=：→]|->")
_TURN = lazy_re(r"\d{1,3}")
_ANSWER = lazy_re(
    r"[ \t>*-]{0,12}(?:[\[(]?\d\d?[:.]\d\d(?:[:.]\d\d)?[\])]?[ ,-]{0,3})?"
    r"(?:[*_]{0,2}[<@]?[\w.@-]{1,24}>?[*_]{0,2}[ ]?[:>|][*_]{0,2}[ \t]{1,4})?"
    r"(?:[^\W\d_][^\W\d_']{0,9}[ ,:]{1,3}){0,4}[`\"'*]{0,3}(?P<value>#?\d{4,8}[#*]?)"
    r"[`\"'*]{0,3}(?:[.,;!(][^\n]{0,40})?[ \t\r]*\Z"
)


def stated_codes(there: LineWords) -> Iterator[TextSpan]:
    """Yield the digits that something is opened with, on some lines."""
    text, low = there.text, there.low
    coded = {there.starts[row] for row in there.rows(CODE_PARTS)}
    signed = {text.rfind("\n", 0, found.start()) + 1 for found in _KEYED.finditer(text)}
    for start in coded | signed:
        end = text.find("\n", start)
        end = min(len(text) if end < 0 else end, start + _LONGEST_LINE)
        line = text[start:end]
        is_asked = "?" in line
        words = CODE_PARTS if start in coded else ()
        labels = list(found_at(CODE, line, low[start:end], words))
        is_labelled = bool(labels) or start in signed
        if not is_labelled or (_DIGIT.search(line) is None and not is_asked):
            continue
        is_place = PLACE.search(line) is not None
        if is_place:
            yield from _of_places(text, line, start, is_code=bool(labels))
        is_sure = [
            is_place or SURE_CODE.match(line, found.start()) is not None
            for found in labels
        ]
        for label, sure in zip(labels, is_sure, strict=True):
            if sure:
                yield from _behind(text, start + label.end(), end)
            else:
                yield from _to_sign_in(text, start, label, end)
        if is_asked and any(is_sure):
            yield from _answered(text, end)
    for start, end in map(there.line_at, there.rows(ONE_TIME_PARTS)):
        for label in ONE_TIME.finditer(text, start, min(end, start + _LONGEST_LINE)):
            for span in _behind(text, label.end(), end):
                if span[1] - span[0] > 5:
                    yield span


def _of_places(
    text: str, line: str, start: int, *, is_code: bool
) -> Iterator[TextSpan]:
    """Yield the digits just after the name of a place."""
    for place in PLACE.finditer(line):
        found = (_AT_ONCE if is_code else _SIGNED).match(line, place.end())
        if found and not is_counted(found["value"].strip("#*")):
            if not _COUNTED.match(line, found.end()):
                yield (start + found.start("value"), start + found.end("value"), "pin")
        elif is_code and not found:
            for span in _behind(text, start + place.end(), start + len(line)):
                if _SIGN.search(text, start + place.end(), span[0]):
                    yield span
    for dial in _DIAL.finditer(line):
        for turn in _TURN.finditer(line, dial.start(), dial.end()):
            yield (start + turn.start(), start + turn.end(), "pin")


def _behind(text: str, at: int, stop: int) -> Iterator[TextSpan]:
    """Yield the numbers that a label for a code is followed by."""
    leads = False
    stop = min(stop, at + _FAR)
    for words, chunk in enumerate(_CHUNK.finditer(text, at, stop)):
        body = chunk[0].lstrip("([*_" + SIGNS)
        leads = leads or len(body) < len(chunk[0])
        place = chunk.end() - len(body)
        found = _VALUE.fullmatch(body)
        if found:
            value = found["value"]
            before = text[max(0, place - 14) : place].lower()
            if (
                len(value) > (3 if words else 2)
                and not (is_counted(value) and words > leads)
                and not _COUNTED.match(text, chunk.end(), stop)
                and not _MEASURE.search(before)
            ):
                yield (place, place + len(value), "pin")
            leads = False
        elif body.lower().rstrip(":") in COPULAS or chunk[0][0] >= "\u2e80":
            leads = True
        elif _WORD.fullmatch(chunk[0]) is None and body.strip("-–—/&+,"):
            return
        if words >= _MOST_WORDS or (body[-1:] in (".", "!", "?") and not found):
            return
        leads = leads or body[-1:] == ":"


def _to_sign_in(
    text: str, start: int, label: re.Match[str], end: int
) -> Iterator[TextSpan]:
    """Yield what is called a code below the name of an account."""
    found = _ASSIGNED.match(text, start + label.end(), end)
    if found is None:
        return
    first = start
    for _ in range(_ACCOUNT_LINES):
        first = text.rfind("\n", 0, max(0, first - 1)) + 1
    if SIGNED_IN.search(text, max(first, start - _LONGEST_LINE), start):
        value = found["value"].rstrip(".,;:)")
        if _VALUE.fullmatch(value) or looks_chosen(value):
            yield (found.start("value"), found.start("value") + len(value), "password")


_ASSIGNED = lazy_re(r"[ \t]{0,4}[:=：][ \t*`\"']{0,4}(?P<value>[^\s\"'`*|]{4,40})")


def _answered(text: str, end: int) -> Iterator[TextSpan]:
    """Yield the number in the line below a question for a code."""
    stop = text.find("\n", end + 1)
    stop = len(text) if stop < 0 else stop
    if stop - end < _LONGEST_LINE:
        found = _ANSWER.match(text[end + 1 : stop])
        if found and not is_counted(found["value"]):
            at = end + 1 + found.start("value")
            yield (at, at + len(found["value"]), "pin")
