"""What is captured of a session: its lines, and what the model proposes to remember."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hivemind_memory.model.value import value


class SessionLine(NamedTuple):
    """One message of a session, without secrets and injected sections."""

    number: int
    """Of the line in the transcript, from 1; in a database, of the message in its
    session. Several messages may have one."""

    role: str
    """``user``, ``assistant`` or ``tool``."""

    text: str


@value
class SessionTranscript:
    """What was said in a session after some line."""

    agent: str
    session: str
    folder: str
    """Where the session began; empty: the transcript does not say."""

    scope: str
    """Of the folder's project; empty: it is not known, as of a folder that is gone."""

    last_line: int
    """Up to which the transcript was read."""

    lines: tuple[SessionLine, ...] = ()
    tool_texts: tuple[str, ...] = ()
    """Parts of what tools put out in the whole session, uncut. They are sent nowhere: a
    proposal is compared with them."""

    began_at_s: float = 0.0
    """When the first message was written, in seconds since the epoch; 0: unknown."""


@value
class Proposal:
    """A memory that the model proposes, and where in the transcript it rests."""

    key: str
    content: str
    type: str
    confidence: float
    """How sure the model is, 0..1."""

    start_line: int
    end_line: int
    is_global: bool = False
    """The model takes it for something that is not about the project."""


PROPOSED, SAVED, DROPPED = "proposed", "saved", "dropped"


@dataclass(frozen=True, slots=True)
class CapturedMemory:
    """What became of a proposal."""

    proposal: Proposal
    outcome: str
    """proposed: it waits in the inbox; saved; dropped."""

    why: str = ""
    """Why it was dropped, or is not saved at once."""

    path: str = ""
    id: str = ""


@value
class CaptureResult:
    """What one capture of a session did."""

    agent: str
    session: str
    scope: str
    lines_read: int = 0
    """Lines of the transcript that were new."""

    requests: int = 0
    memories: tuple[CapturedMemory, ...] = ()
    why: str = ""
    """Why nothing was asked; empty: the model was."""

    def count(self, outcome: str) -> int:
        """Return how many proposals had an outcome."""
        return sum(memory.outcome == outcome for memory in self.memories)
