"""Weighs what speaks for a value: the words before it, behind it, and above it."""

from __future__ import annotations

from hivemind_memory.model.value import value
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.handing_labels import (
    Label,
)
from hivemind_memory.redaction.in_prose.handing_state import (
    BASE,
    BESIDE,
    LED,
    OF_DIGITS,
    State,
)
from hivemind_memory.redaction.in_prose.handing_words import (
    ARROWS_BACK,
    ASKING,
    BACK,
    BACK_ALONE,
    COPULAS,
    FOLLOWS_LABEL,
    NOT_OF_IT,
    NOUNS,
    SAID_OF_DIGITS,
    SAID_OF_IT,
    THATS,
    UNITS,
)
from hivemind_memory.redaction.sentence_gate import ACCOUNTS
from hivemind_memory.redaction.values.password_check import is_counted, is_likely
from hivemind_memory.redaction.values.value_check import looks_random
from hivemind_memory.redaction.values.value_score import TAIL, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.redaction.in_prose.line_tokens import Token

NOTHING = -9.0
"""Of a value for which nothing speaks."""

_OPENED_BY_DIGITS = frozenset((Label.CODE, Label.ANY_CODE, Label.LOCK))
_BACK_ALONE = 3.0
_PAIRED, _LOGIN, _REFUSED = 1.5, 4.0, 5.0
_AHEAD = 6  # words behind a value that are read
_LONG_WORD = 9
_MOST_PARTS = 8
_MOST_CUES, _MOST_DOUBTS = 2.0, 5.0
_DASHED_DIGITS = lazy_re(
    r"\d(?:-\d){3,7}|\d{1,2}(?:-\d{1,2}){2,3}|\d{3}-\d{3}|\d{4}-\d{4}|\d{3,4}[*#]"
    r"|[*#]\d{3,5}[*#]?"
)
_NUMBERED = lazy_re(r"[A-Za-z]+\d{1,2}")
_UNKNOWN = frozenset(("invalid", "unknown", "illegal"))
_PAIRING = frozenset(("/", ":", "—", "–", "|", "-", "::", "→", "->"))
_ACCOUNTS = frozenset(ACCOUNTS) | {"ubnt", "administrator", "admin", "root", "login"}
_ENDING = frozenset(
    [
        "—",
        "–",
        "-",
        "(",
        "#",
        "//",
        "<-",
        "←",
        "and",
        "but",
        "so",
        "und",
        "et",
        "y",
        "e",
    ]
)


@value
class Above:
    """What a line above calls the value below it."""

    label: int
    base: float
    is_asked: bool = False
    """Whether it asks for it."""

    is_list: bool = False
    """Whether it is the head of a list."""


@value
class Place:
    """Where a value stands: the words of a line, and which of them it is."""

    tokens: list[Token]
    start: int
    end: int
    """Just past its last word."""

    @property
    def token(self) -> Token:
        """Its first word."""
        return self.tokens[self.start]

    @property
    def lead(self) -> Token | None:
        """The word before it."""
        return self.tokens[self.start - 1] if self.start else None

    @property
    def is_last(self) -> bool:
        """Whether a clause or the line ends with it."""
        return self.end == len(self.tokens) or self.tokens[self.end - 1].is_end

    @property
    def ends(self) -> bool:
        """Whether it ends there, or what follows only adds to it."""
        return self.is_last or (
            self.tokens[self.end].opens or self.tokens[self.end].low in _ENDING
        )


def said_by(line: str, tokens: list[Token]) -> float:
    """Return what else a line says for its values, or against them."""
    more = _sum(SAID_OF_IT, tokens, _MOST_CUES) - _sum(NOT_OF_IT, tokens, _MOST_DOUBTS)
    if "/commit/" in line:
        more -= 3.0
    return more - 1.0 if _is_code(line) else more


def said_of_digits(token: Token, tokens: list[Token]) -> float:
    """Return the same for digits alone; 0 for another value."""
    if not (token.body[0].isdigit() and token.body.replace("-", "").isdecimal()):
        return 0.0
    return _sum(SAID_OF_DIGITS, tokens, _MOST_CUES)


def _sum(weights: Mapping[str, float], tokens: list[Token], most: float) -> float:
    """Return what the words of a line weigh."""
    return min(most, sum(weights[t.low] for t in tokens if t.low in weights))


def _is_code(line: str) -> bool:
    """Whether a line is rather one of a program."""
    return (
        line.rstrip().endswith((";", "{", " }", "),", "(", ");"))
        or "()" in line
        or " == " in line
        or "=>" in line
    )


def value_at(tokens: list[Token], place: int) -> tuple[int, float]:
    """Return where a value ends that begins at a word, and how it looks."""
    token = tokens[place]
    if token.body.isalpha() and (
        token.label
        or token.low in COPULAS
        or (len(token.body) < _LONG_WORD and not token.is_quoted)
    ):
        return place + 1, 0.0
    if token.body.isdecimal():
        return _digits_at(tokens, place)
    if _DASHED_DIGITS.fullmatch(token.body):
        return place + 1, 2.5
    end = place
    while end < len(tokens) and _is_group(tokens[end].body):
        end += 1
    return (end, 4.0) if end - place >= _GROUPS else (place + 1, score(token.body))


_GROUPS = 4


def _is_group(body: str) -> bool:
    """Whether a word is one of the groups of four that a key is written in."""
    is_mixed = body.isupper() or any(map(str.isdigit, body))
    return len(body) == _GROUPS and body.isalnum() and is_mixed


