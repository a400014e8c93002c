"""Finds values assigned to a name that says they are secret.

``password: x``, ``"api_key": "x"``, ``export TOKEN=x``, ``--token x``, a table cell or
a word in prose. The name decides how much a value must look like a secret; code, paths,
variables and examples are never secrets.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import ValueKind, classify_name
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values.passphrase_check import is_dashed
from hivemind_memory.redaction.values.value_check import is_real, is_sure, looks_random

LONGEST_NAME = 48
LONGEST_VALUE = 256  # what is looked at of a value; all of it is replaced
LONGEST_QUOTED = 4000
_BEGINNERS = " \t\r\n&?,;({[|/#@\"'`<>!"
_NAME_BEFORE = lazy_re(r"[A-Za-z0-9_.-]{0,48}\Z")
_NAME_AFTER = lazy_re(r"[A-Za-z0-9_.-]{0,48}+")
_WORD_AFTER = lazy_re(r"[^\W\d_]{0,12}+")
_OWNER_BEFORE = lazy_re(r"([A-Za-z]{2,14})[ \t]\Z")
# The quote that a value is in, if any.
_OPEN = (
    r"""(?:«[ \u00a0\u202f]?)?[(\[*_]{0,3}+"""
    r"""(?P<open>(?:[bruf]{1,2}(?=["']))?\\{0,3}["'`]{1,3}+|)"""
)
# Between a name and its value.
_BETWEEN = lazy_re(
    r"""
    [\\"'`*_\])]{0,6}+
    (?:[ ]?\[[\w*]{0,30}+\])?
    (?P<words>(?:[ \t]{1,4}+[^\W\d_][\w.-]{0,15}+){0,7}?)
    (?:[ ]\([^()\n]{1,40}+\))?
    (?:[ \t]{0,20}[*`"']{0,3}
      (?: :[ \t]{0,4}+(?:&(?:'\w{1,12}[ ])?)?
          [A-Za-z_][\w.\[\]|]{0,30}(?:[ ]\|[ ]\w{1,20})?[ ]=[ ]
        | =>|[:?]=|->|===?|[=：＝—–→]|:(?!//)|%3[aAdD]|\|(?!\|)|[是为為は]
        | (?P<comma>,)(?=[ \t]{0,4}+["'`])
        | (?P<tag>>)
        | "?[ \t]{1,4}+value=
        )
      | [ \t]{1,4}+(?:is|was|are|ist|lautet|est|es|é|è|to)(?=[ \t:])[ \t]{0,4}+:?
    )
    [*_]{0,3}+[ \t]{0,20}+(?:!!\w{1,12}[ ])?(?:[|>]?[+-]?\r?\n[ \t]{0,16})?
    (?P<wrap>(?:(?:new|await|try)[ ])?(?:
      [\w.:]{0,30}(?:hex|b(?:ase)?_?64\w{0,8}|Base64String|atob|Buffer\.from|bytes|Bytes
        |Some|String|Secret\w{0,8}|secret|SecureString|str|Data|parse|\[\]byte|quote|trim
        |hexToBytes|toBytes|decodeString|DecodeString|from|must)
      (?:<\w{1,20}>)?!?[(\[][ ]{0,2}){1,2}(?=[bruN@]{0,2}["'`]))?
    """
    + _OPEN,
    re.VERBOSE,
)
# Behind the option of a command.
_SPACE = lazy_re(r"(?P<words>)(?P<tag>)(?P<comma>)[ \t]{1,20}+(?![=:])" + _OPEN)
_OF = lazy_re(
    r"(?i)[ \t]*(?:for|of|to|on|in|at|from|f[üu]r|pour|para|del?|della|do|da|di"
    r"|du|des|van|voor|dla|до|от|для|на|için)[ \t]"
    r"(?!.*(?:commit|hash|sha|revision|checksum|id|digest)\b)"
)
_PLAIN = lazy_re(
    rf"[^\s\"'`<>;|\\\0\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]"
    rf"{{4,{LONGEST_VALUE}}}+"
)
_REST = lazy_re(r"[A-Za-z0-9+/=_.~%-]*+")
SHORTEST_LONE = 16
_LONE = rf"([A-Za-z0-9][\w.+/=-]{{{SHORTEST_LONE - 1},{LONGEST_VALUE}}}+)"
_NEXT_WORD = lazy_re(rf"[\"'`*]{{0,3}}[ \t]{{1,8}}[\"'`*(]{{0,3}}{_LONE}(?![(\[@:/])")
_STRING = lazy_re(rf"[^\n]{{0,100}}?[\"'`]{_LONE}[\"'`]")
_NO_VALUE = lazy_re(r"(?:\barn:[\w:*/-]{0,110}|SHA256:|h1:|did:key:)\Z")
# Behind a call that turns it into bytes, a name of one word is that of no hash.
_WRAPPED_HEX = lazy_re("[0-9a-fA-F]{32}|[0-9a-fA-F]{48}|[0-9a-fA-F]{64}|[\\w+/-]{43}=")
_NEXT = lazy_re(r"\)?\]\(|[&,](?=[\w.-]{1,40}=)|%(?:26|22|27|20|3[bB]|0[aA])")


def find_assigned(text: str, low: str, words: list[str]) -> list[TextSpan]:
    """Return the secrets that are assigned; *words* are those that are there."""
    spans: list[TextSpan] = []
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
            holds = classify_name(_with_owner(text, start, end))
            value = holds and _value_after(text, start, end, holds)
            if value:
                within = value[1]
            if holds and not (value and value[2]) and holds is not ValueKind.KEY:
                value = _lone_value(text, end)
            if value and value[2]:
                spans.append(value)
    return spans


def _name_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the name begins and ends that a word is in."""
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


def _lone_value(text: str, end: int) -> TextSpan | None:
    """Return a value that nothing assigns: the next word, or a string on the line.

    So ``the token q7Z… expired`` and ``set_secret("shop", "q7Z…")`` are found. It has
    to look as random as only machines write.
    """
    for pattern in (_NEXT_WORD, _STRING):
        found = pattern.match(text, end)
        if found:
            value = found[1].rstrip(".")
            parts = max(map(len, re.split(r"[-_./:+=]", value)))
            if parts >= SHORTEST_LONE - 4 and is_sure(value):
                return (
                    found.start(1),
                    found.start(1) + len(value),
                    ValueKind.SECRET.value,
                )
    return None


def _value_after(text: str, start: int, end: int, holds: ValueKind) -> TextSpan | None:
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
    is_wrapped = bool(between.groupdict().get("wrap"))
    quote = between["open"].lstrip("bruf")
    start = between.end()
    quoted = _quoted(text, start, quote) if quote else None
    value = _plain(text, start) if quoted is None else quoted
    tight = not between["words"].strip() or _OF.match(between["words"]) is not None
    in_environment = name.isupper() and tight and text[end : end + 1] == "="
    firm = quoted is not None or in_environment
    stop = start + len(value)
    if _NO_VALUE.search(text, max(0, start - 120), start):
        return None
    if between["tag"] and not text.startswith("</", stop):
        return None
    is_key = is_wrapped and quoted is not None and _WRAPPED_HEX.fullmatch(value)
    if not is_key and (
        (between["comma"] and not looks_random(value[:LONGEST_VALUE]))
        or not (
            is_real(name, value[:LONGEST_VALUE], holds, firm=firm, tight=tight)
            or (tight and holds is ValueKind.PASSWORD and is_dashed(value))
        )
    ):
        return (start, stop, "")
    if quoted is None and len(value) == LONGEST_VALUE:
        rest = _REST.match(text, stop)
        stop = rest.end() if rest else stop
    return (start, stop, holds.value)


def _takes_argument(text: str, start: int, name: str) -> bool:
    """Whether a name is an option, or a word of a netrc file."""
    if name.startswith("--"):
        return True
    line = text[max(0, start - 120) : start].rpartition("\n")[2].lower()
    return "login " in line or "machine " in line


def _quoted(text: str, start: int, quote: str) -> str | None:
    """Return what is before the closing quote, if it is on the same line."""
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
