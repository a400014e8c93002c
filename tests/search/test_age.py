"""Age takes something, and never everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.search.ranking import age_factor

days = st.integers(-100, 40_000)
floors = st.floats(0, 1)
half_lives = st.floats(0.1, 10_000)


@given(day=days, older=st.integers(0, 10_000), floor=floors, half_life=half_lives)
def test_the_older_never_weighs_more(
    day: int, older: int, floor: float, half_life: float
) -> None:
    """And both stay between the floor and 1."""
    young, old = (
        age_factor(one, 30_000, half_life_days=half_life, floor=floor)
        for one in (day, day - older)
    )

    assert floor - 1e-9 <= old <= young + 1e-12 <= 1 + 1e-9


def test_what_has_no_day_does_not_age() -> None:
    """`global.md`, and what is typed as evergreen."""
    assert age_factor(None, 20_000, half_life_days=1, floor=0) == 1


def test_what_is_of_tomorrow_is_of_today() -> None:
    """A clock set wrong, another time zone."""
    assert age_factor(20_005, 20_000, half_life_days=69, floor=0.9) == 1


@pytest.mark.parametrize(("age", "kept"), [(0, 1.0), (69, 0.5), (138, 0.25)])
def test_without_a_floor_it_is_the_plain_formula(age: int, kept: float) -> None:
    """exp(-0.01 * days) at a half-life of 69.3 days."""
    factor = age_factor(20_000 - age, 20_000, half_life_days=69, floor=0)

    assert factor == pytest.approx(kept)
