"""How often and how long a provider is asked again; ``retry`` does it."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often, how long, and by which clock."""

    now: Callable[[], float]
    """Seconds on a clock that never goes back."""

    sleep: Callable[[float], None]
    """Waits for so many seconds."""

    attempts: int = 5
    total_s: float = 90.0
    """Seconds for all attempts and the waits between them."""

    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0
