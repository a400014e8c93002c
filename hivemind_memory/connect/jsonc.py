"""Parses JSON with the position of every part, so that one part can be edited.

Some agents allow comments in their settings, some a trailing comma, some neither; a
text that the agent itself could not read is an error here too.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from hivemind_memory.model.value import value
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_DEPTH = 200
_SPACE = lazy_re(r"[ \t\r\n]*")
_COMMENT = lazy_re(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = lazy_re(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = lazy_re(r"[\w.+-]+")


class BrokenTextError(ValueError):
    """The agent could not read the text; the message says where."""


@value
class Dialect:
    """What an agent allows beyond plain JSON."""

    has_comments: bool = False
    has_last_commas: bool = False


class Element:
    """A member of an object or an item of an array.

    Attributes:
        start: Offset of its key, or of its value in an array.
        comma: Offset of the comma after it.
    """

    def __init__(self, *, start: int, key: str | None, node: Node) -> None:
        """Take what stands before the comma."""
        self.start = start
        self.key = key
        self.node = node
        self.comma: int | None = None


class Node:
    """A value and its position.

    Attributes:
        kind: object, array or scalar.
        stop: Offset after its last character.
    """

    def __init__(
        self, *, kind: str, start: int, stop: int = 0, scalar: Any = None
    ) -> None:
        """Take what is known where it begins; a scalar is read at once."""
        self.kind = kind
        self.start = start
        self.stop = stop
        self.scalar = scalar
        self.elements: list[Element] = []

    def find(self, key: str | int) -> Element | None:
        """Return the member called *key*, the last if there are two; or an item."""
        if isinstance(key, int):
            is_there = self.kind == "array" and key < len(self.elements)
            return self.elements[key] if is_there else None
        if self.kind != "object":
            return None
        found = (element for element in reversed(self.elements) if element.key == key)
        return next(found, None)

    def value(self) -> Any:
        """Return it in Python's types."""
        if self.kind == "object":
            return {element.key: element.node.value() for element in self.elements}
        if self.kind == "array":
            return [element.node.value() for element in self.elements]
        return self.scalar


@lru_cache(maxsize=4)
def parse(text: str, dialect: Dialect) -> Node:
    """Return the value that is the whole of *text*; it must not be changed.

    Cached, because an edit parses the same text several times, and settings can be
    megabytes long.

    Raises:
        BrokenTextError: It is not one value in this dialect.

    >>> parse('{"a": [1, true]}', Dialect()).value()
    {'a': [1, True]}
    """
    reader = _Reader(text, dialect)
    node = reader.value(reader.skip(0), 0)
    stop = reader.skip(node.stop)
    if stop != len(text):
        raise reader.broken(stop)
    return node


class _Reader:
    """Walks through a text; every method takes an offset."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect

    def value(self, at: int, depth: int) -> Node:
        """Return the value at an offset."""
        first = self._text[at : at + 1]
        if depth > _MAX_DEPTH:
            raise self.broken(at)
        if first in ("{", "["):
            return self._container(at, depth)
        found = (_STRING if first == '"' else _SCALAR).match(self._text, at)
        if found is None:
            raise self.broken(at)
        if first == '"' and "\\" not in found[0]:
            text = found[0][1:-1]
            return Node(kind="scalar", start=at, stop=found.end(), scalar=text)
        try:
            scalar = json.loads(found[0], parse_constant=_refuse)
        except ValueError:
            raise self.broken(at) from None
        return Node(kind="scalar", start=at, stop=found.end(), scalar=scalar)

    def skip(self, at: int) -> int:
        """Return the offset after white space and comments."""
        while True:
            space = _SPACE.match(self._text, at)
            at = space.end() if space else at
            if not self._text.startswith("/", at):
                return at
            comment = _COMMENT.match(self._text, at)
            if comment is None:
                return at
            if not self._dialect.has_comments:
                raise self.broken(at)
            at = comment.end()

    def broken(self, at: int) -> BrokenTextError:
        """Return the error for what is at an offset."""
        line = self._text.count("\n", 0, at) + 1
        found = self._text[at : at + 1]
        what = "comment" if self._text.startswith(("//", "/*"), at) else repr(found)
        return BrokenTextError(
            f"unexpected {what} in line {line}"
            if found
            else f"it ends too early, in line {line}"
        )

    def _container(self, at: int, depth: int) -> Node:
        """Return an object or an array."""
        is_object = self._text[at] == "{"
        node = Node(kind="object" if is_object else "array", start=at)
        closing = "}" if is_object else "]"
        at = self.skip(at + 1)
        while self._text[at : at + 1] != closing:
            if node.elements and node.elements[-1].comma is None:
                raise self.broken(at)
            element = self._element(at, depth, has_key=is_object)
            node.elements.append(element)
            at = self.skip(element.node.stop)
            if self._text[at : at + 1] == ",":
                element.comma = at
                at = self.skip(at + 1)
        is_last_comma = bool(node.elements) and node.elements[-1].comma is not None
        if is_last_comma and not self._dialect.has_last_commas:
            raise self.broken(at)
        node.stop = at + 1
        return node

    def _element(self, at: int, depth: int, *, has_key: bool) -> Element:
        """Return a member or an item."""
        start, key = at, None
        if has_key:
            named = self.value(at, depth) if self._text[at : at + 1] == '"' else None
            if named is None:
                raise self.broken(at)
            key = named.scalar
            at = self.skip(named.stop)
            if self._text[at : at + 1] != ":":
                raise self.broken(at)
            at = self.skip(at + 1)
        return Element(start=start, key=key, node=self.value(at, depth + 1))


def _refuse(name: str) -> Any:
    """Refuse NaN and Infinity, which only Python's reader takes."""
    raise ValueError(name)
