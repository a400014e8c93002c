"""Takes the endings off inflected words, in scripts that stand for few languages.

The full-text engine does so for English. In Russian or Greek a word has a dozen
endings, so a question seldom has the one that stands in the note. The tables are those
of light stemmers: endings only, no rules about roots. A word is never changed by them
in the index; they say which of its words are looked up beside the one that was asked.

Source:
    Savoy: Light stemming approaches for the French, Portuguese, German and Hungarian
    languages, SAC 2006; Dolamic, Savoy: Indexing and stemming approaches for the Czech
    and Russian languages, 2009; Larkey, Ballesteros, Connell: Light stemming for Arabic
    information retrieval, 2007; Ramanathan, Rao: A lightweight stemmer for Hindi, 2003.
    The endings of verbs are those of the Snowball stemmers.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

MIN_STEM = 3
"""Letters that are left of a word at least."""

_CYRILLIC_AFTER_VOWEL = (
    "ла на ете йте ли й л ем н ло но ет ют ны ть ешь нно вши в вшись"
)
_CYRILLIC = """
ее ие ые ое ими ыми ей ий ый ой ем им ым ом его ого ему ому их ых ую юю ая яя ою ею
ила ыла ена ейте уйте ите или ыли уй ил ыл ен ило ыло ено ят ует уют ит ыт ены ить ыть
ишь ю а ев ов ье е иями ями ами еи ии и ией й иям ям ием ам о у ах иях ях ы ь ию ью
ия ья я і ї є ів ові еві ього ій
ът та то те ите ата ята ето
"""
_GREEK = """
οσ ου ο ε οι ων ουσ α ασ εσ η ησ ι ια ιασ ιων ιο ιου ιοσ ιοι ιουσ εισ εωσ εων υ υσ
ατοσ ατα ατων ω ει ουμε ετε ουν ουνε αμε ατε αν ανε ομαι εσαι εται ομαστε εστε ονται
ηκα ηκεσ ηκε ηκαμε ηκατε ηκαν θηκα θηκε θηκαν σα σεσ σε σαμε σατε σαν σω σεισ σει
σουμε σετε σουν ουσα ουσε ουσαν αει ασαι αται ωνται μενοσ μενη μενο μενοι μενεσ μενα
μενου μενων μενουσ
"""
_HINDI = """
ो े ू ु ी ि ा कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ाँ ां ों ें ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे
ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा
ातीं नाओं नाएं ताओं ताएं ियाँ ियों ियां ाएंगी ाएंगे ाऊंगी ाऊंगा
"""
_ARABIC_BEFORE = "وال بال كال فال ال لل و"
_ARABIC = "ها ان ات ون ين يه ية ه ة ي"


class _Script(NamedTuple):
    """The inflection of words in one script."""

    first: str
    last: str
    endings: str
    after_vowel: str = ""
    before: str = ""


_SCRIPTS = (
    _Script("\u0400", "\u052f", _CYRILLIC, _CYRILLIC_AFTER_VOWEL),
    _Script("\u0370", "\u03ff", _GREEK),
    _Script("\u0600", "\u06ff", _ARABIC, before=_ARABIC_BEFORE),
    _Script("\u0900", "\u097f", _HINDI),
)


def stem_of(token: str) -> str:
    """Return a word of the index without its ending; itself if it is not inflected.

    >>> stem_of("серверами") == stem_of("серверов") == "сервер"
    True
    """
    script = _script_of(token)
    if script is None:
        return token
    match = _pattern(script).fullmatch(token)
    return match.group(1) if match else token


def beginnings(token: str) -> list[str]:
    """Return what the words of the stem of *token* may begin with; empty: no stem."""
    script = _script_of(token)
    if script is None:
        return []
    stem = stem_of(token)
    if len(stem) < MIN_STEM:
        return []
    return [before + stem for before in ("", *script.before.split())]


def _script_of(token: str) -> _Script | None:
    """Return the script of a word that has endings."""
    if token.isascii():
        return None
    for script in _SCRIPTS:
        if script.first <= token[0] <= script.last:
            return script
    return None


@cache
def _pattern(script: _Script) -> re.Pattern[str]:
    """Return what splits a word; the shortest stem has the longest ending."""
    endings = "|".join(script.endings.split())
    if script.after_vowel:
        endings += f"|(?<=[ая])(?:{'|'.join(script.after_vowel.split())})"
    before = "|".join(script.before.split())
    more = "(?:ся|сь)?" if script.after_vowel else ""
    return re.compile(rf"(?:{before})?(.{{{MIN_STEM},}}?)(?:{endings})?{more}")
