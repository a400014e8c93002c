"""kill -9 at any moment: nothing acknowledged is lost, and no index needs a repair."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kill_rig import kill_often


@pytest.mark.thorough
def test_what_was_acknowledged_survives_every_kill(tmp_path: Path) -> None:
    """500 of them in .ci/run, 10,000 by `python -m benchmarks.kill_index`."""
    result = kill_often(tmp_path, kills=24, seed=1)

    assert result.problems == []
    assert result.kills == 24
    # Half of what is asked for on average: 1.5 entries a kill.
    assert result.acknowledged > 18
