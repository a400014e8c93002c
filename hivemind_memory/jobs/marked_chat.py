"""Marks a job just before the language model is asked.

What was killed before that is run again: nothing was sent. Loading the library of a
provider takes most of that time.
"""

from __future__ import annotations

from hivemind_memory.errors import JobLostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hivemind_memory.model.chat import ChatMessage
    from hivemind_memory.model.ports import Chat


class MarkedChat:
    """A ``Chat`` that is asked on behalf of a job."""

    def __init__(self, chat: Chat, mark: Callable[[], bool]) -> None:
        """Ask nothing yet.

        Args:
            chat: Who is asked.
            mark: Keeps that the model is asked; returns whether it may be.
        """
        self._chat = chat
        self._mark = mark

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._chat.name

    def prepare(self) -> None:
        """Load what is needed to ask."""
        self._chat.prepare()

    def ask(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, object],
        *,
        timeout_s: float,
    ) -> dict[str, object]:
        """Return the reply; see the port.

        Raises:
            JobLostError: Another process has the job by now.
        """
        self.prepare()
        if not self._mark():
            raise JobLostError("Another process has this job by now.")
        return self._chat.ask(messages, schema, timeout_s=timeout_s)

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()
