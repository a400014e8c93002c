"""Finds secrets made of words or groups: passphrases, app passwords, product keys."""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.secret_names import PASSWORD_NAMES, PASSWORDS_ELSEWHERE
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values.passphrase_check import is_drawn
from hivemind_memory.redaction.values.password_check import is_gibberish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords

PHRASE_WORDS = frozenset((
    "pass", "kennwort", "losung", "pw", *PASSWORD_NAMES, *PASSWORDS_ELSEWHERE,
    "secret", "unlock", "diceware", "geheim", "key",
))  # fmt: skip
"""Words without which no passphrase is looked for, in lower case."""
_ASKING_WORDS = frozenset(("encrypt", "lock", "asks", "prompt", "type", "enter"))
_MARKED_WORDS = PHRASE_WORDS | _ASKING_WORDS
_NAMES = "|".join(
    (
        r"pass(?:word|phrase|code|wd|wort|e|ord)?", "pw", "pwd",
        *map(re.escape, (*PASSWORD_NAMES, *PASSWORDS_ELSEWHERE)),
        "losung", "secret", "diceware", "unlock",
        r"(?:luks|disk|encryption|backup|master|vault|recovery)[ -](?:\w{2,9}[ ])?key",
    )
)  # fmt: skip
_SIGN = (
    r"(?:[ \t]*(?:[:=：＝→]|->|=>|—|–)|[ \t]+(?:is|are|was|to|now|ist|lautet|est|es|é|è"
    r"|är|er|jest|to|on"
    r"|ist|war|heißt|bleibt|becomes)(?=[ \t]))[ \t\"'`*“„«]{0,6}"
)
_DASHED = (
    r"[A-Za-z]{3,12}(?P<joint>[-_.+ ])[A-Za-z0-9]{2,12}"
    r"(?:(?P=joint)[A-Za-z0-9]{1,12}){1,7}"
)
_PHRASE = lazy_re(
    rf"(?i)(?<![a-z])(?:{_NAMES})(?![a-z])[^\n:=]{{0,60}}?{_SIGN}(?P<value>{_DASHED})"
    r"(?=[\"'`*”“»,;.!?)\]]*(?:\s|\Z|\())"
)
_MARKED = lazy_re(
    rf"(?i)(?<![a-z_])(?:{_NAMES}|encrypted|locked|asks|prompts?|type|enter"
    rf"|decrypt\w{{0,4}})(?![a-z(])"
    rf"[^\n]{{0,40}}?(?P<open>[\"'`]|\*\*|“|„|«)(?P<value>{_DASHED})(?:(?P=open)|[”“»])"
)
_MARK = lazy_re(
    r"(?:[\"'`“„«]|\*\*)[A-Za-z]{3,12}(?P<joint>[-_.+ ])[A-Za-z0-9]{2,12}(?P=joint)"
)
_NAME = lazy_re(rf"(?i)(?<![a-z_])(?:{_NAMES})(?![a-z])")
_APP_PASSWORD = lazy_re(
    r"(?<![\w-])[a-z]{4}(?P<joint>[- ])[a-z]{4}(?:(?P=joint)[a-z]{4}){2}"
    r"(?![\w-]| [a-z]{4}\b)"
)
_APP_WORDS = frozenset(
    ("pass", "smtp", "gmail", "imap", "app", "mail", "apple", "icloud", "login")
)
_BLANKS = lazy_re(
    r"(?<![\w-])(?<!\w )[A-Za-z0-9]{4}(?:[ ][A-Za-z0-9]{4}){5}(?![\w-]"
    r"| [A-Za-z0-9]{4}\b)"
)
_BLANKS_WORDS = frozenset(
    ("wordpress", "wp-json", "wp_", "application", "app pass", "curl", "user")
)
_PRODUCT_KEY = lazy_re(
    r"(?<![\w-])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3,5}(?![\w-])"
    r"|(?<![\w-])[A-Z0-9]{6}(?:-[A-Z0-9]{6}){3,5}(?![\w-])"
    r"|(?<![\w-])[A-Z0-9]{4}(?:-[A-Z0-9]{4}){3,7}(?![\w-])"
)
_DASHES = 3
_DASHED_RUN = lazy_re(r"-\S*-\S*-")
_MIXED_GROUPS = 2
_SETUP_KEY = lazy_re(
    r"(?<![\w-])[a-z2-7]{4}(?:([ -])[a-z2-7]{4})(?:\1[a-z2-7]{4}){2,12}(?![\w-])"
    r"|(?<![\w-])[A-Z2-7]{4}(?:([ -])[A-Z2-7]{4})(?:\2[A-Z2-7]{4}){2,12}(?![\w-])"
)
_SETUP_WORDS = frozenset(
    (
        *("2fa", "mfa", "totp", "otp", "authenticator", "two-factor", "two factor"),
        *("setup key", "seed", "zwei-faktor", "base32"),
    )
)

