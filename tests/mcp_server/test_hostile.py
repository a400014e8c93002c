"""A bounded run of the hostile frames; the long one is `benchmarks/mcp_frames.py`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.mcp_frames import run_frames
from tests.mcp_server.agents import COMMAND, environ


def test_hostile_frames_are_survived_and_answered(home: Path) -> None:
    """The server survives, prints no stray byte and answers every readable id."""
    told = run_frames(COMMAND, environ(), frames=200, seed=7)

    assert told.is_alive
    assert told.stray_lines == 0
    assert told.unanswered == ()
    assert told.answered > 100
    assert told.wrong == ()
