"""Finds passwords of letters alone where a sentence or an answer states them.

``The password of staging is kuvaritomel, as before``, ``пароль kuvaritomel``, the line
that answers ``what's the pw for grafana?``. What leads to the value is strict, and the
value is a long word that no document puts there.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_formats.columns import columns
from hivemind_memory.redaction.in_prose.spoken_phrases import spoken_phrases
from hivemind_memory.redaction.prose_words import PASSWORD_STEMS
from hivemind_memory.redaction.sentence_gate import ACCOUNTS, NAME_WORDS
from hivemind_memory.redaction.spans import has_any, matches_at
from hivemind_memory.redaction.values.letter_check import (
    may_be_answer,
    may_be_letters,
    may_be_spoken_word,
)
from hivemind_memory.redaction.values.passphrase_check import is_drawn
from hivemind_memory.redaction.values.password_check import is_counted, may_be_chosen
from hivemind_memory.redaction.values.value_check import looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_PASSWORD = "password"  # noqa: S105 - the name of a kind
_FAR = 120  # letters after a label that are read
_STEMS = "|".join(stem for stem in PASSWORD_STEMS if stem not in {"passwd", "парол"})
_LABEL = lazy_re(
    r"(?i)(?<![\w$@.])(?:(?:[^\W\d_]{1,20}-)?(?:pass(?:word|phrase|code|wd)|pw[ds]?|mdp"
    r"|(?<=, )pass|(?<=/ )pass|clave)(?![\w(\[=])"
    rf"|[^\W\d_]{{0,20}}(?:{_STEMS}|парол)(?:[^\W\d_\u2e80-\uffff]{{0,6}})(?![\w(\[=]"
    r"(?<![\u2e80-\uffff])))"
)
_LETTER = r"[^\W\d_\u2e80-\uffff]"
_LABEL_WORD = lazy_re(
    rf"(?i)pass(?:word|phrase|code|wd)|pw|mdp|(?<=, )pass|(?<=/ )pass|clave|"
    rf"{_STEMS}|парол"
)
_LABEL_STARTS = (
    *("pass", "pw", "mdp", "clave"),
    *(stem for stem in PASSWORD_STEMS if stem.isascii()),
)
"""One of these begins each of them, in a text of ASCII letters."""

_LONGEST_BEGINNING = 21  # letters and a dash
_VALUE = rf"(?P<value>{_LETTER}(?:{_LETTER}|[-._](?=[^\W\d_])){{5,60}}+)"
_OPEN, _SHUT = r"[\"'`“„«*‘]", r"[\"'`”“»*’]"
# A sentence that goes on in the next line has not ended.
_ENDS = (
    r"(?=[,;!?)»\"<]|[ \t]*\r?(?:\n(?!(?-i:[ \t>*#/]*[a-z]))|\Z)|\.(?:[ )]|[ \t]*\r?"
    r"(?:\n|\Z))"
    r"|[ \t][(–—:-])"
)
_GOES_ON = (
    r"(?=[ \t](?:for|from|von|on|in|at|and|since|until|till|when|while|as|if|set|für"
    r"|auf|im|und|seit|bis|pour|sur|dans|et|para|en|y|per|su|e|i|na|для|и|на|в|met"
    r"|voor|op|oldu|gesetzt|yesterday|today|now)\b)"
)
_COPULA = (
    r"(?:is|stays|was|are|were|became|becomes|remains|reads|says|ist|war|lautet|lautete|heißt"
    r"|bleibt|wird|est|était|c['’]est|reste|es|era|está|será|è|era|diventa|resta|é|foi"
    r"|fica|wordt|blijft|jest|było|to|je|bylo|bude|este|är|var|heter|er|hedder|ble|blev"
    r"|on|oli|olan|это|стал|теперь|сейчас|є|тепер|είναι)"
)
_LED = lazy_re(
    r"(?i)(?![ ](?:manager|policy|hash|field|file|store|vault|prompt|reset))"
    rf"[^\n.!?]{{0,60}}?(?<![^\W\d_]){_COPULA}[ \t]{{1,3}}"
    r"(?:(?:now|still|simply|übrigens|just|always|currently|again|nun|jetzt"
    r"|weiterhin|immer|noch"
    r"|ahora|maintenant|ora|agora|nu|teraz|теперь|nyt|teď)[ \t:]{1,3})?"
    rf"(?P<quote>{_OPEN}{{0,3}}+){_VALUE}(?:(?={_SHUT})|{_ENDS}|{_GOES_ON})"
)
_CHANGED = lazy_re(
    r"(?i)[^\n.!?]{0,50}?(?<![^\W\d_])(?:to|auf|à|a|para|na|naar|till|til|как"
    r"|на)[ \t]{1,3}"
    rf"(?P<quote>{_OPEN}{{0,3}}+)"
    rf"(?:{_VALUE}|(?P<chosen>[^\s\"'`]{{8,64}}))(?:(?={_SHUT})|{_ENDS}|(?=[ \t]))"
)
_MOVES = lazy_re(
    r"(?i)chang|\bset\b|reset|updat|rotat|\bremis\b|\bmis\b|änder|gesetzt|umgestellt"
    r"|cambi"
    r"|puse|alter|mudei|troquei|zmieni|ustawi|gewijzigd|ändra|смени|помен|постав|vaihd"
    r"|impost|établi|modif|mess[ao]"
)
_DIRECT = lazy_re(
    rf"[ \t]{{1,3}}(?P<quote>{_OPEN}{{0,3}}+){_VALUE}(?:(?={_SHUT})|{_ENDS}|{_GOES_ON})"
)
_BRACKETED = lazy_re(
    rf"[^\n:.()]{{0,24}}?[ ]\((?P<quote>{_OPEN}{{0,3}}+){_VALUE}{_SHUT}{{0,3}}\)"
)
_LISTED = lazy_re(
    rf"[^\n:：=|⇒→]{{0,50}}[:：=⇒→][ \t]{{0,4}}(?P<quote>{_OPEN}{{0,3}}+){_VALUE}"
    rf"{_SHUT}{{0,3}}[ \t.,;]{{0,3}}(?:\r?(?:\n|\Z)|(?=[ ]?(?:\(|—|–|-->|[<}}])))"
)
_OTHER_SCRIPT = lazy_re(
    r"(?:[\u2e80-\uffff]{0,8}[ \t:「『]{0,3}"
    r"|[ ]?[:—–-]?[ ](?:(?:это|теперь|сейчас|стал|є|тепер|είναι|هي|هو|היא|הוא)[ :])?)"
    r"[\"'`]?(?P<value>[A-Za-z](?:[A-Za-z0-9]|[-._](?=\w)){5,40})(?![\w(=/@])"
)
_MIDDLE = lazy_re(
    r"(?i)[^\n.!?]{3,60}?[ \t](?P<quote>[\"'`“„«*]{0,3}+)"
    r"(?P<value>[^\s\"'`“”„«»*.,;:()]{6,60})[\"'`”“»*]{0,3}[ \t](?:gesetzt|vergeben"
    r"|eingestellt|festgelegt|gewählt|hinterlegt|eingetragen|oldu|yapt[ıi]\w{0,4}"
    r"|olarak|verwendet|benutzt|gebruikt|ingesteld)(?![^\W\d_])"
)
_BEFORE = lazy_re(
    r"(?i)(?<![^\s\u2e80-\uffff\"'`「『“„«])(?P<value>[A-Za-z][\w!#$%&*+.-]{5,40}?)"
    r"[\"'`」』”“»]{0,2}(?:という(?:パスワード|合言葉|暗証番号)|라는 (?:비밀번호|암호)|"
    r"(?:这个|這個)?密码)"
    r"|(?<![\w.-])(?P<other>[^\W\d_]{9,40})[ \t](?:(?:as (?:the|its|their|my|our|a) "
    r"(?:\w+ )?password)"
    r"|als (?:[Pp]asswort|[Kk]ennwort|wachtwoord)|comme mot de passe|como contraseña"
    r"|como senha|come password|jako hasło)(?![\w-])"
)
_KEY = lazy_re(
    r"(?i)(?<![\w$@.-])(?:pre-?shared[ -]key|psk|(?:network|wi-?fi|wlan|wpa\d?)[ -]key"
    r"|(?:wi-?fi|wlan|network|netzwerk|ssid)\b[^\n.!?]{1,50}?,[ ](?:key|schlüssel|clé"
    r"|clave|chiave|ключ)|(?:signing|shared|session|webhook"
    r"|client|jwt|hmac|app)[ -](?:secret|key)|pepper|netzwerkschlüssel|wlan-schlüssel)"
    r"(?:[ \t]{0,2}[:=][ \t]{0,3}|[ \t]{1,3}(?:is|was|ist|war|est|es|è|é"
    r"|stays)[ \t]{1,3}"
    r"(?:now |still |simply |just |nur |jetzt )?|(?<=key)[ \t](?=[^\s,.;]{9,60}[,.;])"
    r"|(?<=schlüssel)[ \t]|(?<=, clé)[ \t]|(?<=, clave)[ \t]|(?<=, chiave)[ \t]"
    r"|(?<=, ключ)[ \t])"
    rf"(?P<quote>{_OPEN}{{0,3}}+){_VALUE}(?:(?={_SHUT})|{_ENDS}|{_GOES_ON})"
)
_COMMUNITY = lazy_re(
    r"(?i)(?:\bsnmp\w{0,3}\b[^\n.!?]{0,40}?\bcommunity(?:[ -]string)?"
    r"|\bcommunity[ -]string|\berlang[ -]cookie)"
    r"(?:[ \t]{0,2}[:=][ \t]{0,3}|[ \t]{1,3}(?:(?:is|was|ist|est|es|è)[ \t]{1,3})?)"
    rf"(?P<quote>{_OPEN}{{0,3}}+){_VALUE}(?:(?={_SHUT})|{_ENDS}|{_GOES_ON})"
)
_SHORTEST_MADE = 15  # the cookie that Erlang makes has 20 capitals
_KEY_WORDS = (
    *("key", "psk", "secret", "schlüssel", "clé", "clave", "chiave", "ключ", "pepper"),
)
_MADE = lazy_re(
    r"(?i)(?<![^\W_])(?:[\w-]{0,20}tokens?|jeton|api[ -]?(?:key|schlüssel|sleutel"
    r"|nyckel)|chave|clave|clé|chiave|schlüssel|klucz|ключ|токен|secret|geheimnis"
    r"|session(?:[_-]?id)?(?==))(?![\w(\[])"
    rf"(?:[ \t]?[=:]|[^\n.!?=:]{{0,40}}?(?<![^\W\d_]){_COPULA}(?:[ \t](?:now|jetzt|nun"
    r"|ahora|maintenant|ora|agora|still|теперь))?[ \t])[ \t\"'`]{0,3}"
    r"(?P<value>[0-9a-f]{32,64}|[\w-]{24,80})(?![\w/-])"
)
_NO_TOKEN = (
    *("sha", "commit", "hash", "md5", "digest", "checksum", "public", "fingerprint"),
    *("revision", "http", "öffentlich", "publique", "pública", "pubblica", "key id"),
)
_PROMPTED = lazy_re(
    r"(?i)\b(?:prompt(?:s|ed)?|ask(?:s|ed)?|login|passphrase|password)\b[^\n.!?]{0,50}?"
    r"\b(?:enter|type|answer|say|reply)[ \t](?:with[ ])?[\"'`]?"
    r"(?P<value>[a-z]{3,12}(?:-[a-z]{3,12}){2,6})(?![\w-])"
)
_PAIR = lazy_re(
    rf"(?i)(?<![\w/.@-])(?:{'|'.join(ACCOUNTS)})[\"'`]?[ \t]+/[ \t]+(?P<quote>[\"'`]?)"
    rf"{_VALUE}(?:(?=[\"'`])|{_ENDS}|{_GOES_ON})"
)
_PAIR_WORDS = frozenset(("login", "cred", "user", "account", "pass", "connect", "auth"))
_QUESTION = lazy_re(
    r"(?im)^(?P<ask>[^\n]{0,200}?(?<![^\W\d_])(?P<what>pass(?:word|phrase|code|wd"
    r"|wort)?s?|pw|pwd"
    r"|mdp|p[ui][kn]|creds?|kennwort|contraseña|senha|mot de passe|parola|wachtwoord"
    r"|hasło|şifre\w{0,4}|парол\w{0,3}|пин\w{0,4}|door code"
    r"|alarm code)(?![^\W\d_])[^\n]{0,160})\r?\n"
    r"(?:[ \t>]*\r?\n)?[ \t]{0,4}"
    r"(?:[\[(]?\d\d?[:.h]\d\d(?:[:.]\d\d)?[\])]?[ \t-]{0,3})?"
    r"(?P<who>[*_<@]{0,3}[^\W\d][\w.@-]{0,24}[>*_]{0,3}"
    r"(?:[ ]\([^\n()]{1,20}\))?[ ]?[:>][ \t*_]{1,3})?"
    r"(?:(?:it[’']?s|its|is|use|try|yes|yep|sure|still|now|it|the|password|pw|pin"
    r"|code|ist"
    r"|es|der|das|nimm|c['’]est|es la|è|это|jest|to)[ ,:]{1,3}){0,4}"
    r"(?P<quote>[\"'`*]{0,3}+)(?P<value>[^\s\"'`*,;:!()]{4,64})[\"'`*.!]{0,3}"
    r"(?=[ \t]*\r?(?:\n|\Z)|[ \t]*[,;(]|[ \t]+[^\w\s]|[ \t](?:for|all|on|für|pour)\b)"
)
_ASKS = lazy_re(
    r"(?i)\?|\b(?:what|which|forgot|again|help|need|remind|send|vergessen|nochmal"
    r"|oublié"
    r"|olvid|dimentic)"
)
_PIN_WORDS = ("pin", "puk", "code", "пин")
_SENTENCE_WORDS = (*NAME_WORDS, "clave")


def in_spoken_letters(there: LineWords) -> list[TextSpan]:
    """Return the passwords that sentences and answers state, letters alone too."""
    spans: list[TextSpan] = []
    if there.has_any(_NAMES) or "phrase" in there:
        spans += spoken_phrases(there)
    if there.has_any(_NAMES):
        spans += _stated(there)
        spans += _before(there.near(_BEFORE, _SENTENCE_WORDS))
    if there.has_any(_NAMES | _ASKED):
        spans += _answered(there.near(_QUESTION, (*_NAMES, *_ASKED), below=2))
    spans += _words(there.near(_KEY, _KEY_WORDS))
    spans += _shared(there.near(_COMMUNITY, ("community", "cookie")))
    spans += _made(there)
    spans += _pins(there)
    for found in there.near(_PROMPTED, ("user", "pass", "login", "enter", "prompt")):
        if is_drawn(found["value"], least=3):
            spans.append((*found.span("value"), _PASSWORD))
    if "/" in there.text:
        spans += _words(there.near(_PAIR, _PAIR_WORDS))
    return spans


_NAMES = frozenset(_SENTENCE_WORDS)
_ASKED = frozenset(("pin", "puk", "cred", "code"))


def _labels(there: LineWords) -> Iterator[re.Match[str]]:
    """Yield what ``_LABEL`` finds: it is tried only where its words are."""
    text, done = there.text, 0
    # In other scripts a letter may be the capital of one that is in none of the words.
    starts = [start for start in _LABEL_STARTS if start in there.low]
    for start, end in there.blocks(there.rows(_SENTENCE_WORDS)):
        for word in (
            matches_at(_LABEL_WORD, text, _places(there.low, starts, start, end))
            if text.isascii()
            else _LABEL_WORD.finditer(text, start, end)
        ):
            first = max(start, done, word.start() - _LONGEST_BEGINNING)
            for at in range(first, word.start() + 1):
                label = _LABEL.match(text, at, end)
                if label:
                    done = label.end()
                    yield label
                    break


def _places(low: str, words: Iterable[str], start: int, end: int) -> set[int]:
    """Return where some words are in a part of a text."""
    places: set[int] = set()
    for word in words:
        at = low.find(word, start, end)
        while at >= 0:
            places.add(at)
            at = low.find(word, at + 1, end)
    return places


def _stated(there: LineWords) -> Iterator[TextSpan]:
    """Yield what follows a word for a password."""
    text = there.text
    for label in _labels(there):
        at = label.end()
        stop = min(len(text), at + _FAR)
        for pattern in (_LED, _DIRECT, _LISTED, _BRACKETED, _MIDDLE):
            found = pattern.match(text, at, stop)
            if found and may_be_spoken_word(
                found["value"], is_quoted=bool(found["quote"])
            ):
                yield (*found.span("value"), _PASSWORD)
                break
        else:
            yield from _moved(text, label.start(), at, stop)
        if not label[0].isascii():
            found = _OTHER_SCRIPT.match(text, at, stop)
            if found and _is_of_other_script(label[0], found["value"]):
                yield (*found.span("value"), _PASSWORD)


def _moved(text: str, start: int, at: int, stop: int) -> Iterator[TextSpan]:
    """Yield what a password is said to have been changed to."""
    found = _CHANGED.match(text, at, stop)
    if found is None:
        return
    line = text.rfind("\n", 0, start) + 1
    if not _MOVES.search(text, max(line, start - 60), found.start("quote")):
        return
    if found["value"] and may_be_spoken_word(
        found["value"], is_quoted=bool(found["quote"])
    ):
        yield (*found.span("value"), _PASSWORD)
    elif found["chosen"]:
        value = found["chosen"].rstrip(".,;:!?)")
        if may_be_chosen(value):
            place = found.start("chosen")
            yield (place, place + len(value), _PASSWORD)


def _is_of_other_script(label: str, value: str) -> bool:
    """Whether a value is in Latin letters and what leads to it is not."""
    if max(label) <= "\u024f":
        return False
    return may_be_answer(value)


def _before(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield what is called a password behind it."""
    for found in places:
        if found["value"] and may_be_answer(found["value"]):
            yield (*found.span("value"), _PASSWORD)
        elif found["other"] and may_be_spoken_word(found["other"]):
            yield (*found.span("other"), _PASSWORD)


