"""How often, how long, and at whose request. No test here waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingRefusedError,
)
from hivemind_memory.providers.errors import read_retry_after
from hivemind_memory.providers.retry import retry
from hivemind_memory.providers.retry_policy import RetryPolicy
from tests.providers.conftest import Hours


def failing(hours: Hours, error: Exception, *, took_s: float = 0.0):
    """Return a call that always fails after *took_s*, and the list of its calls."""
    calls: list[float] = []

    def call(left_s: float) -> None:
        calls.append(left_s)
        hours.now_s += took_s
        raise error

    return call, calls


def test_waits_double_with_jitter_until_the_attempts_are_used_up(hours: Hours) -> None:
    """Several processes must not come back at the same moment."""
    retry_policy = RetryPolicy(now=hours.now, sleep=hours.sleep, attempts=5)
    call, calls = failing(hours, EmbeddingError("busy"))

    with pytest.raises(EmbeddingError, match="busy"):
        retry(call, retry_policy)

    assert len(calls) == 5
    for slept, longest in zip(hours.slept, (0.5, 1.0, 2.0, 4.0), strict=True):
        assert 0.25 <= slept <= longest


@given(
    took_s=st.floats(0, 40),
    retry_after_s=st.none() | st.floats(0, 4000),
    attempts=st.integers(1, 8),
)
def test_the_whole_time_is_bounded(
    took_s: float, retry_after_s: float | None, attempts: int
) -> None:
    """Whatever the provider asks for, a batch is over within its bound."""
    hours = Hours()
    retry_policy = RetryPolicy(now=hours.now, sleep=hours.sleep, attempts=attempts)
    error = EmbeddingError("busy", retry_after_s=retry_after_s)
    start_s = hours.now()
    call, calls = failing(hours, error, took_s=took_s)

    with pytest.raises(EmbeddingError):
        retry(call, retry_policy)

    assert len(calls) <= attempts
    assert sum(hours.slept) <= retry_policy.total_s
    # The caller bounds the last attempt by the seconds that are left.
    assert hours.now() - start_s - took_s <= retry_policy.total_s
    assert all(left_s > 0 for left_s in calls)


@pytest.mark.parametrize("kind", [EmbeddingRefusedError, EmbeddingInvalidError])
def test_a_no_is_final(hours: Hours, kind: type[EmbeddingError]) -> None:
    """Asking again changes nothing and costs something."""
    retry_policy = RetryPolicy(now=hours.now, sleep=hours.sleep)
    call, calls = failing(hours, kind("no"))

    with pytest.raises(kind):
        retry(call, retry_policy)

    assert len(calls) == 1


def test_a_programming_error_is_not_tried_again(hours: Hours) -> None:
    """It would fail the same way, and later."""
    retry_policy = RetryPolicy(now=hours.now, sleep=hours.sleep)
    call, calls = failing(hours, KeyError("x"))

    with pytest.raises(KeyError):
        retry(call, retry_policy)

    assert len(calls) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:10 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            10.0,
        ),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:27:00 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            0.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({}, None),
    ],
)
def test_the_delay_that_a_provider_asks_for_is_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    """Seconds, milliseconds or a date by the server's own clock; else there is none."""
    assert read_retry_after(headers) == seconds
