"""A kill loses nothing acknowledged; ``benchmarks/kill_upserts.py`` has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.upsert_kill_rig import kill_upserts


@pytest.mark.thorough
def test_what_is_acknowledged_survives_kills(tmp_path: Path) -> None:
    """Each id has one text, a whole one, whatever moment the process died in."""
    result = kill_upserts(tmp_path, kills=30, seed=7)

    assert result.problems == []
    assert result.kills == 30
    assert result.acknowledged > 10
