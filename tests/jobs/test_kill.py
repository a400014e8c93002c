"""A job is run at most once; ``benchmarks/kill_jobs.py`` has more kills."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.job_kill_rig import kill_leaders


@pytest.mark.thorough
def test_the_model_is_asked_at_most_once_whoever_is_killed(tmp_path: Path) -> None:
    result = kill_leaders(tmp_path, kills=30, seed=11)

    assert result.problems == []
    assert result.kills == 30
    assert result.asked.total() > 5
    assert result.briefings > 0
    assert result.captures > 0


def test_merged_memories_are_never_both_gone_whoever_is_killed(tmp_path: Path) -> None:
    """How many are merged before a kill depends on the machine; the benchmark says."""
    result = kill_leaders(tmp_path, kills=20, seed=5, merge_share=1.0)

    assert result.problems == []
    assert result.kills == 20
    assert result.saved > 0
