"""Finds passwords and codes that a sentence or a list states, in many languages.

``Kennwort neu gesetzt auf PAB7T3R0K``, ``le mot de passe c'est …``, ``PIN1 5378 PUK1
65613923``, ``WLAN … Schlüssel: 54757710``: a label, words that only lead on, and the
value. The more plainly it is stated, the less it must look like a password.
"""

from __future__ import annotations

from itertools import pairwise

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.lock_codes import stated_codes
from hivemind_memory.redaction.in_prose.statement_words import (
    CHANGED,
    CHANGED_WORDS,
    COPULAS,
    FROM,
    KEY,
    NOT_STATED,
    OPENED,
    PASSWORD,
    SHARED,
    SIGNS,
)
from hivemind_memory.redaction.prose_words import (
    NETWORK_PARTS,
    OPENED_PARTS,
    PASSWORD_PARTS,
    SHARED_PARTS,
)
from hivemind_memory.redaction.spans import has_any
from hivemind_memory.redaction.values.passphrase_check import is_drawn
from hivemind_memory.redaction.values.password_check import (
    is_counted,
    is_gibberish,
    looks_chosen,
    may_be_chosen,
)
from hivemind_memory.redaction.values.value_check import (
    UUID,
    is_identifier,
    is_no_secret,
    is_placeholder,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_FAR = 110  # letters after a label that are read
_MOST_WORDS = 8
_WORDS_OF_A_SIGN = 3  # between a sign and the value
# A run of one script, without quotes; East Asian ones are written without blanks.
_CHUNK = lazy_re(
    r"[^\x00-\x20\"'`´<>|„“”«»‘\u2e80-\uffff]+|[\u2e80-\uff00\uff3b-\uffff]+|[：＝]"
)
_WORD = lazy_re(r"[(\[*_]{0,3}[^\W\d_]+(?:[-'’/.][^\W\d_]+)*[)\]*_]{0,3}[.,;:!?]{0,3}")
_TO = lazy_re(r"[ ](?:to|auf|à|a|na|til|till|naar|на|->|→|zu|por|per)[ ]")
_FIELD = lazy_re(r"[ \t]{2,20}|\t")
_DIGIT = lazy_re("[0-9]")
_PHRASE = lazy_re(r"(?<![\w/.=-])[a-z]{3,10}(?:-[a-z]{3,10}){3,9}(?![\w/.=(-])")
_CIPHER = lazy_re(
    r"(?i)(?:aes|chacha|x?salsa|rsa|sha|camellia|twofish|serpent|blowfish|xts|des|ecdsa"
    r"|ed|curve|tls|ssl|gpg|pgp|zip|bit|luks|kms|x25519)[-_]?\d"
)
VAULTS = (
    "cryptsetup", "luks", "veracrypt", "keepass", "bitwarden", "1password", "restic",
    "borg ", "vault", "master pass", "unlock", "decrypt", "gocryptfs", "cryptomator",
    "age -d", "gpg ", "passphrase",
)  # fmt: skip
_NETWORK_VALUE = lazy_re(r"[A-Za-z0-9!#$%&*+@^_?~-]{8,63}")


def in_words(
    there: LineWords, *, is_mixed: bool, is_dashed: bool
) -> Iterator[TextSpan]:
    """Yield all that is stated: passwords and codes.

    Args:
        there: The lines to read.
        is_mixed: Whether the text that they are from has letters and digits in one.
        is_dashed: Whether it has words joined by dashes.
    """
    yield from _opened(there)
    if is_dashed:
        yield from _vaults(there)
    yield from _old_and_new(there)
    for label in there.at(PASSWORD, PASSWORD_PARTS):
        for start, end in _values(there.text, label.end(), _judge_password(label[0])):
            yield (start, end, "password")
    yield from _of_networks(there)
    for label in there.at(SHARED, SHARED_PARTS):
        for start, end in _values(there.text, label.end(), _judge_shared):
            yield (start, end, "password")
    if is_mixed:
        yield from stated_codes(there)


def _opened(there: LineWords) -> Iterator[TextSpan]:
    """Yield what something is said to be opened with."""
    for label in there.at(OPENED, OPENED_PARTS):
        for start, end in _values(there.text, label.end(), _judge_opened):
            yield (start, end, "password")


def _values(
    text: str, at: int, judge: Callable[[str, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield where the values stand that a label is followed by.

    Args:
        text: The text.
        at: The place after the label.
        judge: Told a word and how far it is: 0 after a sign or a verb that leads to
            it, 1 right after the label, else more. Whether it is a value.
    """
    stop = text.find("\n", at, at + _FAR)
    stop = min(len(text), at + _FAR) if stop < 0 else stop
    if not text[at:stop].strip(" \t:=*_`\"'-\r") and stop < len(text):
        below = text.find("\n", stop + 1, stop + _FAR)
        stop = min(len(text), stop + _FAR) if below < 0 else below
    field = _FIELD.match(text, at, stop)
    leads, words, since = field is not None, 0, 0
    for chunk in _CHUNK.finditer(text, at, stop):
        whole = chunk[0]
        body = whole.lstrip("([*_" + SIGNS)
        signs = whole[: len(whole) - len(body)]
        if any(sign in SIGNS for sign in signs):
            leads, since = True, 0
        start = chunk.start() + len(signs)
        value = body.rstrip(".,;:)]*_" if _DIGIT.search(body) else ".,;:!?)]*_")
        if not value:
            continue
        low_value = value.lower()
        if whole[0] >= "\u2e80" or low_value in COPULAS or value in ("->", "=>", "-"):
            leads, since = True, 0
            continue
        if low_value in FROM and _TO.search(text, chunk.end(), stop):
            leads, since = True, 0
            continue
        if not words and low_value in NOT_STATED:
            return
        is_led = leads and since <= _WORDS_OF_A_SIGN
        if judge(value, 0 if is_led else max(2, words + 1) if words else 1):
            yield start, start + len(value)
            leads, since, words = False, 0, -2
            continue
        words, since = words + 1, since + 1
        if _WORD.fullmatch(whole) is None:
            words += 1
        if words > _MOST_WORDS or (body[-1] in ".!?" and len(value) > 2):
            return
        if body[-1] == ":":
            leads, since = True, 0


def _judge_password(label: str) -> Callable[[str, int], bool]:
    """Return what judges the values of a label for a password."""
    is_sure = label.lower() not in {"pass", "laps"}

    def judge(value: str, distance: int) -> bool:
        if _DIGIT.search(value) is None and distance > 1:
            return False
        if looks_chosen(value) and not _is_code(value):
            return True
        return distance < 2 and is_sure and is_stated(value)

    return judge


def _judge_opened(value: str, distance: int) -> bool:
    """Whether a value is what something is opened with."""
    return distance < 4 and is_stated(value) and _CIPHER.match(value) is None


def is_stated(value: str) -> bool:
    """Whether a value may be a password that is stated to be one.

    >>> list(map(is_stated, ("donut-lampe-42", "KUV4X0ATZ", "base64", "reset")))
    [True, True, False, False]
    """
    if len(value) < 5 or is_identifier(value) or is_placeholder(value):
        return False
    if value.count("-") > 1 and is_drawn(value, least=3):
        return True
    if value.isdecimal():
        return len(value) > 7 and not is_counted(value)
    if value.isalpha():
        return (
            value.isascii()
            and value.isupper()
            and len(value) > 7
            and is_gibberish(value, most=0.5)
        )
    return not _is_code(value) and (may_be_chosen(value) or _is_short_jumble(value))


def _is_short_jumble(value: str) -> bool:
    """Whether letters and digits of a short value change places."""
    kinds = "".join(
        "d" if letter.isdigit() else "a" for letter in value if letter.isalnum()
    )
    return (
        kinds.count("da") + kinds.count("ad") >= 2
        and not is_no_secret(value, firm=True)
        and not is_wordy(value)
    )


def _is_code(value: str) -> bool:
    """Whether a value is a part of a program, a path or an address."""
    return (
        has_any(value, ("://", "(", "[", "{", "->", "::", "=", "\\"))
        or value[0] in "/.~$-<"
        or value.count("/") > 1
        or value.count("_") > 1
        or value.endswith((".py", ".md", ".txt", ".json", ".yml", ".yaml", ".com"))
    )


def _vaults(there: LineWords) -> Iterator[TextSpan]:
    """Yield the drawn words on lines that speak of a vault or of an encrypted disk."""
    for found in there.near(_PHRASE, VAULTS, above=1):
        if is_drawn(found[0]):
            yield (*found.span(), "password")


def _old_and_new(there: LineWords) -> Iterator[TextSpan]:
    """Yield the values of two lines that say what a password was and is."""
    text = there.text
    starts = [there.starts[row] for row in there.rows(CHANGED_WORDS)]
    found = [match for match in (CHANGED.match(text, at) for at in starts) if match]
    for one, other in pairwise(found):
        between = text[one.end() : other.start()].strip()
        values = (one["value"], other["value"])
        if not between and all(map(is_stated, values)):
            yield (*one.span("value"), "password")
            yield (*other.span("value"), "password")


def _of_networks(there: LineWords) -> Iterator[TextSpan]:
    """Yield the keys of wireless networks, stated on a line of one or just below."""
    for label in there.near(KEY, NETWORK_PARTS, below=2):
        for start, end in _values(there.text, label.end(), _judge_network):
            yield (start, end, "password")


def _judge_shared(value: str, distance: int) -> bool:
    """Whether a value is what many share to get in."""
    return not distance and not has_any(value, ("/", ".")) and is_stated(value)


def _judge_network(value: str, distance: int) -> bool:
    """Whether a value is the key of a wireless network."""
    if _NETWORK_VALUE.fullmatch(value) is None or is_placeholder(value):
        return False
    if distance > 1:
        return looks_chosen(value)
    if value.isdecimal():
        return not is_counted(value)
    if value.isalpha():
        return False
    return (
        _DIGIT.search(value) is not None
        and (not is_no_secret(value, firm=True) and UUID.fullmatch(value) is None)
    ) or (value.count("-") > 1 and is_drawn(value, least=3))
