"""Values that are assigned to a name which says that they are secret.

``password: x``, ``"api_key": "x"``, ``export TOKEN=x``, ``--token x``, a cell of a
table or a word in prose. The name decides how much the value must look like a secret; a
value that is code, a path, a variable or an example is none.
"""

from __future__ import annotations

import re

from hivemind_memory.secrets.names import Holds, what_it_holds
from hivemind_memory.secrets.plausible import (
    entropy,
    is_identifier,
    is_placeholder,
    is_wordy,
    looks_random,
)
from hivemind_memory.secrets.spans import Span

LONGEST_NAME = 48
LONGEST_VALUE = 256  # what is looked at of a value; all of it is replaced
LONGEST_QUOTED = 4000
SHORTEST_OF_LETTERS = 16
_BEGINNERS = " \t\r\n&?,;({[|/#@\"'`<>!"
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,48}\Z")
_NAME_AFTER = re.compile(r"[A-Za-z0-9_.-]{0,48}+")
_WORD_AFTER = re.compile(r"[^\W\d_]{0,12}+")
_OWNER_BEFORE = re.compile(r"([A-Za-z]{2,14})[ \t]\Z")
# The quote that a value stands in, if any.
_OPEN = r"""[(\[*_]{0,3}+(?P<open>(?:[bruf]{1,2}(?=["']))?\\{0,3}["'`]{1,3}+|)"""
# From behind a name to before its value.
_BETWEEN = re.compile(
    r"""
    [\\"'`*_\])]{0,6}+
    (?P<words>(?:[ \t]{1,4}+[A-Za-z][\w.-]{0,15}+){0,4}?)
    (?:[ \t]{0,20}[*`"']{0,3}
      (?: :[ \t]{0,4}+[A-Za-z_][\w.\[\]|]{0,30}(?:[ ]\|[ ]\w{1,20})?[ ]=[ ]
        | =>|:=|->|===?|[=：＝]|:(?!//)|%3[aAdD]|\|(?!\|)|[是为為は]
        | (?P<comma>,)(?=[ \t]{0,4}+["'`])
        | (?P<tag>>)
        | "?[ \t]{1,4}+value=
        )
      | [ \t]{1,4}+(?:is|was|are|ist|lautet|est|es|é|è|to)(?=[ \t:])[ \t]{0,4}+:?
    )
    [*_]{0,3}+[ \t]{0,20}+
    """
    + _OPEN,
    re.VERBOSE,
)
# Behind the option of a command.
_SPACE = re.compile(r"(?P<words>)(?P<tag>)(?P<comma>)[ \t]{1,20}+(?![=:])" + _OPEN)
_OF = re.compile(
    r"(?i)[ \t]*(?:for|of|to|on|in|at|from|f[üu]r|pour|para)[ \t]"
    r"(?!.*(?:commit|hash|sha|revision|checksum|id|digest)\b)"
)
_PLAIN = re.compile(rf"[^\s\"'`<>;|\\\0]{{4,{LONGEST_VALUE}}}+")
_REST = re.compile(r"[A-Za-z0-9+/=_.~%-]*+")
_NEXT = re.compile(r"\)?\]\(|[&,](?=[\w.-]{1,40}=)|%(?:26|22|27|20|3[bB]|0[aA])")
_URL_OR_PATH = re.compile(
    r"(?:vault|op|env|file|secrets?|ssm|keyring|keychain|arn|sops|ref|bw):[\w./#@:-]{3}"
    r"|[a-z][a-z0-9+.-]{1,20}://|(?:~|\.{1,2})?/[\w.@-]+/|\.{1,2}/|~/|[A-Za-z]:[\\/]"
    r"|[\w.-]+(?:/[\w.-]+)*\.(?:py|js|ts|go|rs|md|json|ya?ml|toml|txt|pem|key|env|sh|html?"
    r"|com|org|net|io|dev|local)\Z"
)
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_CODE = re.compile(
    r"[A-Za-z_$][\w$.:-]*[(\[{].*|[({\[].*"
    r"|[A-Za-z_$]\w*(?:(?:\.|->|::)[A-Za-z_$]\w*)+[,;]?"
)
_TECHNICAL = re.compile(
    r"(?i)(?:[a-z]+[_-])?(?:argon2\w*|sha-?\d{1,3}\w*|base\d\d\w*|utf-?\d+|pbkdf2\w*"
    r"|[hrep]s\d{3}|oauth\d?|ed25519|x25519|aes[-_]?\d{3}\w*|md5|bcrypt\d*|scrypt\d*|rsa\d*"
    r"|v\d+(?:\.\d+)*|(?:param|value|input|field|test|user|name|column|option|arg|str|var"
    r"|example|item|step|line|page|part|row|key|token|secret|pass(?:word|wd)?|pwd)_?\d+"
    r"|id_\w+|varchar\d*|char\d+|u?int\d+|float\d+|python\d*|1password|auth0|k8s|s3|ec2"
    r"|http[23]?|ipv[46]|i18n|a11y|\d+[a-z]{1,3})"
)
_NUMBERS = re.compile(r"[\d.,:/_+\sxTZ-]+|\d+(?:\.\d+)?[a-zA-Z%]{1,6}")
_VERSION_OR_DATE = re.compile(r"v?\d+(?:\.\d+)+[\w.+-]{0,12}|\d{4}-\d\d-\d\d.*")
_SYMBOL = re.compile(r"[!@#$%^&*+=?~]")


