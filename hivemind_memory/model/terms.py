"""Splits text into terms: one rule for notes and queries.

The full-text engine splits at everything that is not a letter, a digit or a combining
mark, folds case and diacritics, and stems English. What it cannot do is added here, as
*extra terms* beside the text of a chunk and as extra terms of a query: one- and
two-grams of scripts that write no spaces, the parts of identifiers, words with signs
(``symbols``), the plain form of characters that Unicode keeps for compatibility, and
points that Greek, Russian, Hebrew and Arabic may leave out.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from hivemind_memory.model.generic_words import is_generic
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.symbols import is_all_signs, may_hold_signs, signed_words
from hivemind_memory.patterns.lazy_pattern import lazy_re

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""How the full-text engine cuts texts into words, wherever it is used."""

REASON_WEIGHT = 0.5
"""What a word in the reason of a memory counts, of what it counts in the text."""

MAX_TERMS = 64
"""Terms of one query that count; what is beyond is reported as ignored."""

MAX_QUERY_CHARS = 4_000
"""Characters of a query that are read at all: 64 terms fit many times over."""

# Scripts that write no spaces between words, and Hangul, whose words carry endings
# that no stemmer here takes off: Thai, Lao, Tibetan, Myanmar, Khmer, Kana, Bopomofo,
# Han, Hangul. Ranges of the Unicode blocks, version 15.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007"
    "\u3040-\u30ff\u3100-\u312f\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
RUN_DIGIT_GROUPS = 3
"""Groups of digits from which a word is a run of letters and digits, such as a hash:
what stands between the digits is there by chance."""

_ASCII_COMPOUND = lazy_re(r"[A-Za-z0-9]+(?:[-_./\\:@]+[A-Za-z0-9]+)*")
_ASCII_PART = lazy_re(r"[A-Za-z0-9]+")


# Each byte of ASCII to its kind: a lower case, A upper case, 0 digit, space the rest.
_KINDS = bytes(
    0x61
    if 0x61 <= byte <= 0x7A
    else 0x41
    if 0x41 <= byte <= 0x5A
    else 0x30
    if 0x30 <= byte <= 0x39
    else 0x20
    for byte in range(256)
)
# The same, the letters and digits kept.
_WORDS = bytes(0x20 if kind == 0x20 else byte for byte, kind in enumerate(_KINDS))
# Where a word falls apart: fooBar, HTTPServer, utf8, V2.
_SEAMS = (b"aA", b"AAa", b"a0", b"A0")
# The kinds of words that do not: most of those there are.
_PLAIN = frozenset(
    kinds
    for length in range(1, 33)
    for kinds in (b"a" * length, b"A" * length, b"A" + b"a" * length, b"0" * length)
)


@cache
def _mixed_part() -> re.Pattern[str]:
    """Return what finds the parts of a word of mixed kinds."""
    return re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class _Patterns:
    """Patterns for text beyond ASCII: compiling them takes longer than an answer."""

    def __init__(self) -> None:
        # Marks belong to their word: without them Hindi and Thai fall into pieces.
        marks = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
        marks += "\u0670\u06d6-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3"
        marks += "\u0816-\u082d\u0859-\u085b\u0898-\u08ff\u0900-\u0dff\u0e00-\u109f"
        marks += "\u135d-\u135f\u1712-\u1734\u1752-\u1773\u1780-\u17ff\u18a9"
        marks += "\u1920-\u193b\u1a17-\u1a7f\u1ab0-\u1ace\u1b00-\u1bff\u1c24-\u1c37"
        marks += "\u1cd0-\u1cf9\u1dc0-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0"
        marks += "\ua802-\ua82c\ua880-\ua8f1\ua926-\uaaef\uabe3-\uabed"
        word = rf"(?:[^\W_]|[{marks}])"
        spaced = rf"(?:(?![{_UNSPACED}]){word})"
        self.compound = re.compile(rf"{word}+(?:[-_./\\:@]+{word}+)*")
        self.part = re.compile(rf"{word}+")
        self.unspaced_run = re.compile(f"[{_UNSPACED}]+")
        # What is right beside an unspaced run: the engine takes "NHK杯" for one.
        self.glued = re.compile(
            f"(?<=[{_UNSPACED}]){spaced}++|(?<!{word}){spaced}++(?=[{_UNSPACED}])"
        )
        self.bare = _bare_letters()
        self.has_bare = re.compile(f"[{''.join(map(chr, self.bare))}]")


