"""Cuts what was said in a session into parts that a language model is given. Pure."""

from __future__ import annotations

from hivemind_memory.transcripts.message import TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.capture import SessionLine

WINDOW_CHARS = 24_000
"""Characters of a session that one request holds: 7,000 tokens of prose and code, and
11,000 of JSON full of ids."""

MAX_WINDOWS = 3
"""Requests about one capture. Of a longer session, the newest part is read."""

SAID_CHARS = 4_000
TOOL_CHARS = 600
"""The most that is sent of what was said, and of a call or its result."""

_LINE_CHARS = 40
"""What one line costs beside its text."""


def windows_of(lines: Sequence[SessionLine]) -> list[list[SessionLine]]:
    """Return the windows of a session, the newest first; lines stay in their order.

    What is older than the last window is left out.
    """
    windows: list[list[SessionLine]] = []
    window: list[SessionLine] = []
    size = 0
    for line in reversed(lines):
        shown = line._replace(text=shown_text(line))
        cost = len(shown.text) + _LINE_CHARS
        if window and size + cost > WINDOW_CHARS:
            windows.append(window[::-1])
            window, size = [], 0
            if len(windows) == MAX_WINDOWS:
                return windows
        window.append(shown)
        size += cost
    if window:
        windows.append(window[::-1])
    return windows


def shown_text(line: SessionLine) -> str:
    """Return what is sent of a line."""
    limit = TOOL_CHARS if line.role == TOOL else SAID_CHARS
    return line.text if len(line.text) <= limit else f"{line.text[:limit].rstrip()}…"