WORDS = PHRASE_WORDS | _ASKING_WORDS | _APP_WORDS | _SETUP_WORDS | _BLANKS_WORDS
"""Words that the gate looks for before ``phrases`` is asked, in lower case."""


def phrases(there: LineWords) -> Iterator[TextSpan]:
    """Yield the secrets that are made of words or of groups of letters."""
    text = there.text
    for found in there.near(_PHRASE, PHRASE_WORDS):
        value = found["value"]
        # Without a number a sentence looks like a phrase, and a name in code too.
        is_sure = found["joint"] in "-." or ":" in found[0] or "=" in found[0]
        if is_drawn(value) and (is_sure or re.search(r"\d", value)):
            yield (*found.span("value"), "password")
    has_mark = _MARK.search(text) is not None
    for found in there.near(_MARKED, _MARKED_WORDS) if has_mark else ():
        value = found["value"]
        before = text[found.start() : found.start("open")]
        is_phrase = found["joint"] != "_" and _NAME.search(before)
        if is_drawn(value) and (is_phrase or re.search(r"[-. ]\d", value)):
            yield (*found.span("value"), "password")
    for found in there.near(_APP_PASSWORD, _APP_WORDS):
        if is_gibberish(found[0]):
            yield (*found.span(), "password")
    for found in there.near(_BLANKS, _BLANKS_WORDS, above=1, below=2):
        if sum(is_jumbled(group) for group in found[0].split()) > 2:
            yield (*found.span(), "password")
    for found in there.near(_SETUP_KEY, _SETUP_WORDS, below=2):
        has_both = re.search("[2-7]", found[0]) and re.search("(?i)[a-z]", found[0])
        if has_both or (len(found[0].split()) > 3 and is_gibberish(found[0])):
            yield (*found.span(), "totp-seed")


def by_form(there: LineWords) -> Iterator[TextSpan]:
    """Yield app passwords and product keys that need no word beside them."""
    text = there.text
    dashed = [
        row
        for row, line in enumerate(there.lines)
        if line.count("-") >= _DASHES and _DASHED_RUN.search(line)
    ]
    for start, end in there.blocks(dashed):
        for found in _APP_PASSWORD.finditer(text, start, end):
            if found["joint"] == "-" and is_gibberish(found[0]):
                yield (*found.span(), "password")
        for found in _PRODUCT_KEY.finditer(text, start, end):
            groups = found[0].split("-")
            mixed = sum(
                any(map(str.isdigit, group)) and any(map(str.isalpha, group))
                for group in groups
            )
            is_hex = re.fullmatch("[0-9A-F-]+", found[0]) is not None
            if mixed >= _MIXED_GROUPS and not is_hex and len({*groups}) == len(groups):
                yield (*found.span(), "licence-key")


def is_jumbled(group: str) -> bool:
    """Whether a group of letters is no word and no number."""
    return not group.isdigit() and not group[1:].islower() and not group.isupper()
