"""Captures a session while a person waits for it."""

from __future__ import annotations

from hivemind_memory.access.rules import OWNER
from hivemind_memory.curation.refused_links import MODEL
from hivemind_memory.errors import CapturedMeanwhileError
from hivemind_memory.jobs.capture import draft_capture, finish_capture
from hivemind_memory.jobs.runner import open_chosen_chat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.capture import CaptureResult
    from hivemind_memory.model.ports import Chat
    from hivemind_memory.transcripts.one_session import FoundSession, SessionReader


def capture_now(
    memory: Memory,
    sessions: SessionReader,
    found: FoundSession,
    *,
    is_dry_run: bool = False,
    open_chat: Callable[[Memory], Chat] | None = None,
) -> CaptureResult:
    """Capture what is new in a session; see ``capture``.

    Args:
        memory: Of the owner.
        sessions: Reads the transcript.
        found: The session.
        is_dry_run: Write nothing.
        open_chat: Returns the language model; None: that of the settings.

    Raises:
        ChatNotReadyError: No language model is chosen, or it cannot be asked now.
        HivemindError: Nothing was captured; the message says why.
    """
    seen = memory.as_caller(OWNER)
    seen.origin = MODEL
    with seen:
        chat = (open_chat or open_chosen_chat)(seen)
        try:
            try:
                return _capture(seen, sessions, found, chat, is_dry_run=is_dry_run)
            except CapturedMeanwhileError:  # by a job: what is left is usually nothing
                return _capture(seen, sessions, found, chat, is_dry_run=is_dry_run)
        finally:
            chat.close()


def _capture(
    memory: Memory,
    sessions: SessionReader,
    found: FoundSession,
    chat: Chat,
    *,
    is_dry_run: bool,
) -> CaptureResult:
    """Ask the model about a session, and use what it replied."""
    draft = draft_capture(memory, sessions, found, chat)
    return finish_capture(memory, draft, model=chat.name, is_dry_run=is_dry_run)
