"""Finds secrets by the layout around them: known files, tables and lists.

A password column, a line of ``.pgpass``, the ``data`` of a Kubernetes Secret, a default
in HCL, a list of recovery codes, a seed phrase, a value below its label. Each form is
tried only if the text has a word that it needs.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import ValueKind, classify_name
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values.password_check import is_gibberish, is_random
from hivemind_memory.redaction.values.value_check import (
    is_identifier,
    is_placeholder,
    is_real,
    is_sure,
    looks_random,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords

_PASSWORD = "password"  # noqa: S105 - the name of a kind
_PGPASS = lazy_re(
    r"(?m)(?:^|[ \t])[ \t>`-]{0,6}[\w.*-]{1,80}:(?:\d{2,5}|\*):"
    r"[\w*.-]{1,60}:[\w*.@-]{1,60}:"
    r"([^\s:`]{4,100})[ \t`]*$"
)
_KUBERNETES_BLOCK = lazy_re(
    r"(?m)^(?P<indent>[ \t>]*)(?:string)?[dD]ata:[ \t]*\r?\n"
    r"(?P<lines>(?:(?P=indent)[ \t]+[^\n]*(?:\n|\Z))+)"
)
KUBERNETES = frozenset(
    ("kind: secret", 'kind: "secret', "kind:  secret", "stringdata:")
)
"""One of these is in each text with a Secret of Kubernetes, in lower case."""
_KUBERNETES_LINE = lazy_re(r"(?m)^[ \t>]*[\w.-]{1,80}:[ \t]+[\"']?([^\s\"'|>]{4,4000})")
_HCL = lazy_re(
    r"variable[ \t]+\"([\w-]{2,60})\"[ \t]*\{[^{}]{0,400}?\bdefault[ \t]*=[ \t]*"
    r"\"([^\"\n]{4,200})\""
)
_SQL = lazy_re(
    r"(?i)(?:\bidentified[ \t]++(?:with[ \t]++[\w'\"]{1,40}[ \t]++)?(?:by|as)[ \t]++"
    r"(?:password[ \t]++)?|\b(?:with|encrypted|set|role|user)\b[^\n;]{0,60}?\bpassword"
    r"[ \t]*+=?[ \t]*+)(['\"])([^'\"\n]{4,100})\1"
)
_LOGIN = lazy_re(
    r"(?im)\b(?:log-?in|credentials?|account|sign-?in|access|user(?:name)?|zugang)"
    r"(?:[ \t]+[\w.-]{1,20}){0,3}[ \t]*[:=][ \t]*[\"'`]?([\w.@+-]{2,60})[\"'`]?"
    r"[ \t]+(?:/|\||:|und|and|with)[ \t]+[\"'`]?([^\s\"'`/|]{5,100})[\"'`]?"
)
_NETWORK_KEY = lazy_re(
    r"(?i)(?<![a-z])(?:wpa[-_]?)?(?:psk|sae_password)[ \t]*[=:][ \t]*[\"']?"
    r"([^\s\"']{8,64})"
)
_QUERY = lazy_re(
    r"(?i)[?&;](?:appid|app_id|app-id|apikey|subscription-key|sid|code|sig|key)"
    r"=([\w%-]{24,90})(?![\w-])"
)
_ENVIRONMENT = lazy_re(
    r"(?m)^[ \t>$-]*(?:(?P<set>(?:set|SET)(?:[ \t]+-\w+)?|setx|setenv|ENV)[ \t]+"
    r"|(?:export|ARG|env)[ \t]+)?\"?([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*)\"?"
    r"(?:[ \t]?[=:][ \t]?|(?(set)[ \t]+|(?!)))[\"']?([\w.+/=~-]{16,400})"
    r"[\"']?[ \t\r]*$"
)
_SECRETS = (ValueKind.PASSWORD, ValueKind.SECRET)
_HEX = lazy_re("(?:0x)?[0-9a-fA-F]+")
_TOKEN_SUFFIXES = frozenset(
    (
        "PAT", "SID", "JWT", "SAS", "LICENSE", "SEED", "SALT", "PEPPER", "SIGNING",
        "HMAC", "COOKIE", "PK", "PRIVKEY", "TKN",
    )
)  # fmt: skip
_PUBLIC_WORDS = frozenset(
    (
        "SHA", "SHA1", "SHA256", "MD5", "HASH", "DIGEST", "CHECKSUM", "COMMIT",
        "REVISION", "REF", "TAG", "VERSION", "ID", "UUID", "URL", "URI", "PATH",
        "DIR", "FILE", "HOST", "IMAGE", "PUBLIC", "PUB", "FINGERPRINT", "ETAG",
        "INTEGRITY", "NAME", "PUBLISHABLE", "SITE", "SITEKEY", "REGION", "ZONE", "ARN",
        "ADDRESS",
    )
)  # fmt: skip
_PASETO = lazy_re(r"(?<![\w.])v[1-4]\.(?:local|public)\.[\w-]{32,4000}(?:\.[\w-]+)?")
_CODES_LABEL = lazy_re(
    r"(?i)(?:recovery|backup|scratch|emergency|one[- ]time|2fa|mfa|totp)[ \t-]+"
    r"(?:\w{1,12}[ \t-]+)?codes?\b"
    r"|(?i:codes? de (?:secours|récupération)"
    r"|codici di (?:backup|recupero)|(?:notfall|wiederherstellungs)codes?)(?!\w)"
)
_CODES_STARTS = frozenset(
    ("recovery", "backup", "scratch", "emergency", "one-time", "one time",
    "2fa", "mfa", "totp", "codes de", "code de", "codici di",
    "notfallcode", "wiederherstellungscode")
)  # fmt: skip
_CODE = lazy_re(
    r"(?<![\w.:/-])(?:[a-zA-Z0-9]{4,6}(?:(?P<sign>[- ])[a-zA-Z0-9]{4,6}"
    r"(?:(?P=sign)[a-zA-Z0-9]{4,6}){0,2})|[a-zA-Z0-9]{8,32})"
    r"(?![\w:/-]|\.\w)"
)
_NO_CODE = lazy_re(r"\d{4}[- ]\d\d.*|[A-Za-z]+\d?")
_PLAIN_CODE = lazy_re(
    r"\d{4,6}(?:[- ]\d{4,6}){1,3}|[a-z]{4,6}(?:-[a-z]{4,6}){1,3}|\d{8,10}"
)
_CODES_CHARS = 800
_BLANK_LINE = lazy_re(r"\n[ \t]*\r?\n")
_NEXT_ENTRY = "\n<!-- hm "
_LABEL = lazy_re(
    r"(?m)^[ \t>]*(?:[#*_-]{1,6}[ \t]*|\d{1,4}\.[ \t])?[*_`\"']{0,6}"
    r"(?P<label>[A-Za-z][\w.-]{0,60}(?:[ \t][\w().-]{1,60}){0,4})[*_`\"':]{0,6}[ \t]*"
    r"\r?\n(?:[ \t>]*\r?\n)?[ \t>]*(?:```\w*\r?\n[ \t>]*)?[*_`\"'-]{0,6}[ \t]?"
    r"(?P<value>[^\s`\"']{6,400})[*_`\"']{0,6}[ \t]*\r?(?:\n|\Z)"
)
_SETTING = lazy_re(r"[a-z_]{2,20}=[a-z_]{2,20}")
_ZERO_WIDTH = lazy_re("[\u00ad\u200b-\u200d\u2060\ufeff]")


def in_layouts(there: LineWords) -> list[TextSpan]:
    """Return the secrets that their surroundings give away."""
    spans: list[TextSpan] = []
    for words, find in _FORMS:
        if not words or there.has_any(words):
            spans += find(there.text)
    for words, pattern, judge in _ON_LINES:
        if there.has_any(words):
            spans += judge(there.near(pattern, words))
    if there.has_any(_CODES_STARTS):
        spans += _codes(there)
    return spans


def split_by_zero_width(
    text: str, find: Callable[[str], list[TextSpan]]
) -> list[TextSpan]:
    """Return what *find* finds once characters without width are taken out."""
    places = [at for at, letter in enumerate(text) if not _ZERO_WIDTH.match(letter)]
    whole = "".join(text[at] for at in places)
    return [
        (places[start], places[end - 1] + 1, kind) for start, end, kind in find(whole)
    ]


def has_zero_width(text: str) -> bool:
    """Whether a text has characters without width."""
    return _ZERO_WIDTH.search(text) is not None


def _pgpass(text: str) -> Iterator[TextSpan]:
    """Yield the passwords of lines of ``.pgpass``."""
    for found in _PGPASS.finditer(text):
        if not is_placeholder(found[1]) and not found[1].isdigit():
            yield (*found.span(1), _PASSWORD)


def kubernetes(text: str) -> Iterator[TextSpan]:
    """Yield the values of a Kubernetes Secret."""
    if "stringData:" not in text and not re.search(
        r"(?m)^[ \t>-]*kind:[ \t]*[\"']?Secret\b", text
    ):
        return
    for block in _KUBERNETES_BLOCK.finditer(text):
        for line in _KUBERNETES_LINE.finditer(block["lines"]):
            if not is_placeholder(line[1]):
                start = block.start("lines")
                yield (start + line.start(1), start + line.end(1), "kubernetes-secret")


def _hcl(text: str) -> Iterator[TextSpan]:
    """Yield the defaults of variables whose name says that they are secret."""
    for found in _HCL.finditer(text):
        yield from _named(found[1], found, 2)


def _sql(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the passwords of users that SQL creates."""
    for found in places:
        if not is_placeholder(found[2]):
            yield (*found.span(2), _PASSWORD)


