"""The newest events, so that a client that connects again is told what it missed.

Each has a place in the stream. A client knows places by ids that only this process can
read: a number would count what the client may not see.
"""

from __future__ import annotations

import hmac
from collections import deque
from collections.abc import Iterable
from hashlib import sha256
from secrets import token_bytes

from hivemind_memory.model.events import MemoryEvent
from hivemind_memory.model.value import replaced

_BYTES = 8
"""Of each of the three parts of an id: chance, the place, and what proves both."""


class RecentEvents:
    """What was told last, in its order."""

    def __init__(self, most: int) -> None:
        """Keep nothing yet.

        Args:
            most: Events that are kept; the oldest make room.
        """
        self._kept: deque[MemoryEvent] = deque(maxlen=most)
        self._secret = token_bytes(32)
        self.last = 0
        """The place of the newest event."""

    def add(self, events: Iterable[MemoryEvent]) -> list[MemoryEvent]:
        """Keep events; return them with their places."""
        placed = []
        for item in events:
            self.last += 1
            placed.append(replaced(item, place=self.last))
        self._kept += placed
        return placed

    def start_over(self) -> None:
        """Drop all: something happened that is not among them."""
        self._kept.clear()
        self.last += 1

    def after(self, place: int) -> list[MemoryEvent] | None:
        """Return what came after a place; None: it is too old to be known."""
        if not self.last - len(self._kept) <= place <= self.last:
            return None
        return [item for item in self._kept if item.place > place]

    def id_of(self, place: int) -> str:
        """Return an id of a place, another one each time."""
        chance = token_bytes(_BYTES)
        hidden = self._xored(place.to_bytes(_BYTES), chance)
        return (chance + hidden + self._keyed(chance + hidden)).hex()

    def place_of(self, event_id: str) -> int | None:
        """Return the place that an id names; None: this process has not made it."""
        try:
            whole = bytes.fromhex(event_id)
        except ValueError:
            return None
        chance, hidden = whole[:_BYTES], whole[_BYTES : 2 * _BYTES]
        if not hmac.compare_digest(self._keyed(chance + hidden), whole[2 * _BYTES :]):
            return None
        return int.from_bytes(self._xored(hidden, chance))

    def _xored(self, text: bytes, chance: bytes) -> bytes:
        """Return *text* hidden, or shown again."""
        mask = self._keyed(chance)
        return bytes(a ^ b for a, b in zip(text, mask, strict=True))

    def _keyed(self, text: bytes) -> bytes:
        """Return what only this process can make of *text*."""
        return hmac.digest(self._secret, text, sha256)[:_BYTES]
