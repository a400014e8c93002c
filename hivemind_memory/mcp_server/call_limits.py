"""Bounds the threads on which calls run, for each of those who call by itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

import anyio

MAX_CALLS = 16
"""Calls of one project that run at once; its next ones wait."""

_MAX_KNOWN = 64
_Key = TypeVar("_Key", bound=Hashable)


class CallLimits(Generic[_Key]):
    """Returns what bounds the threads of a project, or of another that calls.

    Its calls wait for each other's locks, and for git: with one bound for all, a
    project whose calls hang would leave no thread to the others.
    """

    def __init__(self) -> None:
        """Know of no caller yet."""
        self._limits: OrderedDict[_Key, anyio.CapacityLimiter] = OrderedDict()

    def of(self, key: _Key) -> anyio.CapacityLimiter:
        """Return the bound of one of them."""
        limit = self._limits.get(key)
        if limit is None:
            limit = self._limits[key] = anyio.CapacityLimiter(MAX_CALLS)
        self._limits.move_to_end(key)
        while len(self._limits) > _MAX_KNOWN:
            self._limits.popitem(last=False)
        return limit
