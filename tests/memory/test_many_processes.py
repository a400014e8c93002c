"""Twelve processes on one memory: nobody is told to wait, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes import Plan, work_together
from tests.support.sandbox import Sandbox


@pytest.mark.thorough
def test_twelve_processes_and_an_editor_lose_nothing(tmp_path: Path) -> None:
    """None of them hears of a lock, and each finishes its share: nobody starves.

    How long that takes, ``benchmarks/many_processes.py`` tells.
    """
    outcome = work_together(Sandbox(tmp_path / "home"), Plan(share=9), seed=1)

    assert outcome.problems == []
    assert len(outcome.shares) == 12
    assert all(min(done) >= 9 for done in outcome.shares)
    assert outcome.saves >= 9


def test_rebuilds_under_everybodys_eyes_disturb_nobody(tmp_path: Path) -> None:
    """The index is another one from one moment to the next."""
    plan = Plan(share=9, processes=4, editors=0, rebuilders=1)

    outcome = work_together(Sandbox(tmp_path / "home"), plan, seed=2)

    assert outcome.problems == []
    assert len(outcome.shares) == 4
    assert all(min(done) >= 9 for done in outcome.shares)
