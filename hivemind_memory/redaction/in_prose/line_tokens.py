"""Cuts a line into words as people write them, with the signs around each."""

from __future__ import annotations

from itertools import pairwise

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.handing_labels import (
    Label,
    label_of,
    label_of_name,
)
from hivemind_memory.redaction.in_prose.handing_words import (
    COUNTED,
    HOMOGRAPHS,
    SETTERS,
)

_QUOTES = '"`„“”«»「」『』‚‘’'
_EAST = (
    "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff08\uff09\u3001\u3002\uff0c\uff1a\uff1d"
)
_TOKEN = lazy_re(
    rf"\{{(?:code|noformat|quote|panel)[^}}\n]{{0,30}}\}}|[{_QUOTES}]|[{_EAST}]+|(?:(?!\{{(?:code|noformat|quote|panel)[:}}])[^\s{_QUOTES}{_EAST}]|(?<=[^\W_])[’‘](?=[^\W_]))+"
)
_NAMED = lazy_re(r"(?P<name>[^\W\d_][\w.-]{0,60})(?P<sign>:=|=>|->|[:=])(?P<value>\S+)")
_LOGIN = lazy_re(r"(?P<name>[\w.@+-]{2,40}):(?P<value>[^\s:/]{5,}|[^\s:/]\S{7,})")
_SIGNS = frozenset(":=>")
_INNER = lazy_re("[a-z][A-Z]")
_ASSIGNS = frozenset(("=", ":=", ":", "=>"))
_CAMEL = lazy_re(r"[a-z]+(?:[A-Z][a-z]+)+")
_NAMES_LOGIN = lazy_re(r"(?i)(?:auth|login|creds?|credentials?|userpass|userpwd)\Z")
_AUTH = frozenset(
    ("auth", "login", "creds", "credentials", "account", "basic", "as", "logins")
)
_NUMBER_THEN = lazy_re(r"(\d{4,8})[,;](?=\S)")
_TIME = lazy_re(r"[\[(]?\d{1,2}[:.h]\d\d(?:[:.]\d\d)?[\])]?,?")
_STOPS = frozenset(".!?")
_OPENS = "([{*'_<"
_SHUTS = ".,;:!?)]}*'>"
_AROUND = "\"'`„“”«»「」『』()[]{}*_#=.,;:!?：？、。"
_BULLETS = frozenset(("-", "*", "•", "+", ">", "|", "o", "–", "—", "→"))


class Token:
    """A word of a line."""

    __slots__ = (
        *("body", "end", "is_assigned", "is_end", "is_joined", "is_lead", "is_paired"),
        *("is_quoted", "is_speaker", "is_stop", "label", "leads", "low", "opens"),
        "start",
    )

    def __init__(  # noqa: PLR0913 - what is around a word
        self,
        body: str,
        start: int,
        end: int,
        low: str,
        *,
        leads: bool = False,
        opens: bool = False,
        is_end: bool = False,
        is_stop: bool = False,
        is_quoted: bool = False,
        label: int = 0,
    ) -> None:
        """Take a word as it stands; what is beside it is marked later."""
        self.body = body
        """Without the signs around it."""

        self.start = start
        self.end = end
        self.low = low
        self.leads = leads
        """Whether a colon or an equals sign follows it."""

        self.opens = opens
        """Whether a bracket opens before it."""

        self.is_end = is_end
        """Whether a clause ends with it."""

        self.is_stop = is_stop
        """Whether a sentence does."""

        self.is_quoted = is_quoted
        self.label = label
        """What it calls the value that follows."""

        self.is_joined = False
        """Whether its script has no blanks, and the next word follows at once."""

        self.is_speaker = False
        """Whether it tells who speaks, or when."""

        self.is_assigned = False
        """Whether its value follows without a blank."""

        self.is_paired = False
        """Whether it follows a name and a colon where a login is stated."""

        self.is_lead = False
        """Whether it only begins the line: a bullet, or the like."""


def _split(line: str) -> list[str]:
    return line.lower().replace("=", " ").replace(":", " ").split()


def words_of(line: str) -> list[str]:
    """Return the words of a line in lower case, without the signs around them."""
    return [word.strip(_AROUND) for word in _split(line)]


def labels_in(line: str) -> list[Label]:
    """Return what a line calls a value that follows it."""
    return [Label(kind) for word in words_of(line) if (kind := label_of(word))]


