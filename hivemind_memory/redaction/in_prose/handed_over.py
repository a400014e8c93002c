"""Finds what a line hands over: the name of a secret, what leads on, and the secret.

One small grammar for sentences, chats, notes and lists in any language. It reads a line
word by word and adds up what speaks for a value: what it is called (``Label``), how
closely that leads to it, what else the line says, and how much the value looks like a
secret (``values/value_score.py``). The words are in ``handing_words``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.redaction.in_formats.columns import columns
from hivemind_memory.redaction.in_prose.handing_words import (
    ANY_CODES,
    ARROWS_BACK,
    ASKING,
    BACK,
    BACK_ALONE,
    CODE_STEMS,
    COPULAS,
    DOORS,
    ENGLISH,
    FOLLOWS_LABEL,
    GATE_WORDS,
    HEADS,
    LEADS,
    LONG_SURE_WORDS,
    MOVES,
    NETWORKS,
    NOT_OF_IT,
    NOUNS,
    OPENING,
    OTHER_CODES,
    SAID_OF_DIGITS,
    SAID_OF_IT,
    SHORT_SURE_WORDS,
    THATS,
    TO,
    UNITS,
    WITH,
    WORDS_OF_SECRETS,
    Label,
    is_sign,
)
from hivemind_memory.redaction.in_prose.line_tokens import (
    Token,
    labels_in,
    tokens_of,
    words_of,
)
from hivemind_memory.redaction.in_prose.spelled_out import digits_in, spelled_out
from hivemind_memory.redaction.in_prose.spoken_letters import is_pin
from hivemind_memory.redaction.sentence_gate import ACCOUNTS
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.lazy_pattern import lazy_re
from hivemind_memory.redaction.values.password_check import is_counted, is_likely
from hivemind_memory.redaction.values.value_check import looks_random
from hivemind_memory.redaction.values.value_score import TAIL, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

ENOUGH = 6.0
"""What must speak for a value, of some nine points at most."""

_BASE = {
    Label.PASSWORD: 2.5,
    Label.CODE: 1.5,
    Label.ANY_CODE: 1.5,
    Label.KEY: 1.5,
    Label.PLACE: 1.0,
    Label.DOOR: 1.5,
}
_WORD = frozenset(("word", "wort", "phrase", "mot", "palabra", "parola", "słowo"))
_OF_DIGITS = {
    Label.CODE: 2.5,
    Label.ANY_CODE: 1.5,
    Label.DOOR: 1.0,
    Label.PASSWORD: 2.0,
}
_OPENED_BY_DIGITS = frozenset((Label.CODE, Label.ANY_CODE, Label.DOOR))
_CALLED = frozenset((Label.PASSWORD, Label.CODE))
_BACK_ALONE = 3.0
_LED, _BESIDE, _PAIRED = 1.5, 1.0, 1.5
_FAR = 4  # words after which a name says less
_AHEAD = 6  # words behind a value that are read
_MOST_ROWS_BELOW = 2
_SHORT_LINE = 110
_LONG_LINE = 400
_SHORT_ROW = 9
_LONG_WORD = 9
_LONGEST_PIECE = 200
_GROUP = 4
_LEAST_LOOKS = 2.0
_AROUND = "\"'`„“”«»「」『』()[]{}*_#.,;:!?。、"
_QUOTES = "\"'`„“”«»「」『』()[]{}*_#.,;:。、"
_JOINTS = lazy_re(r"[\"'`„“”«»「」『』()\[\]{}*,;:=。、<>|\u3040-\uffef]+|[.!?]+$")
_SHORT_HEAD = 60
_LONGEST_LIST = 10
_SIGNED = lazy_re(r"(?=.*\d)(?=.*[A-Za-z]{3})\w[\w.-]{3,30}[!?#$%*]{1,3}|\w{2,20}[!?#$%*]\w{2,20}")
_ROW = lazy_re(r"[ \t>]*[-*•–+][ \t]+[^\W\d_][\w .-]{1,24}[ ]?[:–—][ \t]+\S{7,40}[ \t\r]*")
_DASHED_DIGITS = lazy_re(
    r"\d(?:-\d){3,7}|\d{1,2}(?:-\d{1,2}){2,3}|\d{3}-\d{3}|\d{4}-\d{4}|\d{3,4}[*#]|[*#]\d{3,5}[*#]?"
)
_SPOKEN_CODES = frozenset(("code", "codes", "kod", "código", "codice"))
_LEAST_SPOKEN = 4
_CODE_HEADS = ("code", "kod", "código", "codice", "код")
_NUMBER_WORDS = ANY_CODES | DOORS | frozenset(CODE_STEMS)
_NUMBER = lazy_re(
    r"(?<![A-Za-z0-9_./:-])(?:\d{3,8}|\d{3}-\d{3}|\d\d?(?:-\d\d?){2,7})"
    r"(?![A-Za-z0-9_/:-])"
)
_NUMBERED = lazy_re(r"[A-Za-z]+\d{1,2}")
_MOST_CUES, _MOST_DOUBTS = 2.0, 5.0


@dataclass(slots=True)
class _State:
    """What was read before a word."""

    label: int = 0
    base: float = 0.0
    words: int = 99
    """Words since the label."""

    led: float = 0.0
    since: int = 99
    """Words since what leads on."""

    is_moved: bool = False
    of_digits: float = 0.0
    """What the names so far say of digits."""

    opened: int = 99
    """Words since the line said that something is opened."""

    is_east: bool = False
    """Whether the label is in a script without blanks."""

    is_remote: bool = False
    """Whether the line signs in to another machine."""

    is_network: bool = False
    """Whether the line speaks of a wireless network."""

    is_elsewhere: bool = False
    """Whether what was called a secret is not in English."""


@dataclass(frozen=True, slots=True)
class _Above:
    """What a line above calls the value below it."""

    label: int
    base: float
    is_asked: bool = False
    """Whether it asks for it."""

    is_list: bool = False
    """Whether it is the head of a list."""


def handed_over(there: LineWords) -> Iterator[TextSpan]:
    """Yield what lines hand over.

    Args:
        there: A text, and what it has of ``GATE_WORDS``.
    """
    labelled = set(there.rows(GATE_WORDS))
    yield from _rows_of_lists(there, labelled)
    if not labelled:
        return
    odd = {
        row for piece, rows in there.odd.items() if _may_hold_value(piece) for row in rows
    }
    sure = set(there.rows(LONG_SURE_WORDS))
    sure.update(
        row
        for row in there.rows(SHORT_SURE_WORDS)
        if row not in sure
        and (row in odd or not SHORT_SURE_WORDS.isdisjoint(words_of(there.lines[row])))
    )
    said = _SPOKEN_CODES - {"pin"}
    sure.update(
        row
        for row in there.rows(said)
        if sum(map(digits_in, words_of(there.lines[row]))) >= _LEAST_SPOKEN
    )
    sure.update(
        row
        for row in there.rows(OPENING)
        if not WITH.isdisjoint(words := words_of(there.lines[row]))
        and not OPENING.isdisjoint(words)
    )
    below: dict[int, None] = {}
    for row in labelled:
        left = _MOST_ROWS_BELOW
        for lower in range(row + 1, min(row + 4, len(there.lines))):
            if there.lines[lower].strip():
                below[lower] = None
                left -= 1
            if not left:
                break
    lists = _lists(there.lines, labelled)
    pairs = {row for row in odd if " / " in there.lines[row]}
    numbers = {row for row in there.rows(_NUMBER_WORDS) if _NUMBER.search(there.lines[row])}
    if "|" in there.text:
        yield from columns(there, words=("login", "cred", "zugang", "access"))
    if "|" in there.text or "\t" in there.text:
        yield from columns(there, words=_CODE_HEADS, chosen=is_pin)
    headed = {
        row
        for row in below
        if (row - 1 in sure or row - 2 in sure)
        and there.lines[row].count(" ") < _SHORT_ROW
        and any(there.lines[row - up].startswith("#") for up in (1, 2) if row >= up)
    }
    for row in sorted(sure | headed | numbers | (labelled & odd) | pairs | (odd & (below.keys() | lists.keys()))):
        line = there.lines[row]
        at = there.starts[row]
        above = lists.get(row)
        if above is None and row in below:
            above = _above(there.lines, row, labelled)
        for start, end in _pieces(line):
            for first, last, kind in _in_line(line[start:end], above):
                yield (at + start + first, at + start + last, kind)


@asked_once
def _may_hold_value(piece: str) -> bool:
    """Whether a text between blanks may hold a value."""
    if len(piece) > _LONGEST_PIECE:
        return False
    return any(
        len(part) == _GROUP or score(part) >= _LEAST_LOOKS
        for part in (piece.strip(_AROUND), piece.strip(_QUOTES), *_JOINTS.split(piece))
    )


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
    rows = {
        row
        for piece, some in there.odd.items()
        if _may_hold_value(piece) and _SIGNED.fullmatch(piece) and score(piece) >= _CHOSEN
        for row in some
        if _ROW.fullmatch(there.lines[row])
    }
    for row in rows - labelled:
        last = there.lines[row].rstrip()
        value = last.split()[-1]
        yield (there.starts[row] + len(last) - len(value), there.starts[row] + len(last), "password")


_CHOSEN = 3.0
_MOST_PARTS = 8


def _lists(lines: list[str], labelled: set[int]) -> dict[int, _Above]:
    """Return the rows below a head that says that logins or passwords are listed."""
    lists: dict[int, _Above] = {}
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
            lists.setdefault(lower, _Above(Label.PASSWORD, 1.5, is_list=True))
    return lists


def _above(lines: list[str], row: int, labelled: set[int]) -> _Above | None:
    """Return what the line above calls a value, if it leads to the line below."""
    left = _MOST_ROWS_BELOW
    for upper in range(row - 1, max(-1, row - 4), -1):
        line = lines[upper].strip()
        if not line:
            continue
        if upper in labelled and len(line) < _SHORT_LINE:
            is_head = line.endswith((":", "?", "：", "？", ":**", "**")) or line[0] in "#*=|"
            is_head = is_head or "?" in line or line.startswith("h2.") or len(line) < 40
            kinds = labels_in(line)
            kinds = [k for k in kinds if k != Label.KEY or line[-1] in ":?："]
            if kinds and is_head:
                best = max(kinds, key=_BASE.__getitem__)
                more = 1.0 if "?" in line and best is not Label.KEY else 0.0
                return _Above(best, min(3.0, _BASE[best] + more), is_asked="?" in line)
        left -= 1
        if not left:
            break
    return None


def _in_line(line: str, above: _Above | None) -> Iterator[TextSpan]:
    """Yield what a line hands over."""
    tokens = tokens_of(line)
    if not tokens:
        return
    more: float | None = None
    state = _State()
    skip_to = 0
    for place, token in enumerate(tokens):
        if place < skip_to:
            continue
        is_near = state.label and (state.since < _FAR or not state.words)
        if is_near or (above and not place):
            found = spelled_out(
                tokens,
                place,
                state.label or (above.label if above else 0),
                is_tight=state.since == 0 and state.words < _FAR,
                is_below=above is not None and not place and not state.label,
                is_signed=bool(place) and tokens[place - 1].leads,
                line=line,
            )
            if found:
                skip_to, kind = found
                yield (token.start, tokens[skip_to - 1].end, kind)
                continue
        end, looks = _value_at(tokens, place)
        if looks:
            if more is None:
                more = _said(line, tokens)
            sure = _for_value(tokens, place, end, state, above, looks) + more
            if token.body[0].isdigit() and token.body.replace("-", "").isdecimal():
                sure += _sum(SAID_OF_DIGITS, tokens, _MOST_CUES)
            if sure + looks >= ENOUGH:
                is_pin = line[token.start : tokens[end - 1].end].replace(" ", "").isdigit()
                yield (token.start, tokens[end - 1].end, "pin" if is_pin else "password")
                skip_to = end
                state.led = state.led if state.since == 0 else 0.0
                continue
        _read(state, token, place, tokens)


def _said(line: str, tokens: list[Token]) -> float:
    """Return what else a line says for its values, or against them."""
    more = _sum(SAID_OF_IT, tokens, _MOST_CUES) - _sum(NOT_OF_IT, tokens, _MOST_DOUBTS)
    if "/commit/" in line:
        more -= 3.0
    return more - 1.0 if _is_code(line) else more


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


def _value_at(tokens: list[Token], place: int) -> tuple[int, float]:
    """Return where a value ends that begins at a word, and how it looks."""
    token = tokens[place]
    if len(token.body) < _LONG_WORD and token.body.isalpha() and not token.is_quoted:
        return place + 1, 0.0
    if token.body.isdecimal():
        end = place + 1
        while (
            end < len(tokens)
            and end < place + 4
            and tokens[end].body.isdecimal()
            and 1 < len(tokens[end].body) == len(token.body) < 5
            and tokens[end].start == tokens[end - 1].end + 1
        ):
            end += 1
        while (
            end + 1 < len(tokens)
            and tokens[end].body == "-"
            and tokens[end + 1].body.isdecimal()
            and end - place < _MOST_PARTS
        ):
            end += 2
        if end - place > 3 and tokens[place + 1].body == "-":
            return end, 2.5
        digits = "".join(part.body for part in tokens[place:end])
        is_code = 3 < len(digits) < 13 and not is_counted(digits)
        if end < len(tokens) and tokens[end].low in UNITS:
            return end, 0.0
        return end, 2.0 if is_code else 0.0
    if _DASHED_DIGITS.fullmatch(token.body):
        return place + 1, 2.5
    end = place
    while (
        end < len(tokens)
        and len(tokens[end].body) == 4
        and tokens[end].body.isalnum()
        and (tokens[end].body.isupper() or any(map(str.isdigit, tokens[end].body)))
    ):
        end += 1
    if end - place >= 4:
        return end, 4.0
    if token.low in COPULAS or (token.body.isalpha() and token.label):
        return place + 1, 0.0
    return place + 1, score(token.body)


def _for_value(
    tokens: list[Token],
    place: int,
    end: int,
    state: _State,
    above: _Above | None,
    looks: float,
) -> float:
    """Return what speaks for a value besides its look and the line."""
    token, last = tokens[place], tokens[end - 1]
    digits = token.body.isdecimal()
    if state.label == Label.KEY and state.is_network:
        state.label, state.base = Label.PASSWORD, 2.5
    if not digits and (above.label if above else state.label) == Label.KEY:
        looks_made = (
            end > place + 1
            or looks_random(token.body)
            or is_likely(token.body)
            or TAIL.fullmatch(token.body) is not None
        )
        if not looks_made:
            return -9.0
    if token.body[0] in "#*" and (token.opens or state.label not in _OPENED_BY_DIGITS):
        return -9.0
    before = _before(state, token, is_digits=digits)
    behind = _behind(tokens, end, is_digits=digits)
    upper = 0.0
    if above and _begins(tokens, place, above):
        upper = _OF_DIGITS.get(Label(above.label), 0.0) if digits else above.base
        upper += 1.5 if end == len(tokens) or last.is_end else 0.5
    lead = tokens[place - 1] if place else None
    pair = 0.0
    if token.is_paired:
        pair = 4.0
    elif lead and place > 1 and not digits and lead.low in _PAIRING:
        pair = _of_pair(tokens[place - 2], lead, state, above)
    is_unknown = place > 1 and tokens[place - 2].low in _UNKNOWN
    if lead and lead.low == "user" and is_unknown and looks >= 3:
        pair = 5.0
    asked = 0.0
    if lead and lead.low in ASKING and looks >= 3 and not _NUMBERED.fullmatch(token.body):
        asked = 1.5
    if above and above.is_list and looks > 3 and (end == len(tokens) or last.is_end):
        upper = max(upper, above.base + (_LED if lead and lead.leads else _BESIDE))
    sure = max(before, behind, upper, pair, asked)
    if not sure:
        return -9.0
    sure += 0.5 * token.is_quoted
    if state.label == Label.PLACE and not digits and not any(map(str.isdigit, token.body)):
        sure -= 1.0
    sure += 0.5 * (end == len(tokens) or last.is_end or tokens[end].opens or tokens[end].low in _ENDING)
    sure += 0.5 * bool(lead and lead.low in ASKING)
    if lead and lead.low in NOUNS and not digits:
        sure -= 2.0
    if looks < 2.0 and behind == sure:
        sure -= 0.5
    return sure


_COMMENTS = frozenset(("#", "//", "--", "/*", "<!--"))
_UNKNOWN = frozenset(("invalid", "unknown", "illegal"))
_REMOTE = frozenset(("ssh", "ftp", "sftp", "scp", "vnc", "rdp", "telnet", "mosh"))
_PAIRING = frozenset(("/", ":", "—", "–", "|", "-", "::", "→", "->"))


def _of_pair(owner: Token, sign: Token, state: _State, above: _Above | None) -> float:
    """Return what the name before a value and a sign says."""
    is_account = owner.low in _ACCOUNTS or "@" in owner.body
    if sign.low == ":":
        return _PAIRED + 1.0 if state.label == Label.PLACE else 0.0
    if sign.low != "/" and not (is_account or (above and above.is_list)):
        return 0.0
    pair = _PAIRED + max(state.base, above.base if above else 0.0)
    return max(pair, _PAIRED + 2.0) if is_account else pair


_ACCOUNTS = frozenset(ACCOUNTS) | {"ubnt", "administrator", "admin", "root", "login"}
_ENDING = frozenset(
    ("—", "–", "-", "(", "#", "//", "<-", "←", "and", "but", "so", "und", "et", "y", "e")
)


def _begins(tokens: list[Token], place: int, above: _Above) -> bool:
    """Whether a line begins with a value, or who says it does."""
    if not place or tokens[place - 1].is_lead:
        return True
    return tokens[place - 1].is_speaker and above.is_asked


def _before(state: _State, token: Token, *, is_digits: bool) -> float:
    """Return what the words before a value say."""
    if not state.label:
        return 0.0
    base = state.of_digits if is_digits else state.base
    if not base:
        return 0.0
    led = state.led - 0.2 * max(0, state.since - 1) if state.since < _FAR else 0.0
    if state.is_network:
        base += 0.5
    if state.words == 0 and is_digits and (state.is_east or state.is_elsewhere):
        led = _LED
    elif state.words == 0:
        led = max(led, _BESIDE if state.label in _CALLED else 0.5)
    if token.opens and state.is_remote:
        led = _LED
    return base + led - 0.15 * max(0, state.words - _FAR)


def _behind(tokens: list[Token], end: int, *, is_digits: bool) -> float:
    """Return what the words behind a value say."""
    if end >= len(tokens):
        return 0.0
    if tokens[end - 1].is_stop:
        return 0.0
    first = tokens[end]
    is_led = first.low in BACK or first.opens
    ahead = 2 * _AHEAD if first.low in ARROWS_BACK else _AHEAD
    thats = next((t for t in tokens[end : end + 2 * _AHEAD] if t.low in THATS), None)
    if thats and tokens[end - 1].is_quoted:
        ahead, is_led = 2 * _AHEAD, True
    best = 0.0
    for far, token in enumerate(tokens[end : end + ahead]):
        label = token.label
        if label:
            base = _OF_DIGITS.get(Label(label), 0.0) if is_digits else _BASE[Label(label)]
            following = tokens[end + far + 1].low if end + far + 1 < len(tokens) else ""
            if following in FOLLOWS_LABEL:
                base -= 1.5
            best = max(best, base + (1.25 if is_led else -0.5) - 0.1 * far)
        if token.is_stop:
            break
    if first.low in BACK_ALONE:
        best = max(best, _BACK_ALONE)
    return best


def _read(state: _State, token: Token, place: int, tokens: list[Token]) -> None:
    """Go on behind a word that is no value."""
    low = token.low
    label = token.label
    before = tokens[place - 1].low if place else ""
    if label in (Label.ANY_CODE, Label.CODE) and before in OTHER_CODES:
        label = 0
    if low in _WORD and place and tokens[place - 1].low in WORDS_OF_SECRETS:
        label = Label.PASSWORD
    state.is_remote = state.is_remote or low in _REMOTE
    state.is_network = state.is_network or low in NETWORKS
    if label:
        base = _BASE[Label(label)]
        if label == Label.CODE and token.is_assigned:
            base = 0.5  # a pin of a board
        following = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if following in FOLLOWS_LABEL and not token.leads:
            base -= 1.5
        is_other = following in FOLLOWS_LABEL and not token.leads
        state.of_digits = state.of_digits if is_other else max(
            state.of_digits,
            _OF_DIGITS.get(Label(label), 0.0)
            + 0.5 * (not low.isascii() and label != Label.CODE),
        )
        if label in _OF_DIGITS and label != Label.DOOR:
            state.is_elsewhere = state.is_elsewhere or low not in ENGLISH
        if base >= state.base or state.words > 8 or token.is_assigned:
            state.label, state.base, state.words = label, base, 0
            state.is_east = low[0] >= "\u3000"
            state.led, state.since = 0.0, 99
        else:
            state.words += 1
            state.since += 1
    elif low in COPULAS or low in _COMMENTS:
        state.led, state.since = _LED, 0
    elif not any(map(str.isalnum, token.body)):
        state.led, state.since = _BESIDE, 0
    elif low in OPENING:
        state.opened = 0
    elif low in WITH and state.opened < _FAR:
        state.label, state.base, state.words = Label.PASSWORD, 2.0, 0
        state.led, state.since = _LED, 0
    elif low in LEADS:
        state.led, state.since = max(_BESIDE, state.led), 0
    elif low in TO and (state.is_moved or state.is_elsewhere):
        state.led, state.since = _LED, 0
    else:
        state.words += 1
        state.since += 1
    state.opened += 1
    if low in MOVES:
        state.is_moved = True
    if token.leads and label == Label.PLACE and token.is_assigned:
        state.led, state.since = 0.5, 0
    elif token.leads or (label and (token.is_joined or not low.isalnum() and is_sign(low))):
        state.led, state.since = _LED, 0
    if token.is_stop:
        state.base *= 0.7
        state.words += 2
        if not token.leads:
            state.led, state.since = 0.0, 99
