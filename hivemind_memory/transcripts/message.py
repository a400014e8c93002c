"""What a reader makes of a record of a transcript, and what it remembers between them.

A reader is a function that takes one record and the ``FileState`` and yields messages.
Records that it does not know it passes over: agents add new ones every week.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

USER, ASSISTANT, TOOL = "user", "assistant", "tool"

Record = dict[str, Any]

OWN_TOOLS = (
    *("memory_search", "memory_write", "memory_get", "memory_list", "memory_save"),
    *("memory_forget", "memory_link", "memory_history", "memory_learn"),
    *("session_search", "context_build", "get_memory_bulletin", "memory_record_use"),
)
"""Tools of our own server: what they answer is kept already, and is not kept twice."""

_MAX_IDS = 64
"""Calls that are remembered: their results follow soon."""


class Message(NamedTuple):
    """One message, as the transcript has it."""

    role: str
    """``user``, ``assistant`` or ``tool``."""

    text: str
    tool: str = ""
    """Name of the tool that is called."""


@dataclass(slots=True)
class FileState:
    """What a reader knows of a file so far; kept between two readings."""

    session: str = ""
    folder: str = ""
    """Where the session began; an agent may change its folder later."""

    at_s: float = 0.0
    """Time of the last record, in seconds since the epoch."""

    own_calls: list[str] = field(default_factory=list)
    """Ids of the last calls of our own tools."""

    seen: list[str] = field(default_factory=list)
    """Ids of the last messages and calls, for agents that write them twice."""

    def as_json(self) -> str:
        """Return the state as JSON."""
        rows = [self.session, self.folder, self.at_s, self.own_calls, self.seen]
        return json.dumps(rows)

    @classmethod
    def from_json(cls, text: str) -> FileState:
        """Return the state from JSON; a new one from an empty text."""
        return cls(*json.loads(text)) if text else cls()

    def note(self, session: object, folder: object, timestamp: object) -> None:
        """Remember what a record says of its session; what it does not say stays."""
        if not self.session and isinstance(session, str):
            self.session = session
        if not self.folder and isinstance(folder, str):
            self.folder = folder
        if isinstance(timestamp, str):
            try:
                self.at_s = datetime.fromisoformat(timestamp).timestamp()
            except (ValueError, OverflowError, OSError):
                return

    def is_new(self, record_id: object) -> bool:
        """Return whether an id was not seen lately, and remember it."""
        if not isinstance(record_id, str) or not record_id:
            return True
        if record_id in self.seen:
            return False
        self.seen = [*self.seen[1 - _MAX_IDS :], record_id]
        return True

    def call(
        self, name: object, call_id: object, arguments: object
    ) -> Iterator[Message]:
        """Yield the message of a call; none for one of our own tools."""
        if not isinstance(name, str):
            return
        if name.endswith(OWN_TOOLS):
            self.own_calls = [*self.own_calls[1 - _MAX_IDS :], str(call_id)]
            return
        said = arguments if isinstance(arguments, str) else _json_text(arguments)
        yield Message(TOOL, f"{name} {_unescaped(said)}", name)

    def result(self, call_id: object, text: str) -> Iterator[Message]:
        """Yield the message of a result; none for one of our own tools."""
        if text and str(call_id) not in self.own_calls:
            yield Message(TOOL, text)


def objects_in(value: object) -> Iterator[Record]:
    """Yield the objects of a list; nothing of anything else."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def text_in(value: object) -> str:
    """Return the text of a content: a text, or a list of objects with texts."""
    if isinstance(value, str):
        return value
    parts = (part.get("text") for part in objects_in(value))
    return "\n".join(part for part in parts if isinstance(part, str))


def _json_text(value: object) -> str:
    """Return arguments as one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _unescaped(text: str) -> str:
    r"""Return JSON as it reads best: a line end and a quote are found as such.

    >>> _unescaped('{"cmd":"echo \\"a\\"\\nls"}')
    '{"cmd":"echo "a"\nls"}'
    """
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
