"""The blocks of working memory: what a program may put before a model, as values.

A block of kind ``rom`` is a file that is always shown. Each block is checked when it is
made; a block that exists is valid. The text of files, messages and knowledge is not in
the block but is loaded when it is selected, see ``loading``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from hashlib import blake2b
from typing import Any

from hivemind_memory.errors import UsageError
from hivemind_memory.working.block_fields import (
    FrozenDict,
    check_lines,
    check_moment,
    check_share,
    check_text,
    check_types,
    texts_of,
)

PREVIEW_CHARS = 100
"""Most characters of a message that its block holds."""


class Priority(Enum):
    """How much of the budget a block may reach into."""

    CRITICAL = 1
    """Always included, whatever the budget is."""

    HIGH = 2
    """Included as long as it fits into 80 % of the budget."""

    MEDIUM = 3
    """Included as long as it fits into 90 % of the budget."""

    LOW = 4
    """Included as long as it fits into 95 % of the budget."""


class MemoryType(Enum):
    """The kinds of blocks."""

    ROM = "rom"
    FILE = "file"
    STATUS = "status"
    TASK = "task"
    MESSAGE = "message"
    KNOWLEDGE = "knowledge"
    HISTORY = "history"
    CONTEXT = "context"


def utc_now() -> datetime:
    """Return the time of a block that is made without one."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBlock:
    """What all blocks have. Make one of the classes below."""

    id: str = ""
    """Names the block in a working memory; empty: made from its kind and place. A block
    with the id of an earlier one replaces it."""

    type: MemoryType = MemoryType.CONTEXT
    confidence: float = 1.0
    """How sure its author is that it matters, 0..1."""

    priority: Priority | None = None
    """None: that of its kind. Never None in a block that has been made."""

    timestamp: datetime = field(default_factory=utc_now)
    """When its content was true; with a time zone."""

    expiry: datetime | None = None
    """When it expires, and a janitor removes it; None: never."""

    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Anything else that the context should say of it; it does not change."""

    def __post_init__(self) -> None:
        """Check the fields, and fill in what follows from the kind."""
        if type(self) is MemoryBlock:
            raise UsageError(
                "MemoryBlock has no content. Make a block of one of its subclasses."
            )
        check_types(self)
        check_share("confidence", self.confidence)
        for name in ("timestamp", "expiry"):
            moment = getattr(self, name)
            if moment is not None:
                check_moment(name, moment)
        if not isinstance(self.metadata, Mapping):
            raise UsageError(f"metadata must be a mapping, not {self.metadata!r}.")
        self._set("metadata", FrozenDict(self.metadata))
        self._check_kind()
        if self.priority is None:
            self._set("priority", self._usual_priority())
        elif not isinstance(self.priority, Priority):
            raise UsageError(f"priority must be a Priority, not {self.priority!r}.")
        if not self.id:
            self._set("id", self.usual_id())

    def usual_id(self) -> str:
        """Return the id that follows from its kind and place."""
        return f"{self.type.value}:{self._place()}"

    @property
    def rank(self) -> Priority:
        """The priority, which every block that has been made has."""
        return self.priority or Priority.MEDIUM

    def _place(self) -> str:
        """Return what distinguishes it from other blocks of its kind."""
        return ""

    def _usual_priority(self) -> Priority:
        """Return the priority of its kind."""
        return Priority.MEDIUM

    def _check_kind(self) -> None:
        """Check the fields of its kind."""

    def _set(self, name: str, value: object) -> None:
        """Fill in a field while the block is made."""
        object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMemoryBlock(MemoryBlock):
    """A file below the root, or some lines of it."""

    type: MemoryType = MemoryType.FILE
    """``FILE``, or ``ROM``: critical unless it says otherwise."""

    location: str
    """Path below the root, or an absolute one that leads there."""

    start_line: int | None = None
    """Number of the first line, from 1; None: from the beginning."""

    end_line: int | None = None
    """Number of the last line, itself included; None: to the end."""

    digest: str | None = None
    """Of the bytes of the file when the block was made; None: unknown."""

    def _check_kind(self) -> None:
        check_text("location", self.location)
        if self.type not in (MemoryType.FILE, MemoryType.ROM):
            message = (
                f"The type of a file block must be FILE or ROM, not {self.type!r}."
            )
            raise UsageError(message)
        check_lines(self.start_line, self.end_line)

    def _place(self) -> str:
        if self.start_line is None and self.end_line is None:
            return self.location
        end = "" if self.end_line is None else self.end_line
        return f"{self.location}:{self.start_line or 1}-{end}"

    def _usual_priority(self) -> Priority:
        is_rom = self.type is MemoryType.ROM
        return Priority.CRITICAL if is_rom else Priority.MEDIUM


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusMemoryBlock(MemoryBlock):
    """The state of a part of the system."""

    type: MemoryType = MemoryType.STATUS
    status_type: str
    """Which part: the mailbox, the queue of tasks, the health of the system."""

    value: Any = field(hash=False)
    """Anything; what JSON cannot hold is named as such where it is written."""

    def _check_kind(self) -> None:
        _check_own_type(self, MemoryType.STATUS)
        check_text("status_type", self.status_type)

    def _place(self) -> str:
        return self.status_type

    def _usual_priority(self) -> Priority:
        return Priority.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMemoryBlock(MemoryBlock):
    """A task that the program works on, or will."""

    type: MemoryType = MemoryType.TASK
    task_id: str
    description: str
    project: str | None = None
    dependencies: tuple[str, ...] = ()
    """Ids of tasks, none twice."""

    status: str = "pending"

    def _check_kind(self) -> None:
        _check_own_type(self, MemoryType.TASK)
        check_text("task_id", self.task_id)
        names = texts_of("dependencies", self.dependencies)
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(
                f"dependencies lists {twice!r} twice. List each task once."
            )
        self._set("dependencies", names)

    def _place(self) -> str:
        return self.task_id

    def _usual_priority(self) -> Priority:
        return Priority.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageMemoryBlock(MemoryBlock):
    """A message between agents; its text is in a file."""

    type: MemoryType = MemoryType.MESSAGE
    from_agent: str
    to_agent: str
    subject: str
    preview: str = ""
    """Its first characters; cut to 100."""

    full_path: str = ""
    """File with all of it, below the root; empty: there is only the preview."""

    read: bool = False

    def _check_kind(self) -> None:
        _check_own_type(self, MemoryType.MESSAGE)
        check_text("from_agent", self.from_agent)
        check_text("to_agent", self.to_agent)
        if self.full_path:
            check_text("full_path", self.full_path)
        self._set("preview", self.preview[:PREVIEW_CHARS])

    def _place(self) -> str:
        if self.full_path:
            return self.full_path
        parts = (self.from_agent, self.to_agent, self.subject, self.preview)
        return f"{self.from_agent}:{_digest(*parts)}"

    def _usual_priority(self) -> Priority:
        return Priority.MEDIUM if self.read else Priority.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeMemoryBlock(MemoryBlock):
    """Something that is known: a file, or a memory."""

    type: MemoryType = MemoryType.KNOWLEDGE
    topic: str
    subtopic: str | None = None
    location: str
    """``hm:`` and the key, id or path of a memory; or a path below the root."""

    relevance_score: float = 0.5
    """How much it has to do with its topic, 0..1."""

    def _check_kind(self) -> None:
        _check_own_type(self, MemoryType.KNOWLEDGE)
        check_text("location", self.location)
        check_share("relevance_score", self.relevance_score)

    def _place(self) -> str:
        return self.location


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryMemoryBlock(MemoryBlock):
    """Something that was done, and what came of it."""

    type: MemoryType = MemoryType.HISTORY
    action_type: str
    action_detail: str
    result: str | None = None

    def _check_kind(self) -> None:
        _check_own_type(self, MemoryType.HISTORY)
        check_text("action_type", self.action_type)

    def _place(self) -> str:
        # The same action at another time is another event.
        parts = (self.action_detail, self.result or "", self.timestamp.isoformat())
        return f"{self.action_type}:{_digest(*parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMemoryBlock(MemoryBlock):
    """What a program has concluded from other blocks."""

    type: MemoryType = MemoryType.CONTEXT
    context_type: str
    """What it is about: the project, the conversation."""

    summary: str
    related_ids: tuple[str, ...] = ()
    """Ids of the blocks that it was made from."""

    def _check_kind(self) -> None:
        _check_own_type(self, MemoryType.CONTEXT)
        check_text("context_type", self.context_type)
        self._set("related_ids", texts_of("related_ids", self.related_ids))

    def _place(self) -> str:
        return f"{self.context_type}:{_digest(self.summary)}"


BLOCK_CLASSES: Mapping[MemoryType, type[MemoryBlock]] = {
    MemoryType.ROM: FileMemoryBlock,
    MemoryType.FILE: FileMemoryBlock,
    MemoryType.STATUS: StatusMemoryBlock,
    MemoryType.TASK: TaskMemoryBlock,
    MemoryType.MESSAGE: MessageMemoryBlock,
    MemoryType.KNOWLEDGE: KnowledgeMemoryBlock,
    MemoryType.HISTORY: HistoryMemoryBlock,
    MemoryType.CONTEXT: ContextMemoryBlock,
}


def _check_own_type(block: MemoryBlock, wanted: MemoryType) -> None:
    """Raise unless a block says the type of its class."""
    if block.type is not wanted:
        name = type(block).__name__
        message = f"The type of a {name} must be {wanted.name}, not {block.type!r}."
        raise UsageError(message)


def _digest(*parts: str) -> str:
    """Return a short name for some texts."""
    data = json.dumps(parts).encode()
    return blake2b(data, digest_size=6).hexdigest()
