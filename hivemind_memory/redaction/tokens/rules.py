"""Loads and applies the rules for the secrets of many providers.

``rules.json`` is gitleaks' set, converted by ``scripts/convert_secret_rules.py``;
``own_rules.json`` has what that set lacks. A rule is tried only where one of its words
occurs, and compiled when it is first tried.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.patterns.pattern_file import PROGRAM
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.tokens.keywords import EXACT, FOLDED
from hivemind_memory.redaction.tokens.sequences import without_sequences
from hivemind_memory.redaction.values.value_check import (
    UUID,
    entropy,
    is_placeholder,
    looks_random,
    spells_words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


FILES = ("rules.json", "own_rules.json")
_MORE = lazy_re(r"[A-Za-z0-9_-]{0,2000}+")
LONGEST_OF_WINDOW = 160  # letters of a secret that the end of a window may have cut
LOOKED_AT = 400  # letters of a value that are looked at
_LEAST_OF_TOKEN = 16  # letters of a part that is no example, beside a sequence
_SEPARATORS = lazy_re("[-_.:/%]")
_SECRET_WORDS = ("key", "token", "secret", "pass", "auth", "cred")
_ESCAPED = lazy_re("%[0-9A-Fa-f]{2}")
_PICTURE = lazy_re(r"data:[\w.+/-]{3,60};base64,[A-Za-z0-9+/=]*+\Z")
_PICTURE_LOOK_BACK = 200_000


class Rule:
    """One rule of a data file."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.kind: str = data["id"]
        self.description: str = data["description"]
        self.keywords: tuple[str, ...] = tuple(data["keywords"])
        self.folded: bool = data.get("fold", False)
        self.window: tuple[int, int] | None = None
        if "window" in data:
            back, ahead = data["window"]
            self.window = (back, ahead)
        self._regex: str = data["regex"]
        self._compiled: re.Pattern[str] | None = None
        self._group: int = data.get("group", 0)
        self._entropy: float = data.get("entropy", 2.0)
        self._left: bool = bool(data.get("left"))
        self._not_behind: str = "-_" if data.get("left") == "dash" else ""
        self._right: bool = data.get("right", False)
        self._in_context: bool = data.get("context", False)
        self._real: bool = data.get("real", False)
        self._allow = [lazy_re(pattern) for pattern in data.get("allow", ())]

    def matches(self, text: str, at: int, done: int) -> tuple[list[TextSpan], int]:
        """Return what the rule finds around one of its words.

        Args:
            text: The text.
            at: Where the word begins.
            done: How far the rule has looked already.

        Returns:
            What was found, and how far the rule has looked now.
        """
        if self._compiled is None:
            self._compiled = PROGRAM.compile(self._regex, re.ASCII)
        if self.window is None:
            if at < done or not self._starts(text, at):
                return [], done
            found = self._compiled.match(text, at)
            if found is None:
                return [], done
            span = self._checked(text, found)
            return ([span] if span else []), found.end()
        back, ahead = self.window
        spans = [
            span
            for found in self._compiled.finditer(
                text, max(0, at - back, done - LONGEST_OF_WINDOW), at + ahead
            )
            if self._starts(text, found.start())
            and (span := self._checked(text, found))
        ]
        return spans, at + ahead

    def _starts(self, text: str, at: int) -> bool:
        """Whether a secret may begin here."""
        if not self._left:
            return True
        before = text[at - 1 : at] if at else ""
        return not (before and before in self._not_behind) and _starts_at(text, at)

    def _checked(self, text: str, found: re.Match[str]) -> TextSpan | None:
        """Return the secret of a match, if it looks like a real one."""
        start, end = found.span(self._group)
        follows = text[end : end + 1]
        if self._right and follows.isascii() and follows.isalnum():
            return None
        value = text[start : min(end, start + LOOKED_AT)]
        if self._in_context and not _is_real(value, found[0], follows):
            return None
        if not self._is_likely(value):
            return None
        if not self._right and not self._in_context:
            more = _MORE.match(text, end)
            end = more.end() if more else end
        return (start, end, self.kind)

    def _is_likely(self, value: str) -> bool:
        """Whether a value of the right form is no example."""
        if self._real and not looks_random(value):
            return False
        return (
            entropy(value) > self._entropy
            and not self._is_example(value)
            and not spells_words(value)
            and not any(allowed.search(value) for allowed in self._allow)
        )

    def _is_example(self, value: str) -> bool:
        """Whether a value stands for a real one.

        A token that its own beginning gives away may have a sequence in it, such as the
        number of a workspace, if the rest is no sequence.
        """
        if not is_placeholder(value):
            return False
        if self.window is not None or self._in_context:
            return True
        rest = without_sequences(value)
        longest = max(_SEPARATORS.split(rest), key=len)
        return (
            is_placeholder(rest)
            or len(longest) < _LEAST_OF_TOKEN
            or not looks_random(longest)
        )


