"""Adds the jobs that changes call for, and runs those that are due. In the leader only.

What was saved is read from the log of changes, so saving knows nothing of jobs and
waits for none.
"""

from __future__ import annotations

import logging
import threading

from hivemind_memory.access.rules import OWNER
from hivemind_memory.curation.refused_links import MODEL
from hivemind_memory.errors import (
    ChatError,
    ChatNotReadyError,
    ChatReplyError,
    HivemindError,
    JobLostError,
    UsageError,
)
from hivemind_memory.jobs.brief import (
    BRIEFING,
    BriefingPlanner,
    keep_briefing,
    write_briefing,
)
from hivemind_memory.jobs.capture import finish_capture
from hivemind_memory.jobs.capture_queue import CAPTURE, draft_of_job, requeue_kept
from hivemind_memory.jobs.compare import (
    LINKS,
    RECENT_S,
    compare,
    recent_changes,
    refs_to_compare,
)
from hivemind_memory.jobs.marked_chat import MarkedChat
from hivemind_memory.model.agents import NO_CAPTURE
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.scope import scope_text
from hivemind_memory.providers.chat import connect_chat
from hivemind_memory.providers.chat_errors import LONGEST_REST_S
from hivemind_memory.providers.chat_target import ChatTarget, find_chat_target
from hivemind_memory.state.briefings import Briefings
from hivemind_memory.state.jobs import MAX_TRIES, RUNNING, WAITING, Jobs
from hivemind_memory.state.model_requests import ModelRequests
from hivemind_memory.state.model_rest import ModelRest, Rest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.ports import Chat
    from hivemind_memory.state.jobs import Job
    from hivemind_memory.transcripts.one_session import SessionReader

logger = logging.getLogger(__name__)

MAX_REPLIES = 2
"""Tries of a job that may end with a reply of no use, which costs as much as a good
one."""

FIRST_RETRY_S = 60.0
"""Wait after the first try that failed; it doubles with each."""

LOOK_AGAIN_S = 30.0
"""How often sessions that ended are looked for, if they are captured."""

_APPLYING_S = 2.0
"""Longest wait at the end of a process for a reply that is being used."""


