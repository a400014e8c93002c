"""Queues the capture of a session that ended, and reads what a queued job names.

A job names the agent, the session and how long its transcript was: a session that is
resumed and ends again is another job, and one that has not grown is none.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import UsageError
from hivemind_memory.model.agents import TRANSCRIPT_SOURCES
from hivemind_memory.state.jobs import INTERRUPTED, MAX_TRIES, Jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.jobs.capture import Draft
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.ports import Chat
    from hivemind_memory.state.jobs import Job
    from hivemind_memory.transcripts.one_session import SessionReader

CAPTURE = "capture"
"""Kind of the jobs that capture a session."""

SETTLES_S = 5.0
"""How long an agent may still write to a transcript after it said that it ended."""

_MAX_CHARS = 200


def queue_capture(memory: Memory, agent: str, session: str, transcript: str) -> bool:
    """Queue the capture of a session; return False if it is queued already.

    Args:
        memory: Any caller's.
        agent: Whose session it is.
        session: Its id, as the agent gives it.
        transcript: The file, as the agent names it; only its size is looked at.

    Raises:
        StateUnusableError: The job cannot be kept.
        UsageError: The agent or the session cannot be one.
    """
    is_id = session.isprintable() and not set(session) & set(" @")
    if agent not in TRANSCRIPT_SOURCES or not is_id or not session[:_MAX_CHARS]:
        raise UsageError(f"{session[:60]!r} is not a session of {agent[:60]!r}.")
    if len(session) > _MAX_CHARS:
        raise UsageError("The id of the session is too long.")
    try:
        size = os.stat(transcript).st_size
    except (OSError, ValueError):
        size = int(memory.clocks.now() // 60)
    jobs, now_s = Jobs(memory.state()), memory.clocks.now()
    ref = f"{agent}:{session}@{size}"
    return bool(jobs.add(CAPTURE, [ref], now_s=now_s + SETTLES_S))


def requeue_kept(memory: Memory) -> None:
    """Let interrupted captures wait again of which the proposals are kept.

    The model is not asked again for those lines. One that is interrupted again and
    again is left to a person.
    """
    from hivemind_memory.state.captures import Captures

    jobs, captures = Jobs(memory.state()), Captures(memory.state())
    for job in jobs.all():
        if job.kind == CAPTURE and job.state == INTERRUPTED and job.tries < MAX_TRIES:
            agent = job.ref.partition(":")[0]
            if captures.find_draft(agent, job.session):
                jobs.resume(job.number)


def draft_of_job(
    memory: Memory, sessions: SessionReader, job: Job, chat: Chat
) -> Draft:
    """Return what the model proposes for the session of a job.

    Raises:
        HivemindError: As ``draft_capture``; or there is no such session any more.
    """
    # Not at the top: an agent that ends waits for what adds a job.
    from hivemind_memory.jobs.capture import draft_capture

    agent = job.ref.partition(":")[0]
    found = sessions.find(job.session, agent=agent)
    return draft_capture(memory, sessions, found, chat)
