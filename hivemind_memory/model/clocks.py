"""The clocks that a memory is given: time, time zone, randomness. Reads none itself."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS_PER_DAY = 86_400


class Clocks:
    """Where the time comes from; tests bring their own."""

    __slots__ = ("local_iso", "local_offset_s", "now", "randomness", "stopwatch")

    def __init__(
        self,
        *,
        now: Callable[[], float],
        stopwatch: Callable[[], float],
        local_iso: Callable[[float], str],
        local_offset_s: Callable[[float], int],
        randomness: Callable[[], bytes],
    ) -> None:
        self.now = now
        """Seconds since the epoch, UTC."""
        self.stopwatch = stopwatch
        """Seconds on a clock that never goes back."""
        self.local_iso = local_iso
        """A moment as ISO 8601 in the user's time zone, with its offset."""
        self.local_offset_s = local_offset_s
        """The offset of the user's time zone at a moment."""
        self.randomness = randomness
        """Ten random bytes."""

    def today(self) -> int:
        """Return the local day, in days since the epoch."""
        now = self.now()
        return int((now + self.local_offset_s(now)) // SECONDS_PER_DAY)
