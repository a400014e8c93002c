"""Says whether there are jobs to run, and loads nothing of them if there are none."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.jobs.runner import JobRunner
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.transcripts.one_session import SessionReader


def chosen_jobs(
    memory: Memory, open_sessions: Callable[[Memory], SessionReader] | None = None
) -> Callable[[], JobRunner] | None:
    """Return what opens the jobs of a memory; None: no language model is chosen.

    Args:
        memory: The memory.
        open_sessions: Returns what reads the sessions of agents; None: no session is
            captured.
    """
    settings = memory.settings
    if not settings.enabled or settings.llm_provider == "none":
        return None

    def open_jobs() -> JobRunner:
        from hivemind_memory.jobs.runner import JobRunner

        return JobRunner(memory, open_sessions=open_sessions)

    return open_jobs
