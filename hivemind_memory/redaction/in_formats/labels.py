"""Finds values next to or below a label that announces a secret.

``the token of the runner, still valid: q7Zp…``, a heading and the value below it,
a chat that asks for a key and gets it. What stands near such a word must look random.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.secret_names import (
    KEY_NAMES,
    KEYS_ELSEWHERE,
    PASSWORD_NAMES,
    PASSWORDS_ELSEWHERE,
)
from hivemind_memory.redaction.spans import found_at, shortest_parts
from hivemind_memory.redaction.values.value_check import (
    entropy,
    is_identifier,
    is_no_secret,
    is_passphrase,
    is_scrambled,
    is_wordy,
    looks_random,
    spells_words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

LABELS = (
    "password", "passwort", "passwd", "passphrase", "passcode", "passe", "pass ",
    "pass:", "pw ", "pw:", "pwd", "secret", "token", "api key", "apikey", "api-key",
    "access key", "private key", "shared key", "signing key", "encryption key",
    "licen", "master key", "server key", "service key", "account key", "write key",
    "product key", "recovery key", "security key", "credential", "creds", "login",
    "auth", "keypair", "zugang", "contrase", "unseal", "key for ", "the key",
    "key is", "key:", "totp", "otp ", "2fa", "mfa", "seed", "veracrypt", "keepass",
    "luks", "bitlocker", "akia", "asia", "ltai", "akid", "goog1", "admin key",
    "private app", "webhook id", "static key", "integration key", "local key",
    "device key",
    "key content", "network key", "security key", "filevault", "wifi", "wi-fi",
    "wlan", "vpn",
    *PASSWORD_NAMES, *KEY_NAMES,
)  # fmt: skip
"""Words in ASCII letters near which a random value is taken for a secret."""
NEAR = 90  # letters from a label to its value
BELOW = 2  # lines below a label that still belong to it
SHORTEST = 16
LONGEST_LINE = 500  # longer ones are no notes of a person
_EVERY_LABEL = sorted(
    {*LABELS, *PASSWORDS_ELSEWHERE, *KEYS_ELSEWHERE},
    key=lambda word: (-len(word), word),
)
_ALL = frozenset(_EVERY_LABEL)
_LABEL_PARTS = shortest_parts(("key", "pat ", "pat:", *_EVERY_LABEL))
_LABEL = lazy_re(
    r"key(?:(?<=[a-z0-9]{2}key)|(?<=[a-z0-9]{2}[ _-]key))(?![a-z])"
    r"|(?<![a-z])(?:pat|keygen|genkey)(?![a-z])|"
    + "|".join(map(re.escape, _EVERY_LABEL))
)
_LABEL_STARTS = tuple(
    label
    for label in ("key", "pat", "genkey", *_EVERY_LABEL)
    if _ALL.isdisjoint(label[:end] for end in range(1, len(label)))
)
"""One of these begins each of them."""
_PUBLIC = lazy_re(
    r"(?<![a-z])(?:public(?:key)?|pub|ssh-[a-z]+|fingerprint|commit"
    r"|(?<!hmac-)(?<!hmac )sha\d*|hash(?:ed|es)?|checksum|digest|"
    r"integrity|revision|etag|uuid|badge|cursor|ssh-(?:rsa|ed25519)|ecdsa|example"
    r"|sha\d+sum|"
    r"\$\d\w?\$|data:\w+/|idempotency|sitekey|site[-_ ]key|publishable|cache|partition"
    r"|primary|foreign|object"
    r"|nonce)(?![a-z])|h1:|;base64,"
)
_RUN = lazy_re(
    r"(?<![\w+/.#@%$\\-])(?:[A-Za-z][\w-]{1,24}[:/](?=\w))?"
    r"(?P<value>[A-Za-z0-9][A-Za-z0-9_+/.:~-]{7,400}+={0,2})"
)
_HEX = lazy_re(
    "[0-9a-f]{32,128}|[0-9A-F]{32}|[0-9A-F]{64}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0"
    "-9a-f]{12})"
)
_PASSWORD = lazy_re(
    r"(?:pass[a-z]{0,6}|pwd?|kennwort|mdp|clave|senha|creds?|credentials?|logins?|"
    r"initial|secret|(?:network|security) key|key content|schlüsselinhalt)(?![a-z])"
    r"|비번|비밀번호|패스워드|계정|密码|密碼|パスワード|парол"
)
_HOST = lazy_re(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:ssh|sftp|scp|ftp|rdp|vnc)\b|\w[.-]*@[\w.-]"
)
_LONG_KEY = 40
_RESOURCE = lazy_re(r"arn:[\w:*/.-]{0,110}\Z")
_HOST_PARTS = ("@", "ssh", "ftp", "scp", "rdp", "vnc")
_IP = lazy_re(r"\d\.\d{1,3}\.\d{1,3}\.\d")
_SHORT = lazy_re(
    r"(?<![\w.+%$#-])(?P<value>[A-Za-z0-9][A-Za-z0-9_.!-]{6,18}[A-Za-z0-9!])(?![\w(.="
    r"/@:-])"
)
_AT_ONCE = lazy_re(r"(?:secret|password|passwd|passcode|pw|pwd)[ \t:=\"'`]{1,4}\Z")
_PAIR = lazy_re(
    r"(?<![\w/+=.-])[A-Za-z][\w.-]{1,30}(?:[ ]?//?[ ]?"
    r"|:)(?P<value>[A-Za-z0-9]{8,20})(?![\w/.:@=(-])"
)
_ALL_OF_IT = lazy_re(
    r"[ \t>*`\"'-]*+(?:[\[(]?\d[\d:., /-]{3,20}[\])]?[ ,-]{0,3})?(?:<?[\w.@-]{1,24}>?["
    r":|>][ \t]{0,20})?[`\"']?(?P<value>[^\s`\"']{12,400})[`\"',]*+[ \t\r]*+\Z"
)
_MAY_HOLD = lazy_re(
    r"[0-9][A-Za-z]|[A-Za-z_-][0-9]|[a-z][A-Z][A-Za-z]|(?:[a-z]{4}[ -]){3}[a-z]{4}"
)
_ACCESS_ID = lazy_re("AKIA|ASIA|LTAI|AKID|GOOG1")
_NEXT = lazy_re(
    r"(?<![a-z])(?:login|auth|authorize|secret|token|pat|[a-z]{0,20}passw[a-z]{2,4}"
    r"|(?!cache|sort|lookup)[a-z]{0,12}key)"
    r"[ \"'`:]{1,3}\Z"
)
_SAID_SO = lazy_re(
    r"(?:token|secret|passw\w+|api[ -]?key|credential|webhook id|(?:static|integration"
    r"|write|ingest|shared|local|network|license|device|admin|access"
    r"|auth)[ -]key)s?\b[^\n]{0,16}\Z"
)
_APP_PASSWORD = lazy_re(
    r"(?<![\w-])[a-z]{4}(?:([- ])[a-z]{4})(?:\1[a-z]{4}){2}(?![\w-])"
)
_APPS = (
    "app-specific",
    "app specific",
    "app password",
    "app-passwor",
    "application-spec",
)
_SIGN_BEFORE = lazy_re(
    r"(?:[:=>：＝—–→(为為是は]|\b(?:is|ist|est|es|lautet|to))[\s\"'`*“„]*\Z"
)
_ADDRESS = lazy_re(r"://|^www\.|\.(?:com|org|net|io|dev|md|html?|json|py|js|ts)\b")


def near_labels(there: LineWords) -> list[TextSpan]:
    """Return the random values beside a word for a secret, or just below one."""
    text, low = there.text, there.low
    spans: list[TextSpan] = []
    start = 0
    labelled = set(there.rows(_LABEL_PARTS))
    hosts = {
        *there.rows(_HOST_PARTS),
        *(bisect_right(there.starts, found.start()) - 1 for found in _IP.finditer(low)),
    }
    if not labelled and not hosts:
        return []
    above: list[bool] = []  # whether the lines above, not empty, were headings
    for row, (line, shown) in enumerate(zip(low.split("\n"), there.lines, strict=True)):
        end = start + len(line)
        is_labelled = row in labelled
        has_host = (
            row in hosts and len(line) < LONGEST_LINE and _HOST.search(line) is not None
        )
        if (is_labelled or has_host or True in above) and _MAY_HOLD.search(shown):
            labels = (
                [
                    found.end() + start
                    for found in found_at(_LABEL, line, line, _LABEL_STARTS)
                ]
                if is_labelled
                else []
            )
            is_public = (labels or has_host) and _PUBLIC.search(line) is not None
            if labels and not is_public:
                spans += _beside(text, start, end, labels)
            elif not labels and True in above:
                spans += _whole_line(text, start, end)
            if has_host and not is_public:
                spans += _pairs(text, start, end)
        if line.strip(" >`-*\r"):
            above = [is_labelled and _is_heading(line), *above[: BELOW - 1]]
        start = end + 1
    return spans


def _is_heading(line: str) -> bool:
    """Whether a line is short, and speaks of a secret."""
    return (
        len(line) < NEAR
        and any(found_at(_LABEL, line, line, _LABEL_STARTS))
        and not _PUBLIC.search(line)
    )


def _beside(text: str, start: int, end: int, labels: list[int]) -> Iterator[TextSpan]:
    """Yield the random values of a line with labels that end at some places."""
    for found in _RUN.finditer(text, start, end):
        at = bisect_left(labels, found.start("value") + 1)
        behind = labels[at - 1] if at else -NEAR
        # A label within the value is none.
        at = bisect_left(labels, found.end() + 1)
        ahead = labels[at] if at < len(labels) else end + NEAR
        if found.start("value") - behind > NEAR and ahead - found.end() > NEAR // 3:
            continue
        value, at = found["value"].rstrip(".:-"), found.start("value")
        if text[at - 1] == "/" and found.end() - found.start() >= _LONG_KEY:
            value, at = found[0].rstrip(".:-"), found.start()  # a slash of base64
        before = text[max(start, at - 60) : at].lower()
        if _RESOURCE.search(text, max(start, at - 120), at):
            continue
        is_assigned = _SIGN_BEFORE.search(before) is not None
        is_named = _SAID_SO.search(before) is not None
        least = SHORTEST - 3 * is_assigned - 3 * is_named
        if _is_secret(value, least=least) or (
            _HEX.fullmatch(value) is not None
            and entropy(value) >= 3.0
            and (_is_next(before) or (is_assigned and is_named))
        ):
            yield (at, at + len(value), "secret")
    line = text[start:end].lower()
    if end - start < LONGEST_LINE and _PASSWORD.search(line):
        for found in _SHORT.finditer(text, start, end):
            if _RESOURCE.search(text, max(start, found.start() - 120), found.start()):
                continue
            before = text[max(start, found.start() - 16) : found.start()].lower()
            if is_mixed(found["value"]) or (
                _AT_ONCE.search(before) and _is_code(found["value"])
            ):
                yield (*found.span("value"), "password")
    if any(word in line for word in _APPS):
        for found in _APP_PASSWORD.finditer(text, start, end):
            yield (*found.span(), "password")


def is_mixed(value: str) -> bool:
    """Whether a short value mixes letters and digits as no word and no name does.

    >>> [is_mixed(value) for value in ("IhqSb1Gg", "Base64Url", "utf8Text", "Python3x")]
    [True, False, False, False]
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", value)
    return (
        any(letter.isdigit() for letter in value[1:-1])
        and any(letter.isupper() for letter in value)
        and any(letter.islower() for letter in value)
        and len(parts) >= 4
        and sum(map(len, parts)) < 2.7 * len(parts)
        and not is_wordy(value)
        and not is_no_secret(value, firm=True)
    )


