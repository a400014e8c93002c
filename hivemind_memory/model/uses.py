"""Uses of memories: what came of them, and when they are enough for a skill. Pure."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

OUTCOMES = APPLIED, IGNORED, CONTRADICTED, CORRECTED = (
    "applied",
    "ignored",
    "contradicted",
    "corrected",
)
"""What came of a use: the memory was followed and it worked; it did not matter; it
turned out to be wrong; it was right only after a change."""

MIN_DAYS = 2
"""On how many days a memory must have been applied: one lucky day proves little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of a memory. A session counts once for each outcome."""

    ref: str
    """Id of the version that was used."""

    scope: str
    session: str
    """The session, or the day if none is known."""

    outcome: str
    at_s: int
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCounts:
    """How often the version of a memory that is active now was used."""

    applied: int = 0
    days: int = 0
    """On which it was applied."""

    against: int = 0
    """Times it was contradicted or corrected."""

    ignored: int = 0

    def is_enough(self, needed: int) -> bool:
        """Return whether this is success often enough, on different days, unopposed."""
        return self.applied >= needed and self.days >= MIN_DAYS and not self.against


def count_uses(uses: Collection[tuple[str, str]]) -> UseCounts:
    """Return the counts of some uses.

    Args:
        uses: Outcome and local day of each, as ``applied`` and ``2026-11-21``.

    >>> count_uses([("applied", "2026-11-21"), ("applied", "2026-11-22")]).days
    2
    """
    days = [day for outcome, day in uses if outcome == APPLIED]
    outcomes = [outcome for outcome, _ in uses]
    return UseCounts(
        applied=len(days),
        days=len(set(days)),
        against=outcomes.count(CONTRADICTED) + outcomes.count(CORRECTED),
        ignored=outcomes.count(IGNORED),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UseResult:
    """What recording a use did; it is in ``state.db``."""

    id: str
    key: str
    path: str
    outcome: str
    is_new: bool
    """False: the session had recorded it before, and it counts once."""

    counts: UseCounts
    needed: int
    """Sessions after which a skill is offered: the option ``skill_uses``."""

    is_offered: bool = False
    """It can be made a skill now, and is none yet."""

    skill: str = ""
    """Name of the skill that it is; empty: none."""
