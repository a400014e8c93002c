"""Retries requests that may succeed later. The only module that imports tenacity.

Waits start at half a second and double, with jitter, so that several processes do not
retry at the same moment; a provider that names a time gets that time. The number of
attempts and the total time are bounded.
"""

from __future__ import annotations

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    wait_random_exponential,
)
from tenacity.wait import wait_base

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingRefusedError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from hivemind_memory.providers.retry_policy import RetryPolicy

    T = TypeVar("T")


def retry(call: Callable[[float], T], retry_policy: RetryPolicy) -> T:
    """Return what *call* returns, asking again while that may help.

    Args:
        call: Gets the seconds that are left.
        retry_policy: The bounds.

    Raises:
        EmbeddingError: The last failure, if all attempts failed; a refusal or an
            invalid answer at once.
    """
    start_s = retry_policy.now()

    def left_s() -> float:
        return retry_policy.total_s - (retry_policy.now() - start_s)

    def should_stop(state: RetryCallState) -> bool:
        is_last = state.attempt_number >= retry_policy.attempts
        return is_last or state.upcoming_sleep >= left_s()

    retrying = Retrying(
        sleep=retry_policy.sleep,
        stop=should_stop,
        wait=_Wait(retry_policy),
        retry=retry_if_exception(_may_pass),
        reraise=True,
    )
    return retrying(lambda: call(left_s()))


class _Wait(wait_base):
    """The seconds before the next attempt: as the provider asks, else doubling."""

    def __init__(self, retry_policy: RetryPolicy) -> None:
        first_s = retry_policy.first_wait_s
        # Anything up to the doubled wait ("full jitter"), yet never nothing.
        self._doubling = wait_random_exponential(
            multiplier=first_s, max=retry_policy.longest_wait_s
        )
        self._least_s = first_s / 2

    def __call__(self, retry_state: RetryCallState) -> float:
        outcome = retry_state.outcome
        error = outcome.exception() if outcome is not None else None
        wait_s = max(self._least_s, self._doubling(retry_state))
        if isinstance(error, EmbeddingError) and error.retry_after_s is not None:
            # A little more than asked for: at that very moment all others ask too.
            return error.retry_after_s + min(wait_s, 1.0)
        return wait_s


def _may_pass(error: BaseException) -> bool:
    """Whether asking again may help."""
    is_final = isinstance(error, EmbeddingRefusedError | EmbeddingInvalidError)
    return isinstance(error, EmbeddingError) and not is_final
