"""What age leaves of a strength."""

from __future__ import annotations

from math import exp, log


def age_factor(
    day: int | None, today: int, *, half_life_days: float, floor: float
) -> float:
    """Return the share of its strength that a memory of *day* keeps, in floor..1.

    Exponential decay towards the floor, not to nothing: notes that stay true for
    years must not vanish behind yesterday's.

    Args:
        day: Day of the entry, in days since the epoch; None: it does not age.
        today: The same clock.
        half_life_days: Days after which half of what age may take is gone, above 0.
        floor: The least that is left, 0..1; 0 is plain exponential decay.

    >>> age_factor(0, 69, half_life_days=69, floor=0.9)
    0.95
    """
    if day is None or day >= today:
        return 1.0
    kept = exp(-log(2) * (today - day) / half_life_days)
    return floor + (1 - floor) * kept
