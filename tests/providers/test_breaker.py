"""When to stop asking, for how long, and how the next process knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.providers.breaker import (
    Breaker,
    BreakerState,
    load_breaker_state,
)


def opened(now_s: float = 100.0) -> Breaker:
    """Return a breaker that three failures opened at *now_s*."""
    breaker = Breaker()
    for _ in range(3):
        breaker.fail(now_s, "Ollama does not answer.")
    return breaker


def test_three_failures_in_a_row_open_it() -> None:
    """Two may be chance, and each costs a person its timeout."""
    breaker = Breaker()

    answers = []
    for _ in range(3):
        answers.append(breaker.may_ask(100))
        breaker.fail(100, "Ollama does not answer.")

    assert answers == [True, True, True]
    assert not breaker.may_ask(100)


def test_an_answer_between_failures_starts_the_count_anew() -> None:
    """Only failures in a row tell that the provider is gone."""
    breaker = Breaker()
    for _ in range(5):
        breaker.fail(100, "x")
        breaker.fail(100, "x")
        breaker.succeed()

    assert breaker.may_ask(100)
    assert breaker.state == BreakerState()


def test_a_refusal_opens_it_at_once() -> None:
    """A wrong key is as wrong at the second question."""
    breaker = Breaker()

    breaker.fail(100, "OpenAI did not accept the key (401).", is_refusal=True)

    assert not breaker.may_ask(101)


def test_after_a_minute_one_may_try_and_a_failure_starts_the_minute_anew() -> None:
    """Half-open: the first who asks finds out for all."""
    breaker = opened(100)

    assert not breaker.may_ask(159.9)
    assert breaker.may_ask(160)
    breaker.fail(160, "still gone")
    assert not breaker.may_ask(219)
    breaker.succeed()
    assert breaker.may_ask(219)


def test_it_says_why_not_and_for_how_long() -> None:
    """The report of a search repeats this sentence."""
    breaker = opened(100)

    assert breaker.why_not(112.4) == (
        "Ollama does not answer; it is tried again in 48 s."
    )
    assert breaker.why_not(160) == ""
    assert Breaker().why_not(100) == ""


def test_a_clock_that_was_set_back_does_not_lock_it() -> None:
    """Times are of the wall, for they outlive the process."""
    assert opened(2_000_000_000).may_ask(1_000_000_000)


@given(
    failures=st.integers(0, 10**6),
    opened_at_s=st.none() | st.floats(0, 1e11),
    reason=st.text(),
)
def test_the_next_process_knows_the_same(
    failures: int, opened_at_s: float | None, reason: str
) -> None:
    """`hm search` is a new process each time; it must not wait again each time."""
    state = BreakerState(failures=failures, opened_at_s=opened_at_s, reason=reason)

    line = state.dump()
    loaded = load_breaker_state(line)

    assert "\n" not in line
    assert (loaded.failures, loaded.opened_at_s) == (failures, opened_at_s)
    assert loaded.dump() == line


@given(st.text())
def test_any_text_is_a_state(text: str) -> None:
    """A damaged or future line must not stop a search."""
    Breaker(load_breaker_state(text)).may_ask(0)


@pytest.mark.parametrize(
    "line", ["", "1", "1 x - y", "1 3 nan y", "1 -1 - y", "9 3 1 y"]
)
def test_a_line_that_says_nothing_is_a_closed_breaker(line: str) -> None:
    """In doubt, ask."""
    assert load_breaker_state(line) == BreakerState()