class JobRunner:
    """Runs the jobs of one memory on the thread that calls it."""

    def __init__(
        self,
        memory: Memory,
        open_chat: Callable[[Memory], Chat] | None = None,
        *,
        open_sessions: Callable[[Memory], SessionReader] | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            memory: Any caller's: jobs see the memory as its owner does.
            open_chat: Returns the language model; None: that of the settings.
            open_sessions: Returns what reads the sessions of agents; None: no session
                is captured.
        """
        self._memory = memory.as_caller(OWNER)
        self._memory.origin = MODEL
        self._open_chat = open_chat or open_chosen_chat
        self._open_sessions = open_sessions
        self._chat: Chat | None = None
        self._briefings = BriefingPlanner(self._memory)
        self._runner = self._memory.clocks.randomness().hex()
        self._has_begun = False
        self._is_wanted = False
        self._current: Job | None = None
        self._is_abandoned = False
        self._applying = threading.Lock()
        """Held while a reply is used, and while the job is taken from the runner."""

    def run(self, *, should_stop: Callable[[], bool]) -> float | None:
        """Add and run what is due; return in how many seconds there is more to do.

        None: nothing waits.
        """
        jobs = self._jobs
        if not self._has_begun:
            jobs.interrupt_others(self._runner)
            requeue_kept(self._memory)
            self._rest.end()  # what it was for may be mended
            self._has_begun = True
        self._add()
        while not self._should_end(should_stop):
            job = self._current = jobs.take(self._runner, now_s=self._now())
            if job is None:
                break
            self._run(job)
        return self._next_due_s()

    def run_briefing(self, scope: str) -> Job | None:
        """Write the briefing of a scope now, in this process, as a person wants it.

        Returns:
            The job as it ended; None: another process is writing it.
        """
        ref, now_s = scope_text(scope), self._now()
        self._is_wanted = True
        self._jobs.arm(BRIEFING, ref, due_s=now_s, made_s=now_s)
        job = self._current = self._jobs.take(
            self._runner, now_s=now_s, only=(BRIEFING, ref)
        )
        if job is None:
            return None
        self._run(job)
        ended = next(each for each in self._jobs.all() if each.number == job.number)
        return None if ended.state == RUNNING else ended

    def is_due(self) -> bool:
        """Return whether a job may be run: `hm jobs retry` wakes no other process."""
        now_s = self._now()
        return not self._rest_s(now_s) and self._jobs.is_due(now_s)

    def _should_end(self, should_stop: Callable[[], bool]) -> bool:
        """Return whether no other job is to be taken now."""
        is_resting = self._rest_s(self._now()) > 0
        return is_resting or self._is_abandoned or should_stop()

    def _rest_s(self, now_s: float) -> float:
        """Return for how many more seconds the model is left alone; 0: not at all."""
        return self._rest.read().left_s(now_s)

    def abandon(self) -> None:
        """Put the job under way back: this process ends before the model replies.

        What it still replies is not used. Called on another thread than ``run``.
        """
        if not self._applying.acquire(timeout=_APPLYING_S):
            return  # the reply is here, and is being used
        try:
            self._is_abandoned = True
            job, why = self._current, "the process ended before the model replied"
            if job is not None and job.tries >= MAX_TRIES:
                self._jobs.end(job, self._runner, problem=why)
            elif job is not None:
                self._jobs.put_back(
                    job, self._runner, due_s=self._now(), problem=why, is_try=True
                )
        finally:
            self._applying.release()

    def close(self) -> None:
        """Close what was opened."""
        if self._chat is not None:
            self._chat.close()
        self._memory.close()

    @property
    def _jobs(self) -> Jobs:
        """The jobs of the notes folder."""
        return Jobs(self._memory.state())

    @property
    def _rest(self) -> ModelRest:
        """Until when the model is left alone."""
        return ModelRest(self._memory.state())

    def _now(self) -> float:
        """Return seconds since the epoch."""
        return self._memory.clocks.now()

    def _add(self) -> None:
        """Add a job for what was saved or accepted in the last days, and briefings."""
        now_s = self._now()
        jobs = self._jobs
        jobs.prune(before_s=now_s - RECENT_S - SECONDS_PER_DAY)
        changes = recent_changes(self._memory)
        jobs.add(LINKS, refs_to_compare(self._memory, changes), now_s=now_s)
        self._briefings.add(changes, now_s)

    def _run(self, job: Job) -> None:
        """Run a job, and say how it ended."""
        jobs, runner = self._jobs, self._runner
        try:
            if self._chat is None:
                self._chat = self._open_chat(self._memory)
            self._use(job, self._ask(job, self._chat))
        except ChatNotReadyError as error:
            due_s = self._now() + (error.retry_after_s or FIRST_RETRY_S)
            self._rest.keep(Rest(due_s, str(error)))
            jobs.put_back(job, runner, due_s=due_s, problem=str(error), is_try=False)
        except JobLostError:
            logger.info("another process has job %d by now", job.number)
        except HivemindError as error:
            self._fail(job, error)
        except Exception:
            # One job must not end the others; what it was is in the log.
            logger.exception("a job failed")
            jobs.end(job, runner, problem="it failed; the log says more")

    def _ask(self, job: Job, chat: Chat) -> Callable[[], object]:
        """Ask what a job needs to know; return what uses the reply.

        Raises:
            ChatError: The model gave no usable reply.
        """
        memory = self._memory
        chat = MarkedChat(chat, lambda: self._jobs.mark_sent(job, self._runner))
        if job.kind == BRIEFING:
            is_wanted = self._is_wanted
            written = write_briefing(memory, job.ref, chat, is_wanted=is_wanted)
            return lambda: written and keep_briefing(memory, written)
        if job.kind == CAPTURE and self._open_sessions is not None:
            draft = draft_of_job(memory, self._open_sessions(memory), job, chat)
            return lambda: finish_capture(memory, draft, model=chat.name)
        if job.kind != LINKS:
            raise UsageError(f"This process cannot run a job of the kind {job.kind}.")
        found = compare(memory, job.ref, chat)
        return lambda: (
            found.relations
            and memory.curation.apply_relations(job.ref, found, model=chat.name)
        )

    def _use(self, job: Job, use_reply: Callable[[], object]) -> None:
        """Use what a model replied, and end the job."""
        with self._applying:
            if self._is_abandoned:
                return
            use_reply()
            self._jobs.end(job, self._runner)
            self._current = None

    def _fail(self, job: Job, error: HivemindError) -> None:
        """Let a job be tried again later, or give it up."""
        problem = f"{error} {error.hint}".strip()
        is_reply = isinstance(error, ChatReplyError)
        asked_s = error.retry_after_s if isinstance(error, ChatError) else None
        # A server that asks for longer is asked sooner than it wants to be.
        is_try = asked_s is None or asked_s <= LONGEST_REST_S
        if (is_try and job.tries >= MAX_TRIES) or (
            job.replies + is_reply >= MAX_REPLIES
        ):
            self._jobs.end(job, self._runner, problem=problem)
            if is_reply and job.kind == BRIEFING:  # the composed one is shown
                Briefings(self._memory.state()).drop_scope(
                    self._memory.find_scope(job.ref)
                )
            return
        wait_s = FIRST_RETRY_S * 2 ** (job.tries - 1)
        if asked_s is not None:
            rest_s = min(asked_s, LONGEST_REST_S)
            wait_s = max(wait_s, rest_s)
            self._rest.keep(Rest(self._now() + rest_s, problem))
        self._jobs.put_back(
            job,
            self._runner,
            due_s=self._now() + wait_s,
            problem=problem,
            is_try=is_try,
            is_reply=is_reply,
        )

    def _next_due_s(self) -> float | None:
        """Return in how many seconds the next job may run; None: none waits.

        A session that ends wakes no one, so it is looked for again and again.
        """
        now_s = self._now()
        looks = [self._briefings.next_look_s(now_s)]
        if self._memory.settings.capture != NO_CAPTURE:
            looks.append(LOOK_AGAIN_S)
        due_s = [
            job.due_in_s(now_s) for job in self._jobs.all() if job.state == WAITING
        ]
        if due_s:
            looks.append(max(min(due_s), self._rest_s(now_s)))
        return min((look_s for look_s in looks if look_s is not None), default=None)


def open_chosen_chat(memory: Memory) -> Chat:
    """Return the language model that the settings choose.

    Raises:
        ChatNotReadyError: None is chosen, or it cannot be used.
    """
    target = find_chat_target(memory.settings)
    if not isinstance(target, ChatTarget):
        raise ChatNotReadyError(target, retry_after_s=SECONDS_PER_DAY)
    clocks = memory.clocks
    return connect_chat(
        target,
        account=requests_of(memory),
        now=clocks.now,
        stopwatch=clocks.stopwatch,
    )


def requests_of(memory: Memory) -> ModelRequests:
    """Return what counts the requests of a memory's home."""
    per_day = memory.settings.llm_calls_per_day
    return ModelRequests(memory.state(), memory.clocks, per_day=per_day)