def tokens_of(line: str) -> list[Token]:
    """Return the words of a line, in order."""
    tokens: list[Token] = []
    is_quoted = False
    for found in _TOKEN.finditer(line):
        whole, start = found[0], found.start()
        if whole in _QUOTES or (
            whole[0] == "{" and whole[-1] == "}" and len(whole) > 4
        ):
            is_quoted = _quote(tokens, line, start)
            continue
        named = None if _SIGNS.isdisjoint(whole) else _NAMED.match(whole)
        if named and ":" in named["value"][:-1] and _NAMES_LOGIN.search(named["name"]):
            owner, _, value = named["value"].partition(":")
            at = start + named.start("value") + len(owner) + 1
            tokens.append(_token(value, at, is_quoted=is_quoted))
            tokens[-1].is_paired = True
        elif named and label_of_name(named["name"]) and "://" not in whole:
            tokens.append(_token(named["name"], start, is_quoted=is_quoted))
            tokens[-1].leads = True
            tokens[-1].is_assigned = True
            tokens[-1].low = tokens[-1].low.rpartition(".")[2]
            tokens[-1].label = label_of_name(named["name"])
            at = start + named.start("value")
            tokens.append(_token(named["value"], at, is_quoted=is_quoted))
        elif (
            tokens
            and tokens[-1].low in _AUTH
            and (login := _LOGIN.match(whole.lstrip(_OPENS)))
        ):
            at = start + len(whole) - len(whole.lstrip(_OPENS))
            tokens.append(_token(login["name"], at, is_quoted=is_quoted))
            at += login.start("value")
            tokens.append(_token(login["value"], at, is_quoted=is_quoted))
            tokens[-1].is_paired = True
        else:
            tokens.append(_token(whole, start, is_quoted=is_quoted))
        if whole[0] >= "\u3000" and line[found.end() : found.end() + 1].strip():
            tokens[-1].is_joined = True
    for before, token in pairwise(tokens):
        if before.body.isdecimal() and token.low in COUNTED:
            token.label = 0
        if (
            token.body in _ASSIGNS
            and not before.label
            and _CAMEL.fullmatch(before.body)
        ):
            before.label = label_of_name(before.body)
        if before.low in SETTERS and "_" in token.body and token.body.isupper():
            token.label = label_of_name(token.body)
            token.leads = token.leads or bool(token.label)
    _mark_beginning(tokens)
    return tokens


def _quote(tokens: list[Token], line: str, at: int) -> bool:
    """Read a quote; return whether what follows is quoted."""
    before, after = line[at - 1 : at], line[at + 1 : at + 2]
    is_open = not before.strip() or before in "([=:{" or (before >= "\u3000")
    if after and not after.isspace() and is_open:
        return True
    if tokens:
        tokens[-1].is_end = True
        if after == ":":
            tokens[-1].leads = True
    return False


def _token(whole: str, start: int, *, is_quoted: bool) -> Token:
    """Return a word without the signs around it."""
    body = whole.lstrip(_OPENS)
    opens = len(whole) - len(body)
    signs = whole[:opens]
    bare = body.rstrip(_SHUTS)
    is_name = (
        not bare.islower()
        and _INNER.search(bare) is not None
        and not body[len(bare) :].startswith(":")
    )
    is_tag = (
        is_name
        or bare in HOMOGRAPHS
        or (whole[0] == "<" and whole[1:2].isalpha() and not whole.endswith(">"))
    )
    if not bare or not (bare[0].isalnum() or any(map(str.isalnum, bare))):
        return Token(whole, start, start + len(whole), whole)
    tail = body[len(bare) :]
    if tail[:1] == "!" and not bare.isalpha():
        bare, tail = bare + "!", tail[1:]
    if number := _NUMBER_THEN.match(bare):
        bare, tail = number[1], bare[number.end(1) :]
    low = bare.lower()
    is_short = low.endswith(("'s", "’s")) and label_of(low[:-2])
    return Token(
        bare,
        start + opens,
        start + opens + len(bare),
        low[:-2] if is_short else low,
        label=(0 if is_tag else label_of(low[:-2] if is_short else low))
        or (label_of_name(bare) if ":" in tail and _CAMEL.fullmatch(bare) else 0),
        leads=":" in tail or bare.endswith(("=", "：", "＝")) or bool(is_short),
        opens="(" in signs,
        is_end=bool(tail),
        is_stop=bool(tail) and not _STOPS.isdisjoint(tail),
        is_quoted=is_quoted or "'" in signs or "*" in signs,
    )


def _mark_beginning(tokens: list[Token]) -> None:
    """Mark bullets, times and who speaks, at the beginning of a line."""
    for place, token in enumerate(tokens[:5]):
        if token.body in _BULLETS or _TIME.fullmatch(token.body):
            token.is_lead = True
            continue
        is_name = token.body.isalpha() and len(token.body) < 25
        follows = tokens[place + 1].body if place + 1 < len(tokens) else ""
        if is_name and (token.leads or token.is_end or follows in {":", ">"}):
            token.is_speaker = not label_of(token.low)
        break
