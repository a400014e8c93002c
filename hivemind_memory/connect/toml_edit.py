"""Adds one table to the end of a TOML file, or removes it; every other byte stays.

Edits by lines: a table begins with its header and ends before the next one. Every
result is parsed again, and a file in which the table has another form is refused.
docs/decisions/019-toml.md says why no library does this. Text in, text out.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hivemind_memory.connect.jsonc import BrokenTextError
from hivemind_memory.patterns.lazy_pattern import lazy_re

_HEADER = lazy_re(r"^[ \t]*\[.*\][ \t]*(?:#.*)?$")
_BARE = lazy_re(r"[A-Za-z0-9_-]+")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a file.

    Raises:
        BrokenTextError: It is not TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BrokenTextError(f"it is not TOML: {error}") from None


def put_table(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """Return *text* with *table* at *path*, replacing what is there.

    Raises:
        BrokenTextError: It is not TOML, or cannot be edited by lines.
    """
    before = parse_toml(text)
    span = _find(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(path)}]"]
    lines += [f"{_key(key)} = {_render(value)}" for key, value in table.items()]
    block = newline.join(lines)
    if span is not None:
        new = text[: span[0]] + block + text[span[1] :]
    elif not text or text.endswith("\n"):
        new = text + (newline if text else "") + block + newline
    else:  # then it has no last newline afterwards either
        new = text + newline * 2 + block
    _check(before, new, path, dict(table))
    return new


def drop_table(text: str, path: Sequence[str]) -> str:
    """Return *text* without the table at *path*.

    Raises:
        BrokenTextError: It is not TOML, or cannot be edited by lines.
    """
    before = parse_toml(text)
    span = _find(text, path)
    new = text
    if span is not None:
        start, stop = span
        head = text[:start]
        newline = "\r\n" if head.endswith("\r\n") else "\n"
        if stop == len(text) and head.endswith(newline * 2):
            head = head.removesuffix(newline * 2)  # the file had no last newline
        else:
            stop += len(newline) if text.startswith(newline, stop) else 0
            if head.endswith(newline * 2):
                head = head.removesuffix(newline)
            elif not head and text.startswith(newline, stop):
                stop += len(newline)
        new = head + text[stop:]
    _check(before, new, path, None)
    return new


def _find(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Return the span of a table and its subtables, without the last newline."""
    start = stop = None
    offset = 0
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line.rstrip("\r\n")):
            is_ours = _header(line)[: len(path)] == list(path)
            if start is None and is_ours:
                start = offset
            elif start is not None and not is_ours:
                break
        bare = line.strip()
        # A comment after it belongs to what follows, unless the table goes on.
        if start is not None and bare and not bare.startswith("#"):
            stop = offset + len(line.rstrip("\r\n"))
        offset += len(line)
    return None if start is None or stop is None else (start, stop)


def _header(line: str) -> list[str]:
    """Return the names in a header; none if it is not a header."""
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return []
    names = []
    while isinstance(value, dict) and value:
        names += list(value)[:1]
        value = value[names[-1]]
    return names


def _check(
    before: dict[str, Any], new: str, path: Sequence[str], table: object
) -> None:
    """Raise unless *new* equals the text before, with *table* at *path*."""
    after = parse_toml(new)
    found = _pop(after, path)
    _pop(before, path)
    if not (_is_same(found, table) and _is_same(before, after)):
        raise BrokenTextError(f"[{'.'.join(path)}] cannot be edited separately")


def _is_same(value: object, other: object) -> bool:
    """Return whether two values are equal, even with a ``nan``, which equals none."""
    return value == other or repr(value) == repr(other)


def _pop(value: dict[str, Any], path: Sequence[str]) -> object:
    """Remove what is at *path*, with the tables that are then empty."""
    first, rest = path[0], path[1:]
    if first not in value:
        return None
    if not rest:
        return value.pop(first)
    found = _pop(value[first], rest) if isinstance(value[first], dict) else None
    if value[first] == {}:
        del value[first]
    return found


def _key(key: str) -> str:
    """Return a key as TOML."""
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _render(value: object) -> str:
    """Return a value as TOML on one line.

    >>> _render({"HIVEMIND_HOME": "/home/you/hive"})
    '{ HIVEMIND_HOME = "/home/you/hive" }'
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(
            f"{_key(key)} = {_render(item)}" for key, item in value.items()
        )
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_render, value))}]"
    if isinstance(value, str):
        # A JSON string is a TOML string, except for this character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return str(value)  # a date
