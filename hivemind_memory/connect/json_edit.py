"""Sets or removes one value in JSON; every other byte stays, comments included.

A new value goes to the end of its container, with the indentation and line endings of
the file, so that removing it restores the bytes from before. Every result is parsed
again: if an edit changed anything else, it is refused. Text in, text out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hivemind_memory.connect.jsonc import BrokenTextError, Dialect, Element, Node, parse

JsonPath = tuple[str | int, ...]
EmptyContainers = Mapping[str, str | None]
"""Pointer of an empty container -> the white space between its brackets; None: the
container did not exist."""

_WHITE = " \t\r\n"


def value_at(text: str, path: JsonPath, dialect: Dialect) -> Any:
    """Return the value at *path*, or None.

    Raises:
        BrokenTextError: See ``parse``.
    """
    node = _node_at(parse(text, dialect), path)
    return None if node is None else node.value()


def emptiness(text: str, path: JsonPath, dialect: Dialect) -> dict[str, str | None]:
    """Return the containers above *path* that are empty or missing."""
    root = parse(text, dialect)
    found: dict[str, str | None] = {}
    for length in range(len(path)):
        node = _node_at(root, path[:length])
        if node is None:
            found[pointer(path[:length])] = None
        elif not node.elements and node.kind != "scalar":
            found[pointer(path[:length])] = text[node.start + 1 : node.stop - 1]
    return found


def put(text: str, path: JsonPath, value: Any, dialect: Dialect) -> str:
    """Return *text* with *value* at *path*, replacing what is there.

    Missing objects on the way are created. The number after the last item of an array,
    or 0 for a missing array, appends.

    Raises:
        BrokenTextError: It is not this dialect, or another value is on the way.
    """
    root = parse(text, dialect)
    node, depth = root, 0
    while depth < len(path) and (element := node.find(path[depth])) is not None:
        node, depth = element.node, depth + 1
    unit = _unit_of(text, root)
    if depth == len(path):
        indent = _line_indent(text, node.start)
        new = (
            text[: node.start] + _render(text, value, unit, indent) + text[node.stop :]
        )
    else:
        wanted = "array" if isinstance(path[depth], int) else "object"
        if node.kind != wanted:
            where = pointer(path[:depth]) or "the top level"
            raise BrokenTextError(f"{where} is not an {wanted}")
        for key in reversed(path[depth + 1 :]):
            value = [value] if isinstance(key, int) else {key: value}
        new = _insert(text, node, path[depth], value, unit)
    if depth == len(path):
        _check(text, new, path, dialect, cut="both")
    else:
        _check(text, new, path, dialect, cut="new")
    return new


def drop(text: str, path: JsonPath, dialect: Dialect, emptied: EmptyContainers) -> str:
    """Return *text* without what is at *path*.

    A container that is then empty becomes what it was before, according to *emptied*.

    Raises:
        BrokenTextError: It is not this dialect, or there is nothing at *path*.
    """
    new, rest = text, path
    while True:
        new = _remove(new, rest, dialect)
        rest = rest[:-1]
        node = _node_at(parse(new, dialect), rest)
        if node is None or node.elements:
            break
        inner = emptied.get(pointer(rest), "")
        if inner is None and rest:
            continue
        if not new[node.start + 1 : node.stop - 1].strip():
            new = new[: node.start + 1] + (inner or "") + new[node.stop - 1 :]
        break
    _check(text, new, path, dialect, cut="old")
    return new


def pointer(path: JsonPath) -> str:
    """Return a path as text.

    >>> pointer(("hooks", "SessionStart"))
    '/hooks/SessionStart'
    """
    return "".join(f"/{key}" for key in path)


def _node_at(root: Node, path: JsonPath) -> Node | None:
    """Return the node at *path*, or None."""
    node = root
    for key in path:
        element = node.find(key)
        if element is None:
            return None
        node = element.node
    return node


def _insert(text: str, node: Node, key: str | int, value: Any, unit: str) -> str:
    """Return *text* with one more element at the end of a container."""
    last = node.elements[-1] if node.elements else None
    newline = _newline_of(text)
    outer = _line_indent(text, node.start)
    indent = outer + unit
    begun = node.start + 1
    if last is not None:
        begun = last.node.stop if last.comma is None else last.comma + 1
        if _starts_line(text, last.start):
            indent = _line_indent(text, last.start)
    inner = text[begun : node.stop - 1]
    at = begun + len(inner.rstrip(_WHITE))
    is_flat = last is not None and "\n" not in text[node.start : node.stop]
    if is_flat:
        indent = outer
    name = "" if isinstance(key, int) else f"{json.dumps(key)}: "
    lead = " " if is_flat else newline + indent
    element = lead + name + _render(text, value, unit, indent)
    if last is None:
        if "\n" not in text[at : node.stop - 1]:
            element += newline + outer
    elif last.comma is None:
        text = text[: last.node.stop] + "," + text[last.node.stop :]
        at += 1
    else:
        element += ","
    return text[:at] + element + text[at:]


def _remove(text: str, path: JsonPath, dialect: Dialect) -> str:
    """Return *text* without one element; its container stays."""
    parent = _node_at(parse(text, dialect), path[:-1])
    element = parent.find(path[-1]) if parent is not None else None
    if parent is None or element is None:
        raise BrokenTextError(f"{pointer(path)} does not exist")
    start = len(text[: element.start].rstrip(_WHITE))
    stop = element.node.stop
    if element.comma is not None:
        between = text[stop : element.comma]
        rest = between.rstrip(_WHITE) + text[element.comma + 1 :]
    else:
        rest = text[stop:]
    previous = _before(parent, element)
    after = parent.start + 1 if previous is None else previous.node.stop
    follows = rest[: len(rest) - len(rest.lstrip(_WHITE))]
    if "//" in text[after:start] and "\n" not in follows:
        start = element.start  # else what follows would end up in a comment
    before = text[:start]
    if element.comma is None and previous is not None and previous.comma is not None:
        before = before[: previous.comma] + before[previous.comma + 1 :]
    return before + rest


def _before(parent: Node, element: Element) -> Element | None:
    """Return the element before another."""
    at = next(n for n, other in enumerate(parent.elements) if other is element)
    return parent.elements[at - 1] if at else None


def _check(old: str, new: str, path: JsonPath, dialect: Dialect, *, cut: str) -> None:
    """Raise unless two texts are equal, apart from what is at *path*."""
    pair = {"old": parse(old, dialect).value(), "new": parse(new, dialect).value()}
    for name, value in pair.items():
        _cut(value, path, has_leaf=cut in (name, "both"))
    if pair["old"] != pair["new"]:
        raise BrokenTextError(f"{pointer(path)} cannot be edited separately")


def _cut(value: Any, path: JsonPath, *, has_leaf: bool) -> None:
    """Remove what is at *path* from a value, and containers that are then empty."""
    key = path[0]
    is_there = isinstance(value, dict) and key in value
    is_there |= isinstance(value, list) and isinstance(key, int) and key < len(value)
    if not is_there:
        return
    if len(path) > 1:
        _cut(value[key], path[1:], has_leaf=has_leaf)
    is_gone = has_leaf if len(path) == 1 else value[key] in ({}, [])
    if is_gone:
        del value[key]


def _render(text: str, value: Any, unit: str, indent: str) -> str:
    """Return a value as JSON, indented like the lines around it."""
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (_newline_of(text) + indent).join(lines)


def _unit_of(text: str, root: Node) -> str:
    """Return the indentation of the root's elements."""
    for element in root.elements:
        if _starts_line(text, element.start) and _line_indent(text, element.start):
            return _line_indent(text, element.start)
    return "  "


def _starts_line(text: str, at: int) -> bool:
    """Return whether only white space precedes an offset in its line."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(_WHITE)


def _line_indent(text: str, at: int) -> str:
    """Return the white space at the beginning of an offset's line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    found = re.match(r"[ \t]*", line)
    return found[0] if found else ""


def _newline_of(text: str) -> str:
    """Return the line ending of a text's first line."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