def _is_code(value: str) -> bool:
    """Whether letters of one case and digits change places often."""
    plain = [letter for letter in value if letter.isalnum()]
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(plain))
    return changes >= 3 and len(value) >= 8 and not is_no_secret(value, firm=True)


def _pairs(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield what follows the name of an account on a line with a host."""
    for found in _PAIR.finditer(text, start, end):
        if is_mixed(found["value"]) or is_scrambled(found["value"]):
            yield (*found.span("value"), "password")


def _is_next(before: str) -> bool:
    """Whether a value follows the very word for a secret, as an argument does."""
    return _NEXT.search(before) is not None


def _whole_line(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield the value that is a whole line, or all of it after a name or a bullet."""
    found = _ALL_OF_IT.match(text[start:end])
    if found and _is_secret(found["value"], least=SHORTEST):
        yield (start + found.start("value"), start + found.end("value"), "secret")


def _is_secret(value: str, *, least: int) -> bool:
    """Whether a value looks as if a machine had made it, and names no thing."""
    if is_passphrase(value) or is_scrambled(value):
        return True
    digits = sum(letter.isdigit() for letter in value)
    if (
        len(value) < least
        or _ACCESS_ID.search(value)
        or not digits
        or _ADDRESS.search(value)
        or is_identifier(value)
        or is_no_secret(value, firm=True)
        or is_wordy(value)
        or spells_words(value)
        or not looks_random(value)
    ):
        return False
    longest = max(re.split(r"[-_./+=:~]", value), key=len)
    mixed = longest != longest.lower() and longest != longest.upper()
    if mixed:
        return (
            len(longest) >= least - 2
            and entropy(value) >= 3.3
            and not is_wordy(longest)
        )
    # Of one case alone: rather a hash or a name, unless it is long and not hexadecimal.
    is_hex = re.fullmatch("[0-9a-fA-F]+", longest) is not None
    return not is_hex and len(longest) >= 20 and digits >= 2 and entropy(value) >= 3.5


WORDS = frozenset((*_LABEL_PARTS, *_HOST_PARTS))
"""Words that the gate looks for before ``near_labels`` is asked, in lower case."""
