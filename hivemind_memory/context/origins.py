"""Says where texts of notes come from: from outside, or from an agent's session."""

from __future__ import annotations

from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.markdown.entry import OPENING, parse_provenance
from hivemind_memory.memory.read import read_provenance
from hivemind_memory.model.trust import is_trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.injection import Excerpt
    from hivemind_memory.model.note import Provenance

AGENT = "agent"
"""The source of what an agent wrote."""

UNNAMED = "without a name"
"""Stands for an agent that gave no name."""


class Origins:
    """Finds out whether a text is external; reads each note once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._notes: dict[str, tuple[list[str], dict[str, object]]] = {}

    def is_external(self, excerpt: Excerpt) -> bool:
        """Return whether the entry or the note of a text names a source outside."""
        origin = self.entry_at(excerpt.path, excerpt.start_line)
        is_external = not is_trusted(self._notes[excerpt.path][1].get("source"))
        return is_external or (origin is not None and not is_trusted(origin.source))

    def session_of(self, excerpt: Excerpt) -> str:
        """Return the agent's session that wrote a text; empty: none did."""
        return session_of(self.entry_at(excerpt.path, excerpt.start_line))

    def agent_of(self, excerpt: Excerpt) -> str:
        """Return the agent that wrote a text; empty: none did, or nothing says so."""
        origin = self.entry_at(excerpt.path, excerpt.start_line)
        if origin is not None:
            return agent_of(origin)
        front = self._notes[excerpt.path][1]
        return str(front.get("by") or UNNAMED) if front.get("source") == AGENT else ""

    def entry_at(self, path: str, start_line: int) -> Provenance | None:
        """Return the provenance of the entry that a text is in, if it is in one.

        Args:
            path: The note.
            start_line: The first line of the text.
        """
        if path not in self._notes:
            self._notes[path] = self._read(path)
        # An entry reaches to the next one, so the nearest comment above decides.
        for line in reversed(self._notes[path][0][:start_line]):
            if line.startswith(OPENING) and (origin := parse_provenance(line)):
                return origin
        return None

    def _read(self, path: str) -> tuple[list[str], dict[str, object]]:
        """Return a note's comments, and its front matter."""
        try:
            return read_provenance(self._memory.folder, path, self._memory.caller)
        except (NoteNotFoundError, NoteUnreadableError):
            return [], {}


def session_of(origin: Provenance | None) -> str:
    """Return the agent's session that wrote an entry; empty: none did."""
    return origin.session if origin and origin.source == AGENT else ""


def agent_of(origin: Provenance | None) -> str:
    """Return the agent that wrote an entry; empty: none did."""
    return (origin.by or UNNAMED) if origin and origin.source == AGENT else ""