def _logins(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the passwords of ``login: name / password``."""
    for found in places:
        value = found[2].rstrip(".,;)")
        if _SETTING.fullmatch(value):
            continue  # its name says what it is
        if is_real("password", value, ValueKind.PASSWORD, firm=False, tight=True):
            yield (found.start(2), found.start(2) + len(value), _PASSWORD)


def _network_keys(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the keys of wireless networks."""
    for found in places:
        if is_real("psk", found[1], ValueKind.PASSWORD, firm=True, tight=True):
            yield (*found.span(1), _PASSWORD)


def _queries(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the keys that addresses carry as hexadecimal digits."""
    for found in places:
        if looks_random(found[1]):
            yield (*found.span(1), "api-key")


def _environment(text: str) -> Iterator[TextSpan]:
    """Yield random values of environment variables, whatever these are called."""
    for found in _ENVIRONMENT.finditer(text):
        name, value = found[2], found[3]
        words = name.split("_")
        if not _PUBLIC_WORDS.isdisjoint(words) or is_identifier(value):
            continue
        longest = max(map(len, re.split(r"[-_./+=]", value)))
        is_named = classify_name(name) in _SECRETS
        is_likely = (
            is_named or not _TOKEN_SUFFIXES.isdisjoint(words[-2:])
        ) and looks_random(value)
        is_run = longest >= 28 and not _HEX.fullmatch(value) and is_random(value)
        if (
            is_likely or is_run or (is_sure(value) and longest >= 16)
        ) and not is_placeholder(value):
            yield (*found.span(3), "secret")


def _tokens(text: str) -> Iterator[TextSpan]:
    """Yield PASETO tokens."""
    for found in _PASETO.finditer(text):
        if looks_random(found[0][10:60]):
            yield (*found.span(), "paseto")


def _codes(there: LineWords) -> Iterator[TextSpan]:
    """Yield the codes of a list that is labeled as recovery codes."""
    text, done = there.text, 0
    for label in there.at(_CODES_LABEL, _CODES_STARTS):
        if label.start() < done:
            continue
        stop = min(label.end() + _CODES_CHARS, len(text))
        start = text.find("\n", label.end(), stop)
        blank = _BLANK_LINE.search(text, start + 3, stop) if start >= 0 else None
        stop = blank.start() if blank else stop
        entry = text.find(_NEXT_ENTRY, label.end(), stop)
        stop = entry if entry >= 0 else stop
        done = stop
        codes = [
            found
            for found in _CODE.finditer(text, label.end(), stop)
            if not is_placeholder(found[0])
        ]
        shapes = [
            _shape(found[0])
            for found in codes
            if any(map(str.isdigit, found[0])) and not _NO_CODE.fullmatch(found[0])
        ]
        # Numbers or letters alone are codes in a list of several of one form.
        plain = [found[0] for found in codes if _PLAIN_CODE.fullmatch(found[0])]
        for shape in {_shape(value) for value in plain}:
            same = [value for value in plain if _shape(value) == shape]
            least = 2 if len(shape) > 1 and same[0][0].isdigit() else 3
            if len(set(same)) >= least and all(map(_is_drawn_code, same)):
                shapes += [shape] * 2
        if len(shapes) > 1:
            for found in codes:
                if _shape(found[0]) in shapes:
                    yield (*found.span(), "recovery-code")


def _is_drawn_code(code: str) -> bool:
    """Whether numbers are no years, and letters no words."""
    return not re.match("(?:19|20)", code) if code[0].isdigit() else is_gibberish(code)


def _shape(code: str) -> tuple[int, ...]:
    """Return the lengths of the groups of a code."""
    return tuple(map(len, re.split("[- ]", code)))


def _below_labels(text: str) -> Iterator[TextSpan]:
    """Yield values that are alone on the line below their label."""
    for found in _LABEL.finditer(text):
        label = re.sub(r"\([^)]*\)?", "", found["label"]).strip().replace(" ", "_")
        yield from _named(label, found, "value")


def _named(name: str, found: re.Match[str], group: int | str) -> Iterator[TextSpan]:
    """Yield a value if its name and its form say that it is a secret."""
    kind = classify_name(name)
    if kind is None or kind is ValueKind.KEY:
        return
    if is_real(name, found[group], kind, firm=True, tight=True):
        yield (*found.span(group), kind.value)


_FORMS: tuple[tuple[frozenset[str], Callable[[str], Iterator[TextSpan]]], ...] = tuple(
    (frozenset(words), find)
    for words, find in (
        ((":5432:", ":*:", ":5433:", ":6432:", "pgpass", ":3306:"), _pgpass),
        (KUBERNETES, kubernetes),
        (('variable "',), _hcl),
        ((), _environment),
        ((".local.", ".public."), _tokens),
        (("pass", "pw", "secret", "token", "key", "cred", "kennwort"), _below_labels),
    )
)  # fmt: skip
"""Words of which a text must hold one, if there are any -> the form it may have."""

_ON_LINES: tuple[
    tuple[
        frozenset[str],
        re.Pattern[str],
        Callable[[Iterable[re.Match[str]]], Iterator[TextSpan]],
    ],
    ...,
] = tuple(
    (frozenset(words), pattern, judge)
    for words, pattern, judge in (
        (("identified", "password"), _SQL, _sql),
        (
            ("login", "log-in", "credential", "account", "sign", "access", "user",
            "zugang"),
            _LOGIN, _logins,
        ),
        (("psk", "sae_password"), _NETWORK_KEY, _network_keys),
        (
            ("appid=", "app_id=", "app-id=", "key=", "sid=", "code=", "sig="),
            _QUERY, _queries,
        ),
    )
)  # fmt: skip
"""Words -> what is looked for on the lines that hold one, and what judges it."""

WORDS = _CODES_STARTS.union(*(row[0] for row in _FORMS), *(row[0] for row in _ON_LINES))
"""Words that the gate looks for before ``in_layouts`` is asked, in lower case."""