def _digits_at(tokens: list[Token], place: int) -> tuple[int, float]:
    """Return the same for digits, in one group or in several."""
    end, size = place + 1, len(tokens[place].body)
    while (
        end < min(len(tokens), place + _GROUPS)
        and tokens[end].body.isdecimal()
        and 1 < len(tokens[end].body) == size < _LONGEST_GROUP
        and tokens[end].start == tokens[end - 1].end + 1
    ):
        end += 1
    is_dashed = False
    while (
        end + 1 < min(len(tokens), place + _MOST_PARTS)
        and tokens[end].body == "-"
        and tokens[end + 1].body.isdecimal()
    ):
        end, is_dashed = end + 2, True
    if is_dashed and end - place > _GROUPS:
        return end, 2.5
    digits = "".join(part.body for part in tokens[place:end])
    is_code = 3 < len(digits) < 13 and not is_counted(digits)
    is_counted_in = end < len(tokens) and tokens[end].low in UNITS
    return end, 2.0 if is_code and not is_counted_in else 0.0


_LONGEST_GROUP = 5


def weight(place: Place, state: State, above: Above | None, looks: float) -> float:
    """Return what speaks for a value besides its look and the rest of the line."""
    token = place.token
    digits = token.body.isdecimal()
    if state.label == Label.KEY and state.is_network:
        state.label, state.base = Label.PASSWORD, BASE[Label.PASSWORD]
    if _is_ruled_out(place, state, above):
        return NOTHING
    behind = _behind(place, is_digits=digits)
    sure = max(
        state.before(token, is_digits=digits),
        behind,
        _from_above(place, above, looks),
        _from_beside(place, state, above, looks),
    )
    if not sure:
        return NOTHING
    if looks < 2.0 and behind == sure:
        sure -= 0.5
    sure += 0.5 * token.is_quoted + 0.5 * place.ends
    if not any(map(str.isdigit, token.body)) and state.label == Label.PLACE:
        sure -= 1.0
    if place.lead and place.lead.low in ASKING:
        sure += 0.5
    if place.lead and place.lead.low in NOUNS and not digits:
        sure -= 2.0
    return sure


def _is_ruled_out(place: Place, state: State, above: Above | None) -> bool:
    """Whether a value is none of what it is called."""
    body = place.token.body
    if body[0] in "#*":
        return place.token.opens or state.label not in _OPENED_BY_DIGITS
    is_key = (above.label if above else state.label) == Label.KEY
    return is_key and not (
        body.isdecimal()
        or place.end > place.start + 1
        or looks_random(body)
        or is_likely(body)
        or TAIL.fullmatch(body) is not None
    )


def _from_above(place: Place, above: Above | None, looks: float) -> float:
    """Return what the line above says for a value."""
    if above is None or (
        place.tokens[place.end - 1].leads and place.end < len(place.tokens)
    ):
        return 0.0  # what a colon follows is a name itself
    said, lead = 0.0, place.lead
    is_first = lead is None or lead.is_lead or (lead.is_speaker and above.is_asked)
    if is_first:
        digits = place.token.body.isdecimal()
        base = OF_DIGITS.get(Label(above.label), 0.0) if digits else above.base
        said = base + (1.5 if place.is_last else 0.5)
    if above.is_list and looks > 3 and place.is_last:
        said = max(said, above.base + (LED if lead and lead.leads else BESIDE))
    return said


def _from_beside(
    place: Place, state: State, above: Above | None, looks: float
) -> float:
    """Return what the word before a value and a sign say, or who asks for it."""
    lead = place.lead
    if place.token.is_paired:
        return _LOGIN
    if lead is None:
        return 0.0
    owner = place.tokens[place.start - 2] if place.start > 1 else None
    if owner and lead.low in _PAIRING and not place.token.body.isdecimal():
        return _of_pair(owner, lead, state, above)
    if looks < 3:
        return 0.0
    if owner and owner.low in _UNKNOWN and lead.low == "user":
        return _REFUSED
    return LED * (lead.low in ASKING and not _NUMBERED.fullmatch(place.token.body))


def _of_pair(owner: Token, sign: Token, state: State, above: Above | None) -> float:
    """Return what the name before a value and a sign says."""
    is_account = owner.low in _ACCOUNTS or "@" in owner.body
    if sign.low == ":":
        return _PAIRED + 1.0 if state.label == Label.PLACE else 0.0
    if sign.low != "/" and not (is_account or (above and above.is_list)):
        return 0.0
    pair = _PAIRED + max(state.base, above.base if above else 0.0)
    return max(pair, _PAIRED + 2.0) if is_account else pair


def _behind(place: Place, *, is_digits: bool) -> float:
    """Return what the words behind a value say."""
    tokens, end = place.tokens, place.end
    if end >= len(tokens) or tokens[end - 1].is_stop:
        return 0.0
    first = tokens[end]
    is_led = first.low in BACK or first.opens
    ahead = 2 * _AHEAD if first.low in ARROWS_BACK else _AHEAD
    if tokens[end - 1].is_quoted and any(
        token.low in THATS for token in tokens[end : end + 2 * _AHEAD]
    ):
        ahead, is_led = 2 * _AHEAD, True
    best = _BACK_ALONE if first.low in BACK_ALONE else 0.0
    for far, token in enumerate(tokens[end : end + ahead]):
        if token.label:
            label = Label(token.label)
            base = OF_DIGITS.get(label, 0.0) if is_digits else BASE[label]
            following = tokens[end + far + 1].low if end + far + 1 < len(tokens) else ""
            if following in FOLLOWS_LABEL:
                base -= 1.5
            best = max(best, base + (1.25 if is_led else -0.5) - 0.1 * far)
        if token.is_stop:
            break
    return best
