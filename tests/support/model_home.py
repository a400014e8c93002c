"""A home with a language model that replies by script, and what it may be asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hivemind_memory.jobs.runner import JobRunner
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.chat import ChatMessage
from hivemind_memory.model.curation import NewMemory, SaveResult
from hivemind_memory.testing import FakeChat
from tests.support.sandbox import Sandbox

T = TypeVar("T")

OLD = "We deploy on Tuesdays, after the tests of the main branch are green."
NEW = "We deploy on Thursdays, after the tests of the main branch are green."


def data_in(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    """Return what the model is told of the memories."""
    data: dict[str, Any] = json.loads(messages[-1].text)
    return data


@dataclass
class ModelHome:
    """Memories, and jobs over them with a fake model."""

    sandbox: Sandbox
    chat: FakeChat = field(default_factory=FakeChat)

    def __post_init__(self) -> None:
        self.sandbox.flags |= {"llm_provider": "openai", "llm_model": "m"}

    def save(self, key: str, text: str, **more: Any) -> SaveResult:
        """Save a memory."""
        new = NewMemory(key=key, content=text, **{"type": "fact", **more})
        with self.sandbox.memory() as memory:
            return memory.save(new)

    def run(self, chat: FakeChat | None = None) -> float | None:
        """Run the jobs that are due, as a new leader does."""
        with self.sandbox.memory() as memory:
            runner = JobRunner(memory, lambda _: chat or self.chat)
            try:
                return runner.run(should_stop=lambda: False)
            finally:
                runner.close()

    def reply_with(self, kind: str, weight: float = 0.9) -> None:
        """Relate the saved memory to all that the model is given."""

        def reply(messages: Sequence[ChatMessage]) -> dict[str, object]:
            older = data_in(messages)["older"]
            return {
                "relations": [
                    {"id": other["id"], "kind": kind, "weight": weight}
                    for other in older
                ]
            }

        self.chat.reply = reply

    def with_memory(self, use: Callable[[Memory], T]) -> T:
        """Return what *use* returns for the memory."""
        with self.sandbox.memory() as memory:
            return use(memory)

    def edges(self, key: str) -> list[tuple[str, str, str]]:
        """Return kind, key and author of the links that begin at a memory."""
        details = self.with_memory(lambda memory: memory.curation.show(key))
        return [
            (edge.kind, edge.key, edge.by)
            for edge in details.edges
            if edge.is_outgoing and edge.key != key  # its own earlier version
        ]
