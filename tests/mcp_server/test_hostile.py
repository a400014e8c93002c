"""A bounded run of the hostile frames; the long one is `benchmarks/mcp_frames.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mcp_frames import run_frames
from tests.mcp_server.agents import COMMAND, environ
from tests.support.tiers import examples


@pytest.mark.sampled
def test_two_thousand_hostile_frames_are_survived_and_answered(home: Path) -> None:
    """The server survives, prints no stray byte and answers every readable id."""
    frames = examples(2000)
    told = run_frames(COMMAND, environ(), frames=frames, seed=7)

    assert told.is_alive
    assert told.stray_lines == 0
    assert told.unanswered == ()
    assert told.answered > frames / 2
    assert told.wrong == ()
