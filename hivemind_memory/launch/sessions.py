"""A session of ours, as tmux tells about it.

What we must know is kept in options of the agent's own pane, so a session needs no
file, and one that ends leaves nothing behind. Paths stand there percent-encoded: tmux
splits its answers by lines, and a folder may hold a line break.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT, WORKTREE = "@hivemind_agent", "@hivemind_worktree"
_FIELDS = (
    WORKTREE,
    AGENT,
    "pane_id",
    "session_name",
    "session_created",
    "session_attached",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
)
FORMAT = "\t".join(f"#{{{field}}}" for field in _FIELDS)
"""What ``list-panes`` is asked for; a tab comes through every version of tmux as it is,
and other control characters do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One agent in one worktree."""

    pane: str
    """tmux's own name for where the agent is, ``%7``; no server uses one twice."""

    name: str
    agent: str
    worktree: str
    started_s: int
    """Seconds since 1970."""

    is_attached: bool
    pid: int
    is_ended: bool
    """The agent ended, and its last lines can still be seen."""

    exit_code: int | None
    """As a shell counts it, 128 + the signal included; None while it is not known."""


def tag(text: str) -> str:
    """Return *text* as it stands in an option.

    >>> tag("/code/my shop"), tag("a%b")
    ('/code/my shop', 'a%25b')
    """
    return quote(os.fsencode(text), safe="/ ~+=@,()[]!&;'")


def sessions_of(printed: bytes) -> Iterator[Session]:
    """Yield the sessions in what ``list-panes -a -F FORMAT`` printed."""
    for line in printed.decode("utf-8", "replace").split("\n"):
        fields = line.split("\t")
        if len(fields) != len(_FIELDS) or not fields[0]:
            continue  # a pane of somebody else's
        worktree, agent, pane, name, created, attached, pid, *death = fields
        is_ended = death[0] == "1"
        yield Session(
            pane=pane,
            name=name,
            agent=_untag(agent),
            worktree=_untag(worktree),
            started_s=_number(created),
            is_attached=_number(attached) > 0,
            pid=_number(pid),
            is_ended=is_ended,
            exit_code=_exit_code(*death[1:]) if is_ended else None,
        )


def _untag(text: str) -> str:
    """Undo ``tag``."""
    return os.fsdecode(unquote_to_bytes(text))


def _number(text: str) -> int:
    """Return a whole number; 0 where tmux says nothing."""
    return int(text) if text.isdecimal() else 0


def _exit_code(status: str, signal: str) -> int | None:
    """Return how an agent ended; tmux knows it a little later than that it did."""
    if signal:
        return 128 + _number(signal)
    return _number(status) if status else None