def assigned(text: str, low: str, words: list[str]) -> list[Span]:
    """Return the secrets that are assigned; *words* are those that are there."""
    spans: list[Span] = []
    done: set[int] = set()
    for word in words:
        within = 0  # the end of a value that was looked at
        at = low.find(word)
        while at >= 0:
            start, end = _name_around(text, at, at + len(word))
            at = low.find(word, max(end, at + 1))
            if end in done or (start < within and text[start - 1] not in _BEGINNERS):
                continue
            done.add(end)
            holds = what_it_holds(_with_owner(text, start, end))
            value = holds and _value_after(text, start, end, holds)
            if value:
                within = value[1]
                if value[2]:
                    spans.append(value)
    return spans


def _name_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the name begins and ends that a word stands in."""
    if not text[start:end].isascii():
        more = _WORD_AFTER.match(text, end) if text[start] < "\u2e80" else None
        return start, more.end() if more else end
    before = _NAME_BEFORE.search(text, max(0, start - LONGEST_NAME), start)
    after = _NAME_AFTER.match(text, end)
    return before.start() if before else start, after.end() if after else end


def _with_owner(text: str, start: int, end: int) -> str:
    """Return a name with the word before it: ``API key`` is two."""
    name = text[start:end]
    if name.lower() not in {"key", "keys"}:
        return name
    before = _OWNER_BEFORE.search(text, max(0, start - 16), start)
    return f"{before[1].lower()}_{name}" if before else name


def _value_after(text: str, start: int, end: int, holds: Holds) -> Span | None:
    """Return the value that is assigned to a name; its kind is empty if no secret."""
    name = text[start:end].rstrip(".")
    # A sentence's end is no part of a name.
    end = start + len(name)
    between = _takes_argument(text, start, name) and _SPACE.match(text, end)
    between = between or _BETWEEN.match(text, end)
    if between is None:
        return None
    if between["tag"] and text[max(0, start - 1) : start] != "<":
        return None
    quote = between["open"].lstrip("bruf")
    start = between.end()
    quoted = _quoted(text, start, quote) if quote else None
    value = _plain(text, start) if quoted is None else quoted
    tight = not between["words"].strip() or _OF.match(between["words"]) is not None
    in_environment = name.isupper() and tight and text[end : end + 1] == "="
    firm = quoted is not None or in_environment
    stop = start + len(value)
    if between["tag"] and not text.startswith("</", stop):
        return None
    if (between["comma"] and not looks_random(value[:LONGEST_VALUE])) or not _is_real(
        name, value[:LONGEST_VALUE], holds, firm=firm, tight=tight
    ):
        return (start, stop, "")
    if quoted is None and len(value) == LONGEST_VALUE:
        rest = _REST.match(text, stop)
        stop = rest.end() if rest else stop
    return (start, stop, holds.value)


def _is_real(name: str, value: str, holds: Holds, *, firm: bool, tight: bool) -> bool:
    """Whether a value is what its name says.

    Args:
        name: The name that it is assigned to.
        value: The value.
        holds: What the name says of it.
        firm: It is quoted, or stands in an environment file: not code.
        tight: The value follows the name, without other words between.
    """
    if len(value) < (4 if holds is Holds.PASSWORD else 8):
        return False
    if len(value) < SHORTEST_OF_LETTERS and value.isalpha():
        return False  # a word: by far the most that follows such a name
    if _is_no_secret(value, firm=firm):
        return False
    if holds is Holds.PASSWORD:
        return _is_password(value, firm=firm, tight=tight)
    loose = holds is Holds.KEY and not (firm and name.isupper())
    return _is_machine_made(name, value, loose=loose, tight=tight)


def _takes_argument(text: str, start: int, name: str) -> bool:
    """Whether a name is an option, or a word of a netrc file."""
    if name.startswith("--"):
        return True
    line = text[max(0, start - 120) : start].rpartition("\n")[2].lower()
    return "login " in line or "machine " in line


def _quoted(text: str, start: int, quote: str) -> str | None:
    """Return what stands before the closing quote, if it is on the same line."""
    closing = quote[len(quote) - len(quote.lstrip("\\")) :][-1:]
    escaped = quote.endswith("\\" + closing) and closing
    end = text.find(
        ("\\" + closing) if escaped else closing, start, start + LONGEST_VALUE
    )
    if end < 0:
        return None
    value = text[start:end]
    if not escaped:
        while value.endswith("\\"):  # an escaped quote within
            end = text.find(closing, end + 1, start + LONGEST_QUOTED)
            if end < 0:
                return None
            value = text[start:end]
    return None if "\n" in value or "\r" in value else value


def _plain(text: str, start: int) -> str:
    """Return an unquoted value without what follows it."""
    found = _PLAIN.match(text, start)
    value = found[0] if found else ""
    following = _NEXT.search(value)
    if following:
        value = value[: following.start()]
    if value.startswith("${"):
        return value
    return value.rstrip(",.:*_" if "(" in value or "{" in value else ",.:)]}*_")


def _is_no_secret(value: str, *, firm: bool) -> bool:
    """Whether a value is an example, a number, a path, an address or code."""
    return (
        value[0] in "[\0"
        or "\0" in value
        or is_placeholder(value)
        or _NUMBERS.fullmatch(value) is not None
        or _VERSION_OR_DATE.fullmatch(value) is not None
        or _TECHNICAL.fullmatch(value) is not None
        or (_URL_OR_PATH.match(value) is not None and not _is_base64(value))
        or _ADDRESS.fullmatch(value) is not None
        or (_CODE.fullmatch(value) is not None and not (firm and _is_odd(value)))
        or any(letter.isspace() for letter in value)
    )


def _is_base64(value: str) -> bool:
    """Whether what looks like a path is a key that has slashes."""
    return len(value) >= 32 and "." not in value and looks_random(value)


def _is_odd(value: str) -> bool:
    """Whether brackets and dots in a quoted value are those of a password."""
    return looks_random(value) or ("(" in value and ")" not in value)


def _is_password(value: str, *, firm: bool, tight: bool) -> bool:
    """Whether a value may be a password: not a plain word."""
    letters = any(letter.isalpha() for letter in value)
    digits = any(letter.isdigit() for letter in value)
    symbols = _SYMBOL.search(value.rstrip("!?")) is not None
    if looks_random(value):
        return True
    if len(value) > 128 or not letters or not tight:
        return False
    if digits:
        few_words = len(re.findall("[A-Za-z]+", value)) < (4 if firm else 3)
        separated = "-" in value or "_" in value or "." in value
        plain = is_wordy(value) and separated and not symbols
        return (
            len(value) >= (5 if firm else 6) and (firm or not plain) and few_words
        ) or symbols
    if symbols:
        return len(value) >= 6 and not value.isalpha()
    mixed = value[1:] != value[1:].lower() and value != value.upper()
    return value[-1:] in "!?" and mixed and len(value) >= 8


def _is_machine_made(name: str, value: str, *, loose: bool, tight: bool) -> bool:
    """Whether a value looks like one that a machine has made."""
    low = name.lower()
    if is_identifier(value):
        return tight and any(
            word in low for word in ("secret", "apikey", "api_key", "api-key", "auth")
        )
    if loose:
        plain = re.fullmatch("[0-9a-fA-F]+", value) is not None
        return len(value) >= 20 and not plain and _is_random_run(value)
    if re.fullmatch("[0-9a-fA-F]{7,128}", value):
        # Beside a secret's very name alone; elsewhere it is a hash.
        return tight and len(value) >= 16 and looks_random(value)
    return len(value) >= 10 and looks_random(value)


def _is_random_run(value: str) -> bool:
    """Whether a long value has no structure that a person would see."""
    return (
        looks_random(value)
        and entropy(value) >= 3.5
        and max(map(len, re.split(r"[-_.:/]", value))) >= 16
    )
