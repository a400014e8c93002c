"""When a folder counts as quiet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.watch.debounce import Debouncer


def test_nothing_is_due_without_a_hint() -> None:
    """An idle folder costs nothing."""
    debouncer = Debouncer(quiet_s=0.5, max_wait_s=2.0)

    assert debouncer.due_s() is None
    assert not debouncer.take(1e9)


def test_a_hint_is_due_after_the_quiet_time_and_only_once() -> None:
    """A save of several steps is looked at when it is over."""
    debouncer = Debouncer(quiet_s=0.5, max_wait_s=2.0)

    debouncer.add(10.0)
    debouncer.add(10.4)

    assert not debouncer.take(10.8)
    assert debouncer.take(10.9)
    assert not debouncer.take(99.0)


def test_a_folder_that_is_never_quiet_is_looked_at_all_the_same() -> None:
    """A log that somebody appends to must not hide all other notes."""
    debouncer = Debouncer(quiet_s=5, max_wait_s=20)

    taken = []
    for now in range(60):
        debouncer.add(now)
        if debouncer.take(now):
            taken.append(now)

    assert taken == [20, 41]


def test_a_whole_change_after_a_long_calm_hardly_waits() -> None:
    """One save of one note need not wait half a second for a second one."""
    debouncer = Debouncer(quiet_s=0.5, max_wait_s=2.0)

    debouncer.add(10.0, is_complete=True)

    assert debouncer.take(10.05)


def test_after_the_first_change_the_next_ones_wait_for_quiet() -> None:
    """A burst of files costs one scan of its start and few more."""
    debouncer = Debouncer(quiet_s=0.5, max_wait_s=2.0)
    debouncer.add(10.0, is_complete=True)
    debouncer.take(10.05)

    debouncer.add(10.1, is_complete=True)

    assert debouncer.due_s() == 10.6


def test_a_half_done_change_takes_the_haste_away() -> None:
    """Whoever begins to write another note gets the time to finish it."""
    debouncer = Debouncer(quiet_s=0.5, max_wait_s=2.0)
    debouncer.add(10.0, is_complete=True)

    debouncer.add(10.02, is_complete=False)

    assert debouncer.due_s() == 10.52


steps = st.lists(
    st.tuples(
        st.integers(0, 3000),  # milliseconds since the step before
        st.sampled_from(["add", "add whole", "take"]),
    ),
    max_size=60,
)


@given(steps=steps, quiet_ms=st.integers(0, 800))
def test_it_does_what_the_plain_description_says(
    steps: list[tuple[int, str]], quiet_ms: int
) -> None:
    """The model keeps all hints and reads the rules off them; times in ms are exact."""
    quiet, bound = quiet_ms * 10, quiet_ms * 40  # tenths of ms, so a tenth is whole
    debouncer = Debouncer(quiet_s=quiet, max_wait_s=bound)
    waiting: list[tuple[int, bool]] = []
    before_s: float = float("-inf")
    now = 0

    for pause, step in steps:
        now += pause * 10
        if step == "take":
            due = _model_due(waiting, before_s, quiet, bound)
            assert debouncer.take(now) == (due is not None and now >= due)
            if due is not None and now >= due:
                before_s, waiting = waiting[-1][0], []
        else:
            waiting.append((now, step == "add whole"))
            debouncer.add(now, is_complete=step == "add whole")
        assert debouncer.due_s() == _model_due(waiting, before_s, quiet, bound)


def _model_due(
    waiting: list[tuple[int, bool]], before_s: float, quiet: int, bound: int
) -> float | None:
    """Return when *waiting* is due if the newest hint before it came at *before_s*."""
    if not waiting:
        return None
    first, last = waiting[0], waiting[-1]
    is_calm = first[0] - before_s >= bound
    needed = quiet / 10 if is_calm and last[1] else quiet
    return min(last[0] + needed, first[0] + bound)


@given(steps=steps)
def test_no_hint_waits_longer_than_the_bound(steps: list[tuple[int, str]]) -> None:
    """Whatever happens in the folder, an edit is looked at within two seconds."""
    debouncer = Debouncer(quiet_s=0.5, max_wait_s=2.0)
    oldest_s: float | None = None
    now_s = 0.0

    for pause, _ in steps:
        now_s += pause / 1000
        oldest_s = now_s if oldest_s is None else oldest_s
        debouncer.add(now_s)
        due_s = debouncer.due_s()
        assert due_s is not None
        assert due_s <= oldest_s + 2.0
        if debouncer.take(now_s):
            oldest_s = None
