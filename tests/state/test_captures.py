"""How far sessions were captured is kept, and forgotten with a purge."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.state.captures import Captures
from hivemind_memory.state.state_file import StateFile
from tests.support.sandbox import Sandbox


@pytest.fixture
def captures(tmp_path: Path) -> Captures:
    return Captures(StateFile.at(Sandbox(tmp_path / "home").places))


def test_a_session_is_captured_up_to_the_highest_line(captures: Captures) -> None:
    """A job that ends late does not undo what a later one captured."""
    assert captures.line_of("claude", "one") == 0

    captures.keep_line("claude", "one", 40, now_s=1.0)
    captures.keep_line("claude", "one", 12, now_s=2.0)

    assert captures.line_of("claude", "one") == 40
    assert captures.line_of("codex", "one") == 0


def test_a_session_is_reminded_once_and_stays_captured(captures: Captures) -> None:
    captures.keep_line("claude", "one", 40, now_s=1.0)
    assert not captures.is_reminded("claude", "one")

    first = captures.take_reminder("claude", "one", now_s=2.0)
    second = captures.take_reminder("claude", "one", now_s=3.0)

    assert (first, second) == (True, False)
    assert captures.is_reminded("claude", "one")
    assert captures.line_of("claude", "one") == 40


def test_sessions_are_dropped_by_name(captures: Captures) -> None:
    for session in ("one", "two"):
        captures.keep_line("claude", session, 7, now_s=1.0)

    assert captures.count({"one", "three"}) == captures.drop({"one", "three"}) == 1

    assert captures.line_of("claude", "one") == 0
    assert captures.line_of("claude", "two") == 7