def _bare_letters() -> dict[int, str | None]:
    """Return what becomes of letters and marks that people write or leave out.

    The engine folds Latin accents by itself. Greek loses its accents in capitals and in
    haste, Russian its dots on yo, Hebrew and Arabic their points almost always. German
    is typed without its sharp s where the keyboard has none, and always in Switzerland.
    """
    from unicodedata import normalize

    bare: dict[int, str | None] = {ord("ё"): "е", ord("Ё"): "Е", ord("ς"): "σ"}
    bare |= {ord("ß"): "ss", ord("ẞ"): "SS"}
    for block in (range(0x0386, 0x03CF), range(0x1F00, 0x1FFD)):
        for code in block:
            plain = normalize("NFD", chr(code))[0]
            if plain != chr(code) and plain.isalpha():
                bare[code] = plain
    points = (
        *range(0x0591, 0x05BE),
        *(0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7),
        *range(0x0610, 0x061B),
        *range(0x064B, 0x0660),
        *(0x0640, 0x0670),
    )
    return bare | dict.fromkeys(points)


@cache
def _patterns() -> _Patterns:
    """Return the patterns, compiled once."""
    return _Patterns()


# Words that ask and carry nothing: closed classes of English (pronouns, auxiliaries,
# articles, prepositions, question words). Those of other languages count half; see
# ``generic_words``.
_QUESTION_WORDS = """
a about am an and any are as at be been being by can could did do does doing for from
had has have having he her hers him his how i if in into is it its itself just me mine
my of on or our ours shall she should so some such than that the their theirs them then
there these they this those to us was we were what when where which while who whom
whose why will with would you your yours
"""
QUESTION_WORDS = frozenset(_QUESTION_WORDS.split())


_TIME_WORDS = (
    " abril agosto agustos agustus an annee annees anni anno ano anos ans anteayer"
    " anteontem aout apr april aprile ar aralik aret aug august augusti augustus"
    " avril ay ayer bugun czerwca czerwcu dag dagar dagen day days dec december"
    " decembre desember dezember dezembro dia dias dicembre diciembre dienstag"
    " dimanche dinsdag dni domenica domingo donderdag donnerstag dun dzien dzisiaj"
    " eergisteren ekim enero eylul feb febbraio febrero februar februari february"
    " fevereiro fevrier freitag friday gennaio gestern giorni giorno giovedi"
    " gisteren giugno grudnia grudniu gun hafta haziran heute hoje hoy idag ieri"
    " igar jaar jaenner jahr jahre jahren jahres jan janeiro janner januar januari"
    " january janvier jaren jeudi jour jours jueves juillet juin jul julho juli"
    " julio july jun june junho juni junio kasim kwietnia kwietniu lat lata lipca"
    " lipcu listopada listopadzie luglio lundi lunedi lunes lutego lutym maand"
    " maandag maanden maart maerz maggio mai maio maj maja maju manad manaden"
    " manader mar marca march marco marcu mardi maret mars mart martedi martes marz"
    " marzo may mayis mayo mei mercoledi mercredi mes mese meses mesi miercoles"
    " miesiac miesiace miesiacu miesiecy mittwoch mois monat monate monaten monats"
    " monday montag month months nisan nov november novembre novembro noviembre ocak"
    " oct october octobre octubre oggi oktober ontem ottobre outubro pazdziernika"
    " pazdzierniku przedwczoraj rok roku sabado sabato samedi samstag saturday"
    " semaine semaines semana semanas sep sept september septembre septiembre"
    " setembro settembre settimana settimane sierpnia sierpniu sonntag stycznia"
    " styczniu subat sunday tag tage tagen temmuz thursday today tuesday tydzien"
    " tygodni tygodnie tygodniu vandaag vecka veckan veckor vendredi venerdi viernes"
    " vorgestern vrijdag wczoraj wednesday week weeks weken woche wochen woensdag"
    " wrzesnia wrzesniu year years yesterday yil zaterdag zondag "
)
"""The words of the tables in ``time_words``, with a blank before and behind each."""


