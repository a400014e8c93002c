"""Finds passphrases of whole words: ``the passphrase is "nine tired owls count rain"``.

They may be a sentence, so the place must call them a passphrase and say where they
begin and end.
"""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.spans import has_any
from hivemind_memory.redaction.values.passphrase_check import is_spoken_phrase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_LABEL = (
    r"(?<![\w$@.-])(?:[^\W\d_]{1,20}[-_])?(?:pass[- ]?(?:phrase|sentence|satz)\w{0,2}"
    r"|pass(?:word|wort)"
    r"|pw|kennwort|(?:key|secret|code|unlock|pass)[ -]?phrase|phrase|phrase "
    r"(?:secrète|de passe)"
    r"|frase (?:segreta|secreta|de paso|di accesso|de acesso|secreta)|contraseña|senha"
    r"|mot de passe|wachtwoordzin|wachtwoord|hasło|fras(?:e|a)?|lösenfras|lösenord"
    r"|adgangssætning|salalause|salasana|parolfras|парольн\w{1,3} фраз\w|парол\w{0,2}"
    r"|кодов\w{1,3} фраз\w|şifre\w{0,4}|parola)"
)
_PHRASE_LABEL = (
    r"(?<![\w$@.-])(?:[^\W\d_]{1,20}[-_])?(?:pass[- ]?(?:phrase|sentence|satz)\w{0,2}"
    r"|(?:key|secret|code|unlock|pass)[ -]?phrase|phrase (?:secrète|de passe|clé)"
    r"|frase (?:segreta|secreta|de paso|clave|di accesso|de acesso|senha)|wachtwoordzin"
    r"|lösenfras|lösenordsfras|adgangssætning|salalause|parolfras|парольн\w{1,3} фраз\w"
    r"|кодов\w{1,3} фраз\w)"
)
_WORDS = r"[^\W\d_]{1,14}(?:[ ][^\W\d_]{1,14}){3,11}"
_QUOTED = lazy_re(
    rf"(?i){_LABEL}(?![^\W\d_])[^\n\"“„«`]{{0,50}}?(?P<open>[\"'“„«`‘]|\*\*)[ ]?"
    rf"(?P<value>{_WORDS})[ ]?(?:[\"'”“»`’]|\*\*)"
)
_TO_THE_END = lazy_re(
    rf"(?im){_PHRASE_LABEL}(?![^\W\d_])[^\n\"“„«`]{{0,60}}?(?:[:：]|[ \t](?:is|reads"
    rf"|ist|lautet|est|es|è"
    rf"|é|jest|är|on|это)[ ]|,[ ]c['’]est)[ \t]{{0,3}}(?:\r?\n[ \t>]{{0,8}}"
    rf"(?:\r?\n[ \t>]{{0,8}})?)?"
    rf"(?P<value>{_WORDS})(?=[.]?[ \t]*\r?$|[ ]?[;(])"
)
_ASSIGNED = lazy_re(
    r"(?i)(?<![\w.-])[\w-]{0,40}(?:pass(?:word|phrase|wd)?|pwd"
    r"|pw)[\"']?[ \t]{0,4}[=:][ \t]{0,4}"
    r"(?P<quote>[\"'])(?P<value>[^\W\d_]{2,14}(?:[ ][^\W\d_]{2,14}){2,11})(?P=quote)"
)
_WORDS_OF_LABELS = frozenset((
    "pass", "pw", "kennwort", "contrase", "secret", "clave", "senha", "wachtwoord",
    "hasło", "парол", "salasana", "lösenord", "şifre", "parola", "adgangskode",
    "phrase", "lösenfras", "adgangssætning", "salalause",
))  # fmt: skip


_SIGNED_IN = lazy_re(
    r"(?i)(?<![\w-])(?:login|signin|unlock|auth)[ \t]+(?:[\w.-]+@[\w.-]+[ \t]+)?"
    r"(?P<quote>[\"'])(?P<value>[^\W\d_]{2,14}(?:[ ][^\W\d_]{2,14}){2,8})(?P=quote)"
)
_HOLDERS = ("</", '="', "='", '= "', "= '", ': "', ": '", ':"')
_HELD = lazy_re(
    r"(?i)(?<![\w.-])[\w-]{0,40}(?:pass(?:word|phrase|wd|code)?|pwd|pw|psk|kennwort)"
    r"(?:[\"']?[ \t]{0,4}[=:][ \t]{0,4}(?P<quote>[\"'])"
    r"(?P<value>[^\W\d_]{2,14}(?:[ ][^\W\d_]{2,14}){1,11}[ ]\d{1,4})(?P=quote)"
    r"|[^<>\n]{0,60}>"
    r"(?P<text>[^\W\d_]{2,14}(?:[ ][^\W\d_]{2,14}){2,11}(?:[ ]\d{1,4})?)</)"
)


def spoken_phrases(there: LineWords) -> Iterator[TextSpan]:
    """Yield the passphrases of whole words."""
    for pattern, is_sure, below in ((_QUOTED, True, 0), (_TO_THE_END, False, 2)):
        for found in there.near(pattern, _WORDS_OF_LABELS, below=below):
            if is_spoken_phrase(found["value"], is_quoted=is_sure):
                yield (*found.span("value"), "password")
    for found in there.near(_SIGNED_IN, ("login", "signin", "unlock", "auth")):
        if is_spoken_phrase(found["value"], is_quoted=True):
            yield (*found.span("value"), "password")
    has_held = has_any(there.text, _HOLDERS)
    for found in there.near(_HELD, _WORDS_OF_LABELS) if has_held else ():
        group = "value" if found["value"] else "text"
        words = found[group].rstrip("0123456789 ")
        if is_spoken_phrase(words, is_quoted=True):
            yield (*found.span(group), "password")
    for found in there.near(_ASSIGNED, _WORDS_OF_LABELS):
        value = found["value"]
        is_title = value == value.title()
        if is_title or is_spoken_phrase(value, is_quoted=True):
            yield (*found.span("value"), "password")
