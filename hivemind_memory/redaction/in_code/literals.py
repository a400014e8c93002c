r"""Finds secrets that source code spreads over several literals, or spells as numbers.

A literal in parts, ``"abc" + "def"``, is read as one. The bytes of a key stand in an
array, in ``\\x`` escapes or in groups of hexadecimal digits.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.values.value_check import entropy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_JOINT = lazy_re(
    r"([\"'])(?<=[\w+/=!?#$%&*@.~^-][\"'])(?:[ \t]{0,8}(?://|\#|--)[^\n\"']{0,60})?"
    r"(?:[ \t]{0,8}(?:\+|\.{1,2}|&|<>|\|\||~|\\|_)[ \t]{0,8}(?:\r?\n[ \t>]{0,40})?"
    r"|[ \t]{0,8}\r?\n[ \t>]{0,40}(?:(?:\+|\.{1,2}|&|<>|\|\||~)[ \t]{0,8})?|[ \t]{1,8})"
    r"[rbfu]?\1(?=[\w+/=!?#$%&*@.~^-])"
)
_WRAPPED = lazy_re(r"(?<=[\w+/=%-])[ \t]?\\\r?\n[ \t]{0,40}(?=[\w+/=%-])")
_BYTE = r"(?:0x[0-9a-f]{1,2}|\d{1,3})"
_ARRAY = lazy_re(
    rf"(?i)(?<![\w,.])({_BYTE}(?:u8|u)?(?:[ \t\r\n>]{{0,6}},[ \t\r\n>]{{0,40}}"
    rf"{_BYTE}){{11,127}})(?![\w.])"
)
_ESCAPES = lazy_re(r"(?i)(?:\\x[0-9a-f]{2}|\\[0-7]{3}){8,128}")
_GROUPS = lazy_re(
    r"(?i)(?<![\w:.-])(?:[0-9a-f]{2}(?:([ :-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){10,62}"
    r"|[0-9a-f]{4}(?: [0-9a-f]{4}){7,15}|[0-9a-f]{8}(?: [0-9a-f]{8}){3,7})(?![\w:-])"
)
# Some of each: quickly tells that there are not many.
_SOME_BYTES = lazy_re(
    r"[0-9](?:[0-9a-fA-FxXu]{0,5}[ \t\r\n>]{0,6},[ \t\r\n>]{0,40}[0-9]){4}"
)
_SOME_ESCAPES = lazy_re(r"\\[x0-7][0-9a-fA-F]{2}\\[x0-7]")
_SOME_GROUPS = lazy_re(
    r"[ :-](?<=[0-9a-fA-F]{2}.)[0-9a-fA-F]{2}(?:[0-9a-fA-F]{2})?[ :-][0-9a-fA-F]{2}"
)
_WALLET = lazy_re(r"0x(?<!\w0x)[0-9a-fA-F]{64}(?!\w)")
_WALLET_LABEL = lazy_re(
    r"(?i)(?:accounts?\"?[ \t]*[:=][ \t]*\[|private|secret|priv[_-]?key|wallet[ \t]*\("
    r"|signer|deployer|mnemonic|hot[ _-]wallet|owner[ _-]key|\bpk\b|\bkey\b|\bkeys\b"
    r"|seed)"
)
_LABEL = lazy_re(
    r"(?i)(?<![a-z])(?:keypair|id\.json|mint authority|phantom|[a-z]{0,12}_?key(?:s"
    r"|_?(?:bytes|data|material))?|secret|seed"
    r"|private|priv|aes|psk|otp|hmac|chave|schl(?:ü|ue)ssel|cl[ée]|llave|password|pass"
    r"|\w{0,12}secret\w{0,6}|entropy|master|appkey|appskey|nwkskey|netkey"
    r"|devkey)(?![a-z])"
)
_NOT_A_KEY = lazy_re(
    r"(?i)public|pub_?key|fingerprint|hash|digest|checksum|sha\d|md5|expected|example"
    r"|test|mac addr|uuid|magic|header|signature|color|colour|thumbprint|serial|cert"
    r"|keyboard|keycode|key_?code|scan|\btx\b|transaction|block|topic|contract|address"
)
WORDS = frozenset(
    (
        *(
            "solana",
            "phantom",
            "key",
            "secret",
            "seed",
            "priv",
            "aes",
            "psk",
            "otp",
            "hmac",
            "chave",
        ),
        *("schl", "clé", "llave", "pass", "entropy", "master"),
        *("deployer", "signer", "wallet", "mnemonic"),
    )
)
"""Words that the gate looks for before ``keys_as_numbers`` is asked, in lower case."""
NEAR_CHARS = 120
_FARTHEST = 12  # lines below a word on which an array of bytes may end


def joined(text: str, find: Callable[[str], list[TextSpan]]) -> list[TextSpan]:
    """Return what *find* finds in literals only once their parts are put together."""
    places: list[tuple[int, int]] = []
    places += [found.span() for found in _JOINT.finditer(text)]
    if "\\\n" in text or "\\\r\n" in text:
        places += [found.span() for found in _WRAPPED.finditer(text)]
    if not places:
        return []
    parts: list[str] = []
    joints: list[int] = []  # the places in the whole
    left_out = [0]  # letters, up to each of these places
    done = 0
    for start, end in sorted(places):
        if start < done:
            continue
        parts.append(text[done:start])
        left_out.append(left_out[-1] + end - start)
        joints.append(end - left_out[-1])
        done = end
    whole = "".join([*parts, text[done:]])
    spans: list[TextSpan] = []
    for start, end, kind in find(whole):
        first, last = bisect_right(joints, start), bisect_left(joints, end)
        if first < last:
            spans.append((start + left_out[first], end + left_out[last], kind))
    return spans


def has_joint(text: str) -> bool:
    """Whether a text has a literal in parts."""
    return _JOINT.search(text) is not None or (
        "\\" in text and _WRAPPED.search(text) is not None
    )


def keys_as_numbers(there: LineWords) -> Iterator[TextSpan]:
    """Yield the bytes of keys, if the text before them speaks of a key.

    Args:
        there: A text, and which of ``WORDS`` it has.
    """
    text, rows = there.text, there.rows(WORDS)
    near = "\n".join(
        text[start:end] for start, end in there.blocks(rows, below=_FARTHEST)
    )
    for pattern, sign, below in (
        (_ARRAY, _SOME_BYTES, _FARTHEST),
        (_ESCAPES, _SOME_ESCAPES, 1),
        (_GROUPS, _SOME_GROUPS, 1),
    ):
        if sign.search(near) is None:
            continue
        for found in there.on(pattern, rows, below=below):
            is_key = _is_labelled(text, found.start(), found.end(), _LABEL)
            if is_key and _is_even(found[0]):
                yield (*found.span(), "key")
    if "0x" in text:
        for found in _WALLET.finditer(text):
            if entropy(found[0]) >= 3.2 and _is_labelled(
                text, found.start(), found.end(), _WALLET_LABEL
            ):
                yield (*found.span(), "private-key")


def _is_labelled(text: str, start: int, end: int, label: re.Pattern[str]) -> bool:
    """Whether a key is spoken of just before a place, or after it on the line."""
    first = max(0, start - NEAR_CHARS)
    before = "\n".join(text[first:start].split("\n")[-2:])
    behind = text[end : end + 60].partition("\n")[0]
    near = before + "\n" + behind
    return label.search(near) is not None and _NOT_A_KEY.search(near) is None


def _is_even(value: str) -> bool:
    """Whether numbers are those of random bytes: many different ones."""
    numbers = re.findall(r"(?i)0x[0-9a-f]{1,2}|\\x[0-9a-f]{2}|[0-9a-f]+", value)
    if len(numbers) > 1 and len(set(numbers)) < 0.7 * len(numbers):
        return False
    if (
        numbers
        and all(number.isdigit() and len(number) < 4 for number in numbers)
        and "," in value
    ):
        figures = [int(number) for number in numbers]
        steps = {other - one for one, other in pairwise(figures)}
        return (
            len(figures) in _KEY_SIZES and max(figures) > 99 and len(steps) > 6
            and max(figures) < 256
        )  # fmt: skip
    return len(set(value.lower())) >= 8


_KEY_SIZES = frozenset((12, 16, 20, 24, 32, 48, 64, 96, 128))
