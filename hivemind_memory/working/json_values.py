"""Turns any value into one that JSON takes, so that no block can spoil a context."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from enum import Enum

NOT_JSON = "not_json"
"""Key of an object that stands for a value which JSON cannot hold."""

_MAX_DEPTH = 20


def json_safe(value: object, depth: int = 0) -> object:
    """Return a value as JSON takes it; what it cannot hold is named as such.

    >>> json_safe({1: float("inf"), "a": (1, None)})
    {'1': {'not_json': 'inf'}, 'a': [1, None]}
    """
    if isinstance(value, Enum):
        value = value.value
    is_finite = not isinstance(value, float) or math.isfinite(value)
    if value is None or (isinstance(value, bool | str | int | float) and is_finite):
        return value
    if isinstance(value, date):  # a datetime too
        return value.isoformat()
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        return {str(key): json_safe(item, depth + 1) for key, item in value.items()}
    if depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        items = value if isinstance(value, list | tuple) else sorted(value, key=repr)
        return [json_safe(item, depth + 1) for item in items]
    return {NOT_JSON: repr(value)}
