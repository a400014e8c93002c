"""Finds secrets that are several words: phrases, spoken digits and dictated signs."""

from __future__ import annotations

from hivemind_memory.redaction.in_prose.handing_words import Label, label_of
from hivemind_memory.redaction.values.letter_check import says_what_it_is
from hivemind_memory.redaction.values.passphrase_check import (
    is_spoken_phrase,
    speaks_of_it,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.redaction.in_prose.line_tokens import Token

_DIGITS = frozenset(
    """
    zero oh one two three four five six seven eight nine double triple null eins zwei
    zwo drei vier fünf sechs sieben acht neun un deux trois quatre cinq sept huit neuf
    cero uno dos tres cuatro cinco seis siete ocho nueve due tre quattro cinque sei sette
    otto nove um dois três quatro oito nul een twee drie zeven acht negen jeden dwa trzy
    cztery pięć sześć siedem osiem dziewięć ноль один два три четыре пять шесть семь
    восемь девять
    """.split()
)
_TENS = frozenset(
    """
    ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety hundred zehn elf zwölf zwanzig
    dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
    """.split()
)
_DICTATED = frozenset(
    """
    capital uppercase underscore dash hyphen hash hashtag dollar exclamation asterisk
    ampersand percent bindestrich unterstrich großes großbuchstabe ausrufezeichen raute
    majuscule tiret exclamación guion mayúscula maiuscola trattino semicolon tilde
    """.split()
)
_SAID_FIRST = frozenset(
    """
    all case lowercase uppercase not too the a an in on as is it always never only at
    required wrong your my our their his her this that these those no
    """.split()
)
_STOPS = frozenset(
    """
    so but because and if when while for until unless since or now please which who
    und aber weil wenn damit mais parce pour pero porque para ma però perché и но
    """.split()
)
_DESCRIBED = frozenset(
    "all alles together no without one lowercase small klein zusammen kleingeschrieben"
    " ohne sans sin senza tout attaché minuscules junto".split()
)
_MOST = 14
_LEAST_DIGITS = 4


def spelled_out(
    tokens: list[Token], place: int, label: int, *, is_tight: bool, is_below: bool, is_signed: bool, line: str
) -> tuple[int, str] | None:
    """Return where a secret of several words ends, and its kind; None: there is none.

    Args:
        tokens: The words of a line.
        place: Where it would begin.
        label: What it is called.
        is_tight: Whether nothing is between what leads to it and it.
        is_below: Whether it is a line below what calls it so.
        is_signed: Whether a colon or an equals sign is before it.
        line: All of the line.
    """
    digits = place
    count = 0
    while digits < len(tokens) and (said := digits_in(tokens[digits].low)):
        digits, count = digits + 1, count + said
    is_code = label in (Label.CODE, Label.ANY_CODE, Label.PASSWORD)
    if is_code and count >= _LEAST_DIGITS and digits > place + 1:
        return digits, "pin"
    single = _single_letters(tokens, place)
    if single and label == Label.PASSWORD:
        return single, "password"
    if label != Label.PASSWORD:
        return None
    is_direct = bool(place) and "phrase" in tokens[place - 1].low
    if is_below:
        words = [token.low for token in tokens]
        is_numbered = 3 < len(words) < _MOST and words[-1].isdecimal()
        is_plain = all(map(str.isalpha, words[:-1])) and not any(map(speaks_of_it, words))
        return (len(tokens), "password") if is_numbered and is_plain else None
    if not is_tight and not is_direct:
        return None
    end, is_described = place, False
    while end < len(tokens) and end < place + _MOST:
        token = tokens[end]
        if end > place and (token.low in _STOPS or token.opens):
            break
        if end > place and token.low in _DESCRIBED:
            is_described = True
            break
        if not any(map(str.isalnum, token.body)):
            break
        end += 1
        if token.is_end:
            break
    words = [token.low for token in tokens[place:end]]
    if len(words) < 3 or words[0] in _SAID_FIRST or any(map(label_of, words)):
        return None
    if (is_described or is_direct) and not any(map(speaks_of_it, words)):
        return end, "password"
    text = line[tokens[place].start : tokens[end - 1].end]
    return (end, "password") if _is_phrase(words, text, is_signed=is_signed) else None


def _single_letters(tokens: list[Token], place: int) -> int:
    """Return where letters that stand one by one end; 0: there are none."""
    end, letters = place, ""
    while end < len(tokens) and len(tokens[end].body) == 1:
        letters += tokens[end].body if tokens[end].body.isalnum() else ""
        end += 1
    is_mixed = not letters.isalpha() and not letters.isdigit()
    return end if len(letters) >= _LEAST_LETTERS and is_mixed else 0


_LEAST_LETTERS = 5


def digits_in(word: str) -> int:
    """Return how many digits a word says; 0: it is none."""
    parts = word.split("-")
    if not all(part in _DIGITS or part in _TENS for part in parts):
        return 0
    return 2 if parts[0] in _TENS else len(parts)


def _is_phrase(words: list[str], text: str, *, is_signed: bool) -> bool:
    """Whether words are what a password is, and say nothing of it."""
    plain = [word for word in words if word not in _DICTATED]
    if len(plain) < len(words) and len(plain) > 1:
        return not any(map(says_what_it_is, plain))
    if words[-1].isdecimal() and all(map(str.isalpha, words[:-1])):
        return not any(map(says_what_it_is, words)) and not any(map(speaks_of_it, words))
    if not all(map(str.isalpha, words)) or len(words) < 4:
        return False
    is_odd = is_signed or any(map(str.isupper, text.replace(" I ", " ")[1:]))
    return is_odd and is_spoken_phrase(text, is_quoted=False)
