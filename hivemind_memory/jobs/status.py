"""Status of the language model, its jobs and its captures."""

from __future__ import annotations

from collections import Counter

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.jobs.compare import recent_changes, refs_to_compare
from hivemind_memory.model.agents import NO_CAPTURE
from hivemind_memory.model.display import clause, count_text
from hivemind_memory.model.scope import INBOX, place_in_scope
from hivemind_memory.model.value import value
from hivemind_memory.providers.chat_target import ChatTarget, find_chat_target
from hivemind_memory.state.captures import Captures
from hivemind_memory.state.jobs import DONE, WAITING, Jobs
from hivemind_memory.state.model_links import ModelLinks
from hivemind_memory.state.model_requests import ModelRequests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.state.jobs import Job
    from hivemind_memory.state.model_rest import Rest


@value
class ModelStatus:
    """The language model, and what it has done and has to do."""

    name: str
    """Provider and model; none: no text is sent anywhere."""

    problem: str = ""
    """Why it cannot be asked; empty: it can, as far as is known."""

    requests_today: int | None = None
    """None: they could not be counted."""

    requests_per_day: int = 0
    jobs: Mapping[str, int] = {}
    """State of jobs -> how many, without those that are done."""

    last_problem: str = ""
    """Why the newest job that waits, or was given up, could not be done."""

    unqueued: int = 0
    """Saved memories without a job, because no process that runs jobs is there."""

    proposals: int = 0
    """Links that wait in the inbox."""

    @property
    def line(self) -> str:
        """All of it in one line."""
        parts = [clause(self.problem) or self.name]
        is_counted = self.requests_today is not None
        if is_counted and not self.problem and self.name != "none":
            of_day = f"{self.requests_per_day:,} requests today"
            parts.append(f"{self.requests_today:,} of {of_day}")
        waiting = ", ".join(f"{count:,} {state}" for state, count in self.jobs.items())
        if waiting:
            parts.append(f"jobs: {waiting} (`hm jobs` lists them)")
        if self.unqueued:
            saved = count_text(self.unqueued, "saved memory", "saved memories")
            verb = "waits" if self.unqueued == 1 else "wait"
            parts.append(f"{saved} {verb} for `hm watch` or an agent's server")
        if self.last_problem:
            parts.append(clause(self.last_problem))
        if self.proposals:
            parts.append(f"{self.proposals:,} proposed in `hm inbox`")
        return "; ".join(parts)


@value
class CaptureStatus:
    """What was captured of the sessions of agents."""

    option: str
    """What becomes of it: inbox or save."""

    sessions: int = 0
    last_at: str = ""
    """ISO 8601; empty: no session was captured yet."""


def read_capture_status(memory: Memory) -> CaptureStatus | None:
    """Return what was captured so far; None: the option ``capture`` is off."""
    option = memory.settings.capture
    if option == NO_CAPTURE:
        return None
    try:
        sessions, last_s = Captures(memory.state()).read_sessions()
    except StateUnusableError:  # `hm status` says so already
        return CaptureStatus(option=option)
    last_at = memory.clocks.local_iso(last_s) if sessions else ""
    return CaptureStatus(option=option, sessions=sessions, last_at=last_at)


def next_try(job: Job, rest: Rest, now_s: float) -> tuple[float, str]:
    """Return when a job is run at the earliest, and why not sooner.

    The time is in seconds since the epoch; 0: it does not wait.
    """
    if job.state != WAITING:
        return 0.0, job.problem
    if rest.left_s(now_s) and job.due_at < rest.until_s:
        return rest.until_s, job.problem or rest.why
    return job.due_at, job.problem


def _count_proposals(memory: Memory) -> int:
    """Return how many proposed links the inbox lists: those with both ends."""
    if not ModelLinks(memory.state()).proposals():
        return 0
    pending = memory.curation.pending()
    return sum(place_in_scope(claim.path) != INBOX for claim in pending)


def has_leader(memory: Memory) -> bool:
    """Return whether a process is there that runs jobs."""
    return bool(KernelLock(memory.places.leader_lock).holder())


def read_model_status(memory: Memory) -> ModelStatus:
    """Return what there is to say; nothing is asked."""
    target = find_chat_target(memory.settings)
    name, problem = "none", ""
    if isinstance(target, ChatTarget):
        name = target.name
    elif memory.settings.llm_provider != "none":
        problem = target
    per_day = memory.settings.llm_calls_per_day
    state = memory.state()
    try:
        left = [job for job in Jobs(state).all() if job.state != DONE]
        sent = ModelRequests(state, memory.clocks, per_day=per_day).count_today()
        proposals = _count_proposals(memory)
        unqueued = 0
        if isinstance(target, ChatTarget) and not has_leader(memory):
            unqueued = len(refs_to_compare(memory, recent_changes(memory)))
    except StateUnusableError:  # `hm status` says so already
        return ModelStatus(name=name, problem=problem, requests_per_day=per_day)
    return ModelStatus(
        name=name,
        problem=problem,
        requests_today=sent,
        requests_per_day=per_day,
        jobs=dict(sorted(Counter(job.state for job in left).items())),
        last_problem=next((job.problem for job in reversed(left) if job.problem), ""),
        unqueued=unqueued,
        proposals=proposals,
    )
