"""A home whose sessions are captured by a language model that replies by script."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hivemind_memory.jobs.capture_now import capture_now
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.capture import CaptureResult
from hivemind_memory.model.chat import ChatMessage
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.testing import FakeChat
from hivemind_memory.transcripts.one_session import SessionReader
from hivemind_memory.transcripts.sources import all_sources
from tests.support.sandbox import Sandbox
from tests.support.sessions import Said, put_session

Lesson = dict[str, Any]


def told(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    """Return what the model is told of a session."""
    data: dict[str, Any] = json.loads(messages[-1].text)
    return data


def proposal(content: str, start: int, end: int = 0, **more: Any) -> Lesson:
    """Return a row of a reply."""
    usual = {"type": "lesson", "key": "a-lesson", "scope": "project"}
    lines = [start, end or start]
    return {**usual, "content": content, "confidence": 0.95, "lines": lines, **more}


@dataclass
class CaptureHome:
    """Memories, a user's home with sessions, and a fake model."""

    base: Path
    scope: str = "projects/lamp"
    chat: FakeChat = field(default_factory=FakeChat)

    def __post_init__(self) -> None:
        self.user = self.base / "user"
        self.work = self.base / "lamp"
        for folder in (self.user, self.work):
            folder.mkdir(parents=True, exist_ok=True)
        self.sandbox = Sandbox(self.base / "home")
        self.sandbox.flags |= {
            "llm_provider": "openai",
            "llm_model": "m",
            "capture": "inbox",
        }

    def put(self, said: Said, agent: str = "claude", **more: Any) -> Path:
        """Write a session."""
        session = more.pop("session", "session-one")
        folder = more.pop("folder", str(self.work))
        return put_session(self.user, agent, session, folder, said, **more)

    def sessions(self, memory: Memory) -> SessionReader:
        """Return what reads the sessions of this user."""
        return SessionReader(
            all_sources(str(self.user), {}),
            find_scope=lambda folder: self.scope if folder == str(self.work) else "",
            erased=ErasedMessages(memory.state()),
        )

    def reply_with(self, *rows: object) -> None:
        """Let the model propose some rows, whatever it is told."""
        self.chat.reply = lambda _: {"memories": list(rows)}

    def capture(self, session: str = "session-one", **more: Any) -> CaptureResult:
        """Capture a session, as a person's command does."""
        with self.sandbox.memory() as memory:
            sessions = self.sessions(memory)
            found = sessions.find(session)
            open_chat = more.pop("open_chat", lambda _: self.chat)
            return capture_now(memory, sessions, found, open_chat=open_chat, **more)

    def with_memory(self, use: Callable[[Memory], Any]) -> Any:
        """Return what *use* returns for the memory."""
        with self.sandbox.memory() as memory:
            return use(memory)

    def pending(self) -> list[str]:
        """Return the texts that wait in the inbox."""
        claims = self.with_memory(lambda memory: memory.curation.pending())
        return [claim.text for claim in claims]