class QueryTerm(NamedTuple):
    """One thing to look up."""

    text: str
    """A word, a gram, or words that must be side by side (``snake case``)."""

    is_phrase: bool = False
    """Several words side by side, looked up beside each of them."""

    is_generic: bool = False
    """It says little in any text; see ``generic_words``."""

    forms: tuple[str, ...] = ()
    """Other forms of the word, each as good as it: ``went`` for ``go``."""

    last_form: str = ""
    """What is looked up if no note has the word in any form."""


class QueryTerms(NamedTuple):
    """A query, ready to be looked up."""

    terms: tuple[QueryTerm, ...]
    """At most ``MAX_TERMS``, each once, words before phrases."""

    ignored: int
    """Terms that did not count because there were more."""


def query_terms(query: str) -> QueryTerms:
    """Return the terms of *query*; any text at all is legal.

    Question words are left out unless nothing else is left.

    >>> [term.text for term in query_terms("Where is the user_id set?").terms]
    ['user', 'id', 'set', 'user id']
    """
    text, rest = query[:MAX_QUERY_CHARS], query[MAX_QUERY_CHARS:]
    compound_pattern, part_pattern = _ASCII_COMPOUND, _ASCII_PART
    if not text.isascii():
        from unicodedata import normalize

        patterns = _patterns()
        # Python makes the last letter of a word in capitals a final sigma.
        text = normalize("NFKC", text).replace("Σ", "σ").translate(patterns.bare)
        # One character may have become eighteen.
        text, rest = text[:MAX_QUERY_CHARS], text[MAX_QUERY_CHARS:] + rest
        compound_pattern, part_pattern = patterns.compound, patterns.part
    words: dict[str, None] = {}
    phrases: dict[str, None] = {}
    for compound in compound_pattern.findall(text):
        parts = part_pattern.findall(compound)
        if not compound.isascii():
            # Marks without a letter: of a flag, or of an emoji.
            parts = [part for part in parts if any(map(str.isalnum, part))]
        if len(parts) > 1:
            phrases[" ".join(parts).lower()] = None
        for part in parts:
            words.update(dict.fromkeys(_terms_of_word(part)))
    if may_hold_signs(text):
        for word in signed_words(text):
            # With letters it is looked up beside them, as a phrase is.
            (words if is_all_signs(word) else phrases)[word] = None
    weighty = [word for word in words if word not in QUESTION_WORDS]
    kept = weighty or list(words)
    terms = [QueryTerm(word, is_generic=is_generic(word)) for word in kept]
    terms += [QueryTerm(phrase, is_phrase=True) for phrase in phrases]
    ignored = max(0, len(terms) - MAX_TERMS) + len(rest.split())
    return QueryTerms(tuple(terms[:MAX_TERMS]), ignored)


def may_name_time(query: str) -> bool:
    """Whether it is worth loading ``time_spans`` for a query; most name no time.

    >>> may_name_time("what did we decide last week?"), may_name_time("which port?")
    (True, False)
    """
    if not query.isascii() or any(digit in query for digit in "0123456789"):
        return True
    words = query[:MAX_QUERY_CHARS].lower()
    return any(f" {word} " in _TIME_WORDS for word in _ASCII_PART.findall(words))


def words_of(text: str) -> list[str]:
    """Return the words of *text* as the full-text engine cuts them, in order."""
    pattern = _ASCII_PART if text.isascii() else _patterns().part
    return pattern.findall(text)


def scan_ascii_words(data: bytes) -> tuple[int, list[str]]:
    """Return how many words the full-text engine makes of a text in ASCII.

    And the parts of its mixed words, like ``fooBar``, ``HTTPServer`` or ``utf8``.

    >>> scan_ascii_words(b"a fooBar")
    (2, ['foo', 'bar'])
    """
    return scan_kinds(*kinds_and_words(data))


