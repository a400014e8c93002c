"""Twelve processes on one memory: nobody is told to wait, nothing is lost."""

from __future__ import annotations

from pathlib import Path

from tests.support.processes import Plan, work_together
from tests.support.sandbox import House


def test_twelve_processes_and_an_editor_lose_nothing(tmp_path: Path) -> None:
    """And none of them ever hears of a lock; longer in benchmarks/many_processes.py."""
    outcome = work_together(House(tmp_path / "home"), Plan(seconds=3), seed=1)

    assert outcome.problems == []
    assert len(outcome.written) > 10
    assert len(outcome.search_ms) > 20
    assert outcome.saves > 2


def test_rebuilds_under_everybodys_eyes_disturb_nobody(tmp_path: Path) -> None:
    """The index is another one from one moment to the next."""
    plan = Plan(seconds=2, processes=4, editors=0, rebuilders=1)

    outcome = work_together(House(tmp_path / "home"), plan, seed=2)

    assert outcome.problems == []
    assert len(outcome.written) > 10
