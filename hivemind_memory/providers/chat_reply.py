"""Reads the JSON object out of what a language model replies. Pure."""

from __future__ import annotations

import json
import re

from hivemind_memory.patterns.lazy_pattern import lazy_re

TOO_MUCH = "with far more than was asked for"
MAX_REPLY_CHARS = 200_000
"""More than any reply that is asked for; a longer one is not parsed."""

_STARTS = 20
"""Braces at which an object may begin, in a reply with words around it."""

_THOUGHTS = lazy_re(r"\A\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_THOUGHTS_END = lazy_re(r"</think(?:ing)?>")
"""Some templates begin within the thoughts, so the reply has only their end."""

_BROKEN = lazy_re(r"\{\s*\"")
"""How an object begins; a brace before anything else is one of words."""

_FENCE = lazy_re(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


class NoObjectError(ValueError):
    """A reply holds no JSON object; the message is the end of a sentence."""


def read_object(text: str) -> dict[str, object]:
    r"""Return the JSON object that a reply is, or the only one that it holds.

    Models without a form of reply put words, a fence or their thoughts around it.

    Raises:
        NoObjectError: There is none, or more than one.

    >>> read_object('Here you are:\n```json\n{"a": 1}\n```')
    {'a': 1}
    """
    if len(text) > MAX_REPLY_CHARS:
        raise NoObjectError(TOO_MUCH)
    text = _THOUGHTS.sub("", text, count=1).strip()
    if not text:
        message = "with an empty text"
        raise NoObjectError(message)
    whole = _parsed(text)
    if isinstance(whole, dict):
        return whole
    if whole is not None:
        message = "with JSON that is not an object"
        raise NoObjectError(message)
    for part in dict.fromkeys((_THOUGHTS_END.split(text)[-1], text)):
        fenced = [_parsed(each) for each in _FENCE.findall(part)]
        found = [value for value in fenced if isinstance(value, dict)]
        found = found or _objects_in(part)
        if len(found) == 1:
            return found[0]
    message = "not with one JSON object"
    raise NoObjectError(message)


def text_in(content: object) -> str:
    """Return the text of a message: one, or in parts as some servers send it."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def is_object(text: str) -> bool:
    """Return whether a text is one JSON object and nothing else."""
    return isinstance(_parsed(text), dict)


def _objects_in(text: str) -> list[dict[str, object]]:
    """Return the objects that stand in a text, one after the other.

    None if one of them is broken, as a reply that was cut off is: what is whole within
    it is only a part of what was meant.
    """
    found: list[dict[str, object]] = []
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at = text.find("{")
    for _ in range(_STARTS):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if _BROKEN.match(text, at):
                return []
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    return found


def _parsed(text: str) -> object:
    """Return the JSON value that a text is; None if it is none."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> None:
    """Refuse NaN and infinity, which Python reads and which are no JSON."""
    raise ValueError(name)