def kinds_and_words(data: bytes) -> tuple[bytes, bytes]:
    """Return a text in ASCII as kinds of letters, and with blanks for all but letters.

    Both are as long as the text, so that they can be cut where it is.

    >>> kinds_and_words(b"a fooBar.")
    (b'a aaaAaa ', b'a fooBar ')
    """
    return data.translate(_KINDS), data.translate(_WORDS)


def scan_kinds(kinds: bytes, words: bytes) -> tuple[int, list[str]]:
    """Return what ``scan_ascii_words`` does, for what ``kinds_and_words`` returned."""
    # Kinds instead of a pattern over the text: nearly every word is plain, and this
    # shows that in a tenth of the time.
    each = kinds.split()
    parts: list[str] = []
    if not _PLAIN.issuperset(each):
        for word, kind in zip(words.split(), each, strict=True):
            if kind not in _PLAIN:
                parts += _parts_of_word(word)
    return len(each), parts


def is_run(word: str) -> bool:
    """Return whether letters and digits alternate as in a hash, not as in a name.

    >>> is_run("3fa9c1bde77a04f1"), is_run("utf8mb4")
    (True, False)
    """
    return _is_run(word.encode("ascii", "replace").translate(_KINDS))


def _is_run(kinds: bytes) -> bool:
    """Return whether the kinds of a word's letters are those of a run."""
    inside = kinds.count(b"a0") + kinds.count(b"A0")
    return inside + kinds.startswith(b"0") >= RUN_DIGIT_GROUPS


@lru_cache(maxsize=4096)
def _parts_of_word(word: bytes) -> tuple[str, ...]:
    """Return the parts of a word of mixed kinds; none of a plain one, or of a run."""
    kinds = word.translate(_KINDS)
    if not any(seam in kinds for seam in _SEAMS) or _is_run(kinds):
        return ()
    return tuple(part.lower() for part in _mixed_part().findall(word.decode("ascii")))


def extra_terms(body: str) -> str:
    """Return the terms of *body* that the full-text engine would not find by itself.

    Space-separated, in the order of the text, a term as often as it occurs; empty for
    plain prose. Linear in the length of *body*.

    >>> extra_terms("see HTTPServer in 东京")
    'http server 东 东京 京'
    """
    if body.isascii():
        return " ".join(_mixed_parts(body) + signed_words(body))
    from unicodedata import is_normalized, normalize

    patterns = _patterns()
    found = _mixed_parts(body) + signed_words(body)
    if not is_normalized("NFKC", body):
        plain = normalize("NFKC", body)
        known = set(body.split())
        added = [word for word in plain.split() if word not in known]
        found += added + _mixed_parts(" ".join(added))
        body = plain
    if patterns.has_bare.search(body):
        body_words = filter(patterns.has_bare.search, body.split())
        found += [word.translate(patterns.bare) for word in body_words]
    runs = patterns.unspaced_run.findall(body)
    if runs:
        found += patterns.glued.findall(body)
    for run in runs:
        found += _grams(run)
    return " ".join(found)


def _terms_of_word(word: str) -> list[str]:
    """Return *word* itself, its parts, and the grams of its unspaced runs."""
    if word.isascii():
        if word.isalpha() and word.islower():  # the usual word of a query
            return [word]
        parts = _mixed_parts(word)
        return [word.lower(), *parts] if parts else [word.lower()]
    terms: list[str] = []
    end = 0
    for run in _patterns().unspaced_run.finditer(word):
        if run.start() > end:
            terms.append(word[end : run.start()].lower())
        terms += _grams(run.group())
        end = run.end()
    if end < len(word):
        terms.append(word[end:].lower())
    return terms


def _mixed_parts(text: str) -> list[str]:
    """Return the parts of the mixed words in a text."""
    return scan_ascii_words(text.encode("ascii", "replace"))[1]


def _grams(run: str) -> list[str]:
    """Return the one- and two-grams of a run, each one-gram before its two-gram."""
    grams: list[str] = []
    for at, character in enumerate(run):
        grams.append(character)
        if at + 1 < len(run):
            grams.append(run[at : at + 2])
    return grams