def by_rules(
    text: str, low: str, exact: list[str], folded: list[str]
) -> list[TextSpan]:
    """Return the secrets that the rules find.

    Args:
        text: The text.
        low: The same in lower case.
        exact: The words of ``keywords.EXACT`` that the text has.
        folded: Those of ``keywords.FOLDED`` that it has in lower case.
    """
    spans: list[TextSpan] = []
    table = _rules_by_word()
    for within, words, folds in ((text, exact, False), (low, folded, True)):
        for part in words:
            for word, rules in table[part, folds]:
                spans += _around(text, within, word, rules)
    # A picture's letters can spell anything.
    return [span for span in spans if not _in_picture(text, span[0])]


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule of the data files, the converted ones first."""
    here = os.path.dirname(__file__)
    rules: list[Rule] = []
    for name in FILES:
        with open(os.path.join(here, name), encoding="utf-8") as file:
            rules += [Rule(data) for data in json.load(file)["rules"]]
    return tuple(rules)


Words = tuple[tuple[str, tuple[Rule, ...]], ...]


@cache
def _rules_by_word() -> dict[tuple[str, bool], Words]:
    """Return each listed word's rules, by the whole words that they are looked for by.

    Of words of which one is a part of the other, the shorter alone is listed.
    """
    found: dict[tuple[str, bool], list[Rule]] = {}
    for rule in all_rules():
        for word in rule.keywords:
            found.setdefault((word, rule.folded), []).append(rule)
    table: dict[tuple[str, bool], Words] = {}
    done: set[tuple[str, bool]] = set()
    for listed, folds in ((EXACT, False), (FOLDED, True)):
        lines = "\n".join(
            ["", *(word for word, is_folded in found if is_folded is folds), ""]
        )
        for part in listed:
            own = [(word, folds) for word in _lines_with(lines, part)]
            table[part, folds] = tuple(
                (key[0], tuple(found[key])) for key in own if key not in done
            )
            done.update(own)
    return table


def _lines_with(lines: str, part: str) -> Iterator[str]:
    """Yield the lines that hold some letters; faster than one search for each."""
    at = lines.find(part)
    while at >= 0:
        end = lines.index("\n", at)
        yield lines[lines.rindex("\n", 0, at) + 1 : end]
        at = lines.find(part, end)


def _around(
    text: str, within: str, word: str, rules: tuple[Rule, ...]
) -> list[TextSpan]:
    """Return what some rules find at each place of their word."""
    spans: list[TextSpan] = []
    searched = [0] * len(rules)
    at = within.find(word)
    while at >= 0:
        for place, rule in enumerate(rules):
            found, searched[place] = rule.matches(text, at, searched[place])
            spans += found
        at = within.find(word, at + 1)
    return spans


def _starts_at(text: str, at: int) -> bool:
    """Whether a word begins here; also after ``%3D`` or a line end that is spelt."""
    before = text[at - 1 : at] if at else ""
    if not (before.isascii() and before.isalnum()):
        return True
    if before in "nrt" and text[max(0, at - 2) : at - 1] == "\\":
        return True
    if before == "m" and "\x1b[" in text[max(0, at - 8) : at]:
        return True  # a colour of a terminal
    return _ESCAPED.match(text, at - 3) is not None if at > 2 else False


def _is_real(value: str, whole: str, follows: str) -> bool:
    """Whether the text next to a provider's name looks like its key."""
    if follows and follows.isascii() and (follows.isalnum() or follows in "_-+/="):
        return False
    if UUID.fullmatch(value):
        beside = whole[: -len(value)].lower()
        return any(word in beside for word in _SECRET_WORDS)
    return looks_random(value)


def _in_picture(text: str, at: int) -> bool:
    """Whether a place lies within a picture that is written as base64."""
    start = text.rfind(";base64,", max(0, at - _PICTURE_LOOK_BACK), at)
    if start < 0:
        return False
    before = text[max(0, start - 70) : at]
    return _PICTURE.search(before) is not None
