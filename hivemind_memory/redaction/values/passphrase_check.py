"""Judges whether words are a passphrase: drawn at random, or chosen with a number."""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re

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
_SAID = frozenset(
    (
        "password", "passwd", "passphrase", "secret", "token", "key", "your", "my",
        "name", "value", "env", "not", "be", "must", "set", "user", "api", "for", "the",
        "and", "or", "with", "file", "of", "in", "on", "to", "no", "is", "by", "id",
        "url", "default", "required", "test", "example", "des", "der", "und", "de",
        "la",
    )
)  # fmt: skip


def is_dashed(value: str) -> bool:
    """Whether a value is two words or more and a number that may be a password.

    >>> [is_dashed(value) for value in ("donut-lampe-42", "see-note-3", "python-v3-12")]
    [True, False, False]
    """
    words = re.split("[-_.+]", value)
    return (
        len(words) > 2
        and re.fullmatch(r"\d{2,5}[!?#$%&*]?", words[-1]) is not None
        and all(map(_WORD.fullmatch, words[:-1]))
        and not any(word.lower() in _NOT_DRAWN for word in words)
    )


def is_drawn(value: str, *, least: int = 4) -> bool:
    """Whether words may have been drawn for a passphrase, with a number or without.

    *least* is the number of words without a number; with one, three are enough.

    >>> [is_drawn(value) for value in ("lilac-fjord-pickle-13", "ask the team lead 3")]
    [True, False]
    """
    parts = re.split("[-_.+ ]", value)
    words = [part for part in parts if _WORD.fullmatch(part)]
    numbers = [part for part in parts if re.fullmatch(r"\d{1,4}", part)]
    if len(words) + len(numbers) != len(parts) or len(numbers) > 1:
        return False
    common = [word.lower() for word in words if word.lower() in _NOT_DRAWN]
    # A list for passphrases may hold one of them; a sentence or a name holds more.
    may_be_common = len(words) // (4 if "-" in value else 5)
    if (
        len(common) > may_be_common
        or not _SAID.isdisjoint(common)
        or len(set(words)) < len(words)
    ):
        return False
    if "_" in value and not numbers:
        return False
    letters = sum(map(len, words))
    least = 3 if numbers else least
    return len(words) >= least and letters >= 4 * len(words)


_SOFT = frozenset(
    re.findall(
        r"\w+",
        """
        the a an and or in on of to at for with under over no not never every each all
        la le les une un de des du et en el los las un una y con der die das ein eine
        und im am auf unter mit bei il lo gli e di che o os as um uma do da i w na z
        и в на под у не het een en op under och den det ett og i na ja needs still three
        two my your our than then from by is are
        """,
    )
)


def is_spoken_phrase(value: str, *, is_quoted: bool) -> bool:
    """Whether words, where a passphrase is stated, are one and no sentence about it.

    >>> is_spoken_phrase("nine tired owls count the rain", is_quoted=True)
    True
    >>> is_spoken_phrase("used to decrypt the private key", is_quoted=False)
    False
    """
    words = value.split(" ")
    low = [word.lower() for word in words]
    if value[0].isupper() and not is_quoted and value[1:] == value[1:].lower():
        return False  # a sentence
    hard = [word for word in low if word not in _SOFT]
    return (
        len(hard) >= (2 if is_quoted else 3)
        and _NOT_DRAWN.isdisjoint(hard)
        and _SAID.isdisjoint(hard)
        and len(set(low)) > len(low) // 2
        and sum(map(len, hard)) >= 4 * len(hard)
        and not any(map(_ABOUT.fullmatch, hard))
    )


def speaks_of_it(word: str) -> bool:
    """Whether a word in lower case is one of a sentence about passwords.

    >>> speaks_of_it("encrypted"), speaks_of_it("ferret")
    (True, False)
    """
    return word in _NOT_DRAWN or word in _SOFT or _ABOUT.fullmatch(word) is not None


_ABOUT = lazy_re(
    r"(?:pass|encrypt|decrypt|authent|verif|config|generat|prompt|identi|certif|sign"
    r"|enter|remember|forg[eo]t|invalid|wrong|incorrect|match|confirm|again|prote[ck]t"
    r"|provid|specif|requir|option|argument|command|stor|sav|read|writ|creat|chang"
    r"|updat"
    r"|kennw|mot$|contras|senha|clave|schl|clé).*"
)
