"""Has a briefing written at once, because a person asks for it."""

from __future__ import annotations

from hivemind_memory.context.briefing_input import MIN_MEMORIES
from hivemind_memory.jobs.runner import JobRunner
from hivemind_memory.providers.chat_target import ChatTarget, find_chat_target
from hivemind_memory.state.briefings import Briefings
from hivemind_memory.state.jobs import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.ports import Chat


def refresh_briefing(
    memory: Memory, scope: str, open_chat: Callable[[Memory], Chat] | None = None
) -> str:
    """Have the briefing of a scope written; return why it was not, empty: it was.

    Args:
        memory: As its owner sees it.
        scope: The scope.
        open_chat: As ``JobRunner`` takes it.
    """
    target = find_chat_target(memory.settings)
    if not isinstance(target, ChatTarget) and open_chat is None:
        return str(target)
    runner = JobRunner(memory, open_chat)
    try:
        job = runner.run_briefing(scope)
    finally:
        runner.close()
    if job is None:
        return "another process is writing it now."
    if job.state != DONE:
        return job.problem
    kept = Briefings(memory.state()).find(scope)
    few = f"fewer than {MIN_MEMORIES} memories may be sent."
    return "" if kept is not None and kept.body else few
