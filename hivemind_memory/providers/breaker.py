"""Stops asking a provider that does not answer, so that no search waits for it.

Pure: the caller passes the time, and stores the state where other processes find it.
The breaker opens for a minute after three failures in a row or one refusal. After that
minute the next request decides: a success closes it, a failure opens it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan

from hivemind_memory.model.value import replaced

FAILURES_TO_OPEN = 3
OPEN_S = 60.0
_REASON_CHARS = 300
_VERSION = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerState:
    """The state of a breaker, as processes pass it on."""

    failures: int = 0
    """Failures in a row."""

    opened_at_s: float | None = None
    """Seconds since the epoch when it was last opened; None: it is closed."""

    reason: str = ""
    """The last failure, in one sentence."""

    def dump(self) -> str:
        """Return the state as one line of text, for ``load_breaker_state``."""
        opened = "-" if self.opened_at_s is None else repr(self.opened_at_s)
        reason = " ".join(self.reason.split())[:_REASON_CHARS]
        return f"{_VERSION} {self.failures} {opened} {reason}"


def load_breaker_state(text: str) -> BreakerState:
    """Return the state that *text* describes; a fresh one if it describes none."""
    parts = text.split(" ", 3)
    if len(parts) != 4 or parts[0] != _VERSION:
        return BreakerState()
    try:
        failures = int(parts[1])
        opened = None if parts[2] == "-" else float(parts[2])
    except ValueError:
        return BreakerState()
    if failures < 0 or (opened is not None and isnan(opened)):
        return BreakerState()
    return BreakerState(failures=failures, opened_at_s=opened, reason=parts[3])


@dataclass(slots=True)
class Breaker:
    """A circuit breaker: it decides whether the provider may be asked now.

    Holds no thread and reads no clock; the caller passes seconds since the epoch.
    """

    state: BreakerState = field(default_factory=BreakerState)

    def may_ask(self, now_s: float) -> bool:
        """Whether to ask: it is closed, or has been open for a minute."""
        return self.wait_s(now_s) <= 0

    def why_not(self, now_s: float) -> str:
        """Return why not to ask, and for how long; empty if it may be asked."""
        wait_s = self.wait_s(now_s)
        if wait_s <= 0:
            return ""
        reason = self.state.reason.rstrip(". ") or "The provider does not answer"
        return f"{reason}; it is tried again in {max(1, round(wait_s))} s."

    def half_open(self) -> None:
        """Let the next request decide, as if the minute were over."""
        self.state = replaced(self.state, opened_at_s=None)

    def succeed(self) -> None:
        """The provider answered."""
        self.state = BreakerState()

    def fail(self, now_s: float, reason: str, *, is_refusal: bool = False) -> None:
        """The provider did not answer, or (*is_refusal*) refused."""
        failures = self.state.failures + 1
        should_open = is_refusal or failures >= FAILURES_TO_OPEN
        opened_at_s = now_s if should_open else self.state.opened_at_s
        self.state = BreakerState(
            failures=failures, opened_at_s=opened_at_s, reason=reason
        )

    def wait_s(self, now_s: float) -> float:
        """Return how many more seconds the breaker is open; 0 or less: it is not."""
        opened_at_s = self.state.opened_at_s
        # Opened in the future: the clock was set back, perhaps by years.
        if opened_at_s is None or now_s < opened_at_s:
            return 0.0
        return opened_at_s + OPEN_S - now_s
