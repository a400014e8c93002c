"""Finds secrets that are several words: phrases, spoken digits and dictated signs."""

from __future__ import annotations

from hivemind_memory.redaction.in_prose.handing_labels import (
    Label,
    label_of,
    vocabulary_of,
)
from hivemind_memory.redaction.values.letter_check import says_what_it_is
from hivemind_memory.redaction.values.passphrase_check import (
    is_spoken_phrase,
    speaks_of_it,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.redaction.in_prose.line_tokens import Token

_DIGITS = vocabulary_of(
    "zero oh one two three four five six seven eight nine double triple null eins "
    "zwei zwo drei vier fünf sechs sieben acht neun un deux trois quatre cinq sept "
    "huit neuf cero uno dos tres cuatro cinco seis siete ocho nueve due tre quattro "
    "cinque sei sette otto nove um dois três quatro oito nul een twee drie zeven "
    "acht negen jeden dwa trzy cztery pięć sześć siedem osiem dziewięć ноль один "
    "два три четыре пять шесть семь восемь девять"
)
_TENS = vocabulary_of(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred zehn "
    "elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
)
_DICTATED = vocabulary_of(
    "capital uppercase underscore dash hyphen hash hashtag dollar exclamation "
    "asterisk ampersand percent bindestrich unterstrich großes großbuchstabe "
    "ausrufezeichen raute majuscule tiret exclamación guion mayúscula maiuscola "
    "trattino semicolon tilde"
)
_SAID_FIRST = vocabulary_of(
    "all case lowercase uppercase not too the a an in on as is it always never only "
    "at required wrong your my our their his her this that these those no"
)
_STOPS = vocabulary_of(
    "so but because and if when while for until unless since or now please which "
    "who und aber weil wenn damit mais parce pour pero porque para ma però perché и "
    "но"
)
_DESCRIBED = vocabulary_of(
    "all alles together no without one lowercase small klein zusammen "
    "kleingeschrieben ohne sans sin senza tout attaché minuscules junto"
)
_MOST = 14
_LEAST_DIGITS = 4
_LEAST_WORDS = 4


def spelled_out(
    tokens: list[Token],
    place: int,
    label: int,
    *,
    is_tight: bool,
    is_below: bool,
    line: str,
) -> tuple[int, str] | None:
    """Return where a secret of several words ends, and its kind; None: there is none.

    Args:
        tokens: The words of a line.
        place: Where it would begin.
        label: What it is called.
        is_tight: Whether nothing is between what leads to it and it.
        is_below: Whether it is a line below what calls it so.
        line: All of the line.
    """
    if label not in (Label.CODE, Label.ANY_CODE, Label.PASSWORD):
        return None
    end = _digits_end(tokens, place)
    if end:
        return end, "pin"
    if label != Label.PASSWORD:
        return None
    end = _single_letters_end(tokens, place)
    if not end and is_below:
        end = len(tokens) if _is_numbered(tokens) else 0
    is_direct = bool(place) and "phrase" in tokens[place - 1].low
    if not end and not is_below and (is_tight or is_direct):
        is_signed = bool(place) and tokens[place - 1].leads
        end = _phrase_end(tokens, place, line, is_direct=is_direct, is_signed=is_signed)
    return (end, "password") if end else None


def _digits_end(tokens: list[Token], place: int) -> int:
    """Return where spoken digits end; 0: there are none."""
    end, count = place, 0
    while end < len(tokens) and (said := digits_in(tokens[end].low)):
        end, count = end + 1, count + said
    return end if count >= _LEAST_DIGITS and end > place + 1 else 0


def _is_numbered(tokens: list[Token]) -> bool:
    """Whether a line is words and a number at the end, and speaks of nothing."""
    words = [token.low for token in tokens]
    return (
        _LEAST_WORDS <= len(words) < _MOST
        and words[-1].isdecimal()
        and all(map(str.isalpha, words[:-1]))
        and not any(map(speaks_of_it, words))
    )


def _phrase_end(
    tokens: list[Token], place: int, line: str, *, is_direct: bool, is_signed: bool
) -> int:
    """Return where the words of a passphrase end; 0: they are none."""
    end, is_described = place, False
    for token in tokens[place : place + _MOST]:
        is_described = end > place and token.low in _DESCRIBED
        is_over = end > place and (token.low in _STOPS or token.opens)
        if is_described or is_over or not any(map(str.isalnum, token.body)):
            break
        end += 1
        if token.is_end:
            break
    words = [token.low for token in tokens[place:end]]
    if len(words) < 3 or words[0] in _SAID_FIRST or any(map(label_of, words)):
        return 0
    text = line[tokens[place].start : tokens[end - 1].end]
    if "\\" in text:
        return 0
    if (is_described or is_direct) and not any(map(speaks_of_it, words)):
        return end
    return end if _is_phrase(words, text, is_signed=is_signed) else 0


def _single_letters_end(tokens: list[Token], place: int) -> int:
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
        return not any(map(says_what_it_is, words)) and not any(
            map(speaks_of_it, words)
        )
    if not all(map(str.isalpha, words)) or len(words) < 4:
        return False
    is_odd = is_signed or any(map(str.isupper, text.replace(" I ", " ")[1:]))
    return is_odd and is_spoken_phrase(text, is_quoted=False)