def _words(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the words that a strict place gives away."""
    for found in places:
        if may_be_spoken_word(found["value"], is_quoted=bool(found["quote"])):
            yield (*found.span("value"), _PASSWORD)


def _shared(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the letters with which machines know each other, capitals too."""
    for found in places:
        value = found["value"]
        is_made = len(value) >= _SHORTEST_MADE and value.isalpha() and value.isupper()
        if is_made or may_be_spoken_word(value, is_quoted=bool(found["quote"])):
            yield (*found.span("value"), _PASSWORD)


def _made(there: LineWords) -> Iterator[TextSpan]:
    """Yield the random values that a sentence calls a token or a key."""
    rows = there.rows(_MADE_WORDS)
    if there.text.isascii():
        # The gate has seen the pieces. It doesn't count the digits of other scripts.
        runs = [on for piece, on in there.tokens.items() if _may_be_made(piece)]
        if not runs:
            return
        rows = sorted(set().union(*runs).intersection(rows))
    elif _LONG_RUN.search(there.text) is None:
        return
    for found in there.on(_MADE, rows):
        value = found["value"]
        is_mixed = re.search(r"\d.*\d.*\d", value) is not None
        if (
            is_mixed
            and not has_any(found[0].lower(), _NO_TOKEN)
            and looks_random(value)
        ):
            yield (*found.span("value"), "secret")


def _may_be_made(piece: str) -> bool:
    """Whether a text without blanks holds what ``_made`` takes for a value."""
    return len(piece) >= _RUN and any(
        len(_DIGIT.findall(run)) >= _DIGITS for run in _LONG_RUN.findall(piece)
    )


def _pins(there: LineWords) -> Iterator[TextSpan]:
    """Yield the numbers that a call for hosts or a column of PINs holds."""
    for found in there.near(_HOST_KEY, ("key",)):
        yield (*found.span("value"), "pin")
    yield from columns(there, words=("pin", "puk"), chosen=is_pin)


def is_pin(value: str) -> bool:
    """Whether a cell of a column of PINs is one."""
    return value.isdecimal() and 3 < len(value) < 9 and not is_counted(value)


_HOST_KEY = lazy_re(
    r"(?i)\bhost[ -]?key[ \t]{0,3}(?:[:=]|is)?[ \t]{0,3}(?P<value>\d{6})(?!\w)"
)
_RUN = 24
_DIGITS = 3  # that a value has at least
_DIGIT = lazy_re("[0-9]")
_LONG_RUN = lazy_re(rf"(?<![\w/-])[\w-]{{{_RUN},80}}(?![\w/-])")
_MADE_WORDS = frozenset((
    "token", "key", "secret", "cookie", "session", "jeton", "schlüssel", "chave",
    "clave", "clé", "chiave", "klucz", "ключ", "токен",
))  # fmt: skip


def _answered(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield what answers the question for a password or a number."""
    for found in places:
        value = found["value"].rstrip(".")
        is_quoting = found["ask"].lstrip().startswith(">")
        if not (found["who"] or is_quoting) or not _ASKS.search(found["ask"]):
            continue
        if value.isdecimal():
            is_pin = has_any(found["ask"].lower(), _PIN_WORDS)
            if is_pin and not is_counted(value):
                yield (*found.span("value"), "pin")
        elif may_be_answer(value) and not (value.isalpha() and len(value) < 8):
            start = found.start("value")
            yield (start, start + len(value), _PASSWORD)
        elif found["quote"] and may_be_letters(value):
            yield (*found.span("value"), _PASSWORD)
