"""Finds values where only a secret can be, in many formats and commands.

An XML entry named ``api_key``, the result of a random password in a state file, a value
written to a file of passwords. One row each; a new one is added at the end.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import classify_name
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values.passphrase_check import is_drawn
from hivemind_memory.redaction.values.password_check import (
    is_random,
    looks_chosen,
    may_be,
    may_be_chosen,
)
from hivemind_memory.redaction.values.value_check import entropy, is_real, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.redaction.line_words import LineWords

_DATA_SOURCE = lazy_re(
    r"[\"'`][\w.%+-]{1,64}:(?P<value>[^\s:@\"'`/]{6,128})@(?:tcp|unix|\(|/|[\w.-]+[:/])"
)
_TAGGED = lazy_re(
    r"(?i)<[\w:.-]{1,40}[^<>\n]{0,80}?\b(?:name|key|id"
    r"|property)[ \t]{0,2}=[ \t]{0,2}[\"']"
    r"(?P<name>[\w.:-]{2,60})[\"'][^<>\n]{0,80}>(?P<value>[^<>\s]{4,400})<"
)
_PLIST = lazy_re(
    r"(?i)<key>(?P<name>[\w .:-]{2,60})</key>\s{0,40}<(?:string|data)>\s{0,40}"
    r"(?P<value>[^<>\s]{4,400})\s{0,40}<"
)
_SHORT_NAMES = lazy_re(
    r"(?i)(?<![\w-])(?:u|un|usr|user|name"
    r"|login)[ \t]?[=:][ \t]?[\"'`]?[\w.@+\\-]{2,50}[\"'`]?"
    r"[ \t,;/|&]{1,4}(?:p|pw|pwd"
    r"|pass)[ \t]?[=:][ \t]?[\"'`]?(?P<value>[^\s\"'`,;]{6,64})"
)
_GENERATED = lazy_re(
    r"(?i)[\"']\w{0,30}(?:password|secret|credential"
    r"|random_\w{1,12})s?[\"'][^;]{1,300}?[\"'](?:result"
    r"|plaintext|secret_?string|secret_?value|value|content"
    r"|data)[\"'][ \t]{0,3}[:=][ \t]{0,3}[\"']"
    r"(?P<value>[^\s\"']{8,200})[\"']"
)
TO_FILE = lazy_re(
    r"(?:echo|printf|print)[ \t]+(?:-\w+[ \t]+)?(?:[\"'](?P<value>[^\"'\n]{6,200})[\"']"
    r"|(?P<plain>[^\s\"'>|]{6,200}))[ \t]*(?:>{1,2}"
    r"|\|[ \t]*(?:sudo[ \t]+)?tee(?:[ \t]+-a)?)[ \t]*"
    r"(?![^\s|;&]{0,90}\.(?:md|rst|adoc|html?|css|py|[jt]sx?|log)\b)[\"']?"
    r"[^\s\"'|;&]{0,80}?(?<![A-Za-z])(?i:(?:api|auth|db|my|pg|root|ssh|user|vault)?"
    r"(?:pass(?:wd|words?|phrase|code|file)?|secrets?|tok(?:en)?s?|cred(?:ential)?s?"
    r"|netrc|keys?(?:file)?|pw|psk))(?![A-Za-z])"
)
_TWO_KEYS = lazy_re(r"(?<![\w:])[0-9a-f]{32}:(?P<value>[0-9a-f]{32})(?![\w:])")
_GIVEN = lazy_re(
    r"<<<[ \t]{0,3}\$?[\"'](?P<quoted>[^\"'\n$]{6,100})[\"']"
    r"|<<<[ \t]{0,3}(?P<value>[^\s\"'$<>|;&]{6,100})"
)
_MADE = lazy_re(
    r"(?:openssl[ \t]+rand|pwgen|uuidgen|token_(?:hex|urlsafe)"
    r"|keygen)(?![a-z])[^\n]{0,60}?(?:[ \t]|\r?\n[ \t]{0,8})"
    r"[\"'`]?(?P<value>[A-Za-z0-9+/_-]{24,128}={0,2})(?![\w/.-])"
)
_COOKIE = lazy_re(
    r"(?i)cookie[\"']?[ \t]{0,3}[=:,(][ \t]{0,3}[\"'`][\w.-]{1,40}=(?P<value>[\w.%~+/"
    r"=-]{16,400})"
)
_PIN = lazy_re(
    r"(?i)(?<![a-z])pin(?:-value)?=[\"']?(?P<value>[\w!?#$%&*@+-]{4,40})(?![.]\w)"
)
_HIDDEN = lazy_re(
    r"(?i)\b(?:key|password|secret)[ \t]+[57][ \t]+(?P<value>[0-9A-F]{10,128})(?!\w)"
)
_PAIR_CHARS = 65
_KEYSTORE = lazy_re(
    r"(?i)[\"'](?:ciphertext|mac|encrypted_?key)[\"'][ \t]{0,3}:[ \t]{0,3}[\"']"
    r"(?P<value>[0-9a-f]{32,400})[\"']"
)
_ELEMENT = lazy_re(
    r"(?i)<(?P<name>[\w:.-]{2,40}(?:key|material|secret|pass\w{0,6}"
    r"|pwd))(?:[ ][^<>]{0,80})?>"
    r"(?P<value>[^<>\s]{6,400})</"
)
_QUOTED_BESIDE = lazy_re(
    r"(?<![\w.$@])(?P<name>[A-Za-z_][\w.-]{0,40}(?i:pass|pw|pwd|passwd|password|secret"
    r"|token"
    r"|key|psk|phrase|pin)\d?)[ \t]{1,24}[\"'](?P<value>[^\s\"']{5,200})[\"'](?![:\w])"
)
_HASHED = lazy_re(
    r"(?:\{(?:S?SHA\d{0,3}|S?MD5|CRYPT|PBKDF2[\w-]{0,10}|ARGON2\w?)\}|(?i:(?:secret"
    r"|password)"
    r"[ \t][4-9][ \t]))(?P<value>\$?[\w$./+=,-]{16,200})"
)
_LOGIN_TOKEN = lazy_re(
    r"(?i)\b(?:login|auth|authenticate|token|set-token|add-?token|authtoken|signin)\b"
    r"(?:[ \t]+-{1,2}[\w-]{1,20}){0,3}[ \t]+[\"']?(?P<value>[0-9a-f]{32,64})(?![\w.-])"
)


def in_slots(there: LineWords) -> Iterator[TextSpan]:
    """Yield the values that stand where a secret does."""
    for pattern, words, below, is_secret, kind in _ROWS:
        for found in there.near(pattern, words, below=below):
            group = found.lastgroup or "value"
            value = found[group].rstrip(".,;)")
            if is_secret(value):
                yield (found.start(group), found.start(group) + len(value), kind)
    long = [
        rows
        for piece, rows in there.tokens.items()
        if len(piece) >= _PAIR_CHARS and ":" in piece
    ]
    for found in there.on(_TWO_KEYS, sorted(set().union(*long))):
        yield (*found.span("value"), "secret")
    for pattern, words in _NAMED_ROWS:
        for found in there.near(pattern, words, below=1):
            name = re.sub("[ .:]", "_", found["name"])
            holds = classify_name(name)
            if holds and is_real(name, found["value"], holds, firm=True, tight=True):
                yield (*found.span("value"), holds.value)


def _is_given(value: str) -> bool:
    """Whether a value that a program reads may be a password."""
    return may_be_chosen(value) or is_drawn(value)


def _is_pin(value: str) -> bool:
    """Whether a value is digits, or no pin of a board but a password."""
    return value.isdecimal() or looks_chosen(value)


def _is_hex(value: str) -> bool:
    """Whether figures are many different ones."""
    return entropy(value) >= 3.0


_ROWS: tuple[
    tuple[re.Pattern[str], tuple[str, ...], int, Callable[[str], bool], str], ...
] = (
    (_DATA_SOURCE, ("@",), 0, may_be_chosen, "password"),
    (_LOGIN_TOKEN, ("login", "auth", "token", "signin"), 0, _is_hex, "token"),
    (_GENERATED, ("password", "secret", "credential"), 4, may_be_chosen, "password"),
    (TO_FILE, ("echo ", "print"), 0, may_be, "password"),
    (_GIVEN, ("<<<",), 0, _is_given, "password"),
    (
        _MADE,
        ("rand", "pwgen", "uuidgen", "token_", "keygen"),
        1,
        looks_random,
        "secret",
    ),
    (_COOKIE, ("cookie",), 0, is_random, "cookie"),
    (_PIN, ("pin=", "pin-value="), 0, _is_pin, "pin"),
    (_ELEMENT, ("</",), 0, may_be_chosen, "secret"),
    (_KEYSTORE, ("ciphertext", '"mac"', "encrypted"), 0, _is_hex, "private-key"),
    (_HASHED, ("}", "secret ", "password "), 0, _is_hex, "password-hash"),
    (_HIDDEN, ("key 7 ", "password 7 ", "secret 5 "), 0, _is_hex, "password"),
    (_SHORT_NAMES, ("p:", "p=", "pw:", "pw=", "pass:"), 0, may_be_chosen, "password"),
)
"""A pattern, words of its lines, lines below, what judges its last group, the kind."""

_NAMED_ROWS = (
    (_TAGGED, ("name=", "key=", "id=")),
    (_PLIST, ("<key>",)),
    (_QUOTED_BESIDE, (' "', " '", '\t"')),
)
"""The same for values whose name is elsewhere."""

WORDS = frozenset(
    word
    for words in (*(row[1] for row in _ROWS), *(row[1] for row in _NAMED_ROWS))
    for word in words
)
"""Words that the gate looks for before ``in_slots`` is asked, in lower case."""
