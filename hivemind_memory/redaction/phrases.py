"""Finds secrets made of words or groups: passphrases, app passwords, product keys."""

from __future__ import annotations

import re

from hivemind_memory.redaction.chosen import is_gibberish
from hivemind_memory.redaction.lazy_pattern import lazy_re
from hivemind_memory.redaction.spans import TextSpan, blocks_with, found_near
from hivemind_memory.redaction.vocabulary import PASSWORD_NAMES, PASSWORDS_ELSEWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

PHRASE_WORDS = frozenset((
    "pass", "kennwort", "losung", "pw", *PASSWORD_NAMES, *PASSWORDS_ELSEWHERE,
    "secret", "unlock", "diceware", "geheim", "key",
))  # fmt: skip
"""Words without which no passphrase is looked for, in lower case."""
_ASKING_WORDS = frozenset(("encrypt", "lock", "asks", "prompt", "type", "enter"))
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
    rf"(?i)(?<![a-z_])(?:{_NAMES}|encrypted|locked|asks|prompts?|type|enter|decrypt\w{{0,4}})(?![a-z(])"
    rf"[^\n]{{0,40}}?(?P<open>[\"'`]|\*\*|“|„|«)(?P<value>{_DASHED})(?:(?P=open)|[”“»])"
)
_MARK = lazy_re(
    r"(?:[\"'`“„«]|\*\*)[A-Za-z]{3,12}(?P<joint>[-_.+ ])[A-Za-z0-9]{2,12}(?P=joint)"
)
_NAME = lazy_re(rf"(?i)(?<![a-z_])(?:{_NAMES})(?![a-z])")
_WORD = lazy_re("[A-Za-z]{3,12}")
# Words of sentences and of documents about secrets, and none that a list of words for
# passphrases would be likely to draw.
_NOT_DRAWN = frozenset(
    re.findall(
        r"\w+",
        """
        above access admin after all also am an and any api app are as ask at auth
        available avec base based be been before bei beim below between bits but by
        bytes can change changed characters chars client code com como con config
        credential credentials dans das data database days db default del der des
        dev die digits do each ein eine encoded encrypted env environment er es est
        every example expired expires false field fields file files for free from
        für generated get has hash hashed have here host hostname hours how http
        https if im in into is ist it its json key keys las least length les letters
        liegt line login los manager maximum me minimum minutes mit more most must
        my name names new nicht no none not null number numbers of old on one only
        optional or org other our page para passphrase passwd password passwords
        passwort path per policy por port pour prod production protected provided
        random required reset same saved seconds secret secrets section see server
        service set should siehe so some staging steht stored string supported test
        than that the then there this three to token tokens true two type una und
        une url us use used user username users using value values variable
        variables vault version via von was we what when where which who why will
        with without www yaml you your zu
        """,
    )
)
_APP_PASSWORD = lazy_re(
    r"(?<![\w-])[a-z]{4}(?P<joint>[- ])[a-z]{4}(?:(?P=joint)[a-z]{4}){2}"
    r"(?![\w-]| [a-z]{4}\b)"
)
_APP_WORDS = frozenset(
    ("pass", "smtp", "gmail", "imap", "app", "mail", "apple", "icloud", "login")
)
_PRODUCT_KEY = lazy_re(
    r"(?<![\w-])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3,5}(?![\w-])"
    r"|(?<![\w-])[A-Z0-9]{6}(?:-[A-Z0-9]{6}){3,5}(?![\w-])"
    r"|(?<![\w-])[A-Z0-9]{4}(?:-[A-Z0-9]{4}){3,7}(?![\w-])"
)
_DASHES = 3
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

WORDS = PHRASE_WORDS | _ASKING_WORDS | _APP_WORDS | _SETUP_WORDS
"""Words that the gate looks for before ``phrases`` is asked, in lower case."""


def phrases(text: str, low: str, there: AbstractSet[str]) -> Iterator[TextSpan]:
    """Yield the secrets that are made of words or of groups of letters.

    Args:
        text: The text.
        low: The same in lower case, letter for letter.
        there: Which of ``WORDS`` it has.
    """
    words = PHRASE_WORDS & there
    for found in found_near(_PHRASE, text, low, words):
        value = found["value"]
        # Without a number a sentence looks like a phrase, and a name in code too.
        is_sure = found["joint"] in "-." or ":" in found[0] or "=" in found[0]
        if is_drawn(value) and (is_sure or re.search(r"\d", value)):
            yield (*found.span("value"), "password")
    has_mark = _MARK.search(text) is not None
    marked = words | _ASKING_WORDS & there
    for found in found_near(_MARKED, text, low, marked) if has_mark else ():
        value = found["value"]
        before = text[found.start() : found.start("open")]
        is_phrase = found["joint"] != "_" and _NAME.search(before)
        if is_drawn(value) and (is_phrase or re.search(r"[-. ]\d", value)):
            yield (*found.span("value"), "password")
    for found in found_near(_APP_PASSWORD, text, low, _APP_WORDS & there):
        if is_gibberish(found[0]):
            yield (*found.span(), "password")
    for found in found_near(_SETUP_KEY, text, low, _SETUP_WORDS & there):
        if re.search("[2-7]", found[0]) and re.search("(?i)[a-z]", found[0]):
            yield (*found.span(), "totp-seed")


def by_form(text: str) -> Iterator[TextSpan]:
    """Yield app passwords and product keys that need no word beside them."""
    dashed = [piece for piece in set(text.split()) if piece.count("-") >= _DASHES]
    for start, end in blocks_with(text, dashed):
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


def is_drawn(value: str) -> bool:
    """Whether words may have been drawn for a passphrase, with a number or without.

    >>> [is_drawn(one) for one in ("lilac-fjord-pickle-13", "ask the team lead 3")]
    [True, False]
    """
    parts = re.split("[-_.+ ]", value)
    words = [part for part in parts if _WORD.fullmatch(part)]
    numbers = [part for part in parts if re.fullmatch(r"\d{1,4}", part)]
    if len(words) + len(numbers) != len(parts) or len(numbers) > 1:
        return False
    if any(word.lower() in _NOT_DRAWN for word in words) or len(set(words)) < len(
        words
    ):
        return False
    if "_" in value and not numbers:
        return False
    letters = sum(map(len, words))
    least = 3 if numbers else 4
    return len(words) >= least and letters >= 4 * len(words)
