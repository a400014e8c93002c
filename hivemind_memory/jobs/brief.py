"""Has the language model write the briefing of a scope, once its memories rest.

Due a minute after the last change, at most ten minutes after the first, and once a day
if the memories have changed in whatever way. When a briefing is due is computed from
the log of changes and from when it was last written, so nothing else is kept.
"""

from __future__ import annotations

from hivemind_memory.access.visibility import is_kept_back
from hivemind_memory.context.briefing import told_in
from hivemind_memory.context.briefing_input import MIN_MEMORIES, choose_told
from hivemind_memory.errors import ScopeError
from hivemind_memory.jobs.briefing_text import SCHEMA, briefing_in, messages_about
from hivemind_memory.jobs.replies import read_from
from hivemind_memory.markdown.entry import ulid_seconds
from hivemind_memory.model.changes import LINK, WRITE
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.scope import scope_of, scope_text
from hivemind_memory.state.briefings import Briefings, WrittenBriefing
from hivemind_memory.state.change_log import ChangeLog
from hivemind_memory.state.jobs import DONE, RUNNING, WAITING, Jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.context.briefing_input import ToldMemory
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.changes import Change
    from hivemind_memory.model.ports import Chat
    from hivemind_memory.state.jobs import Job

BRIEFING = "briefing"
"""Kind of the jobs that write a briefing; such a job is about a scope."""

QUIET_S = 60.0
"""How long nothing must have changed in a scope."""

MAX_WAIT_S = 600.0
"""Longest wait after the first change, however many follow."""

DAILY_HOUR = 4
"""Hour of the local day from which memories are compared with their briefing."""

_KEEPING_TRIES = 3
_NOT_OF_TEXTS = frozenset((LINK, WRITE))
"""Changes that leave the texts of memories as they are."""


class BriefingPlanner:
    """Says which briefings are due; remembers what it compared today."""

    def __init__(self, memory: Memory) -> None:
        """Take the memory as its owner sees it."""
        self._memory = memory
        self._compared_s: dict[str, float] = {}

    def add(self, changes: Iterable[Change], now_s: float) -> None:
        """Add a job for each scope whose briefing is to be written, or put it off.

        Args:
            changes: Those of the last days, in any order.
            now_s: Seconds since the epoch.
        """
        jobs = Jobs(self._memory.state())
        known = {job.ref: job for job in jobs.all() if job.kind == BRIEFING}
        made = Briefings(self._memory.state()).made_at()
        times = _times_of(changes)
        for scope in self._scopes():
            job = known.get(scope_text(scope))
            if job is not None and (job.state == RUNNING or _is_tried_again(job)):
                continue
            if job is not None and job.state == WAITING and job.due_at <= job.made_at:
                continue  # due at once: a person may have said so
            # What is later than now is of a clock that was set back.
            read = (made.get(scope, 0.0), job.taken_at if job else 0.0)
            read_s = max((at_s for at_s in read if at_s <= now_s), default=0.0)
            new = [at_s for at_s in times.get(scope, ()) if read_s < at_s <= now_s]
            if new:
                due_s = min(max(new) + QUIET_S, min(new) + MAX_WAIT_S)
                if job is None or job.state != WAITING or job.due_at != due_s:
                    jobs.arm(BRIEFING, scope_text(scope), due_s=due_s, made_s=min(new))
            elif job is not None and job.state == WAITING:
                continue
            elif self._is_missing(scope, job, made) or self._is_outdated(
                scope, read_s, now_s
            ):
                jobs.arm(BRIEFING, scope_text(scope), due_s=now_s, made_s=now_s)

    def next_look_s(self, now_s: float) -> float | None:
        """Return in how many seconds briefings are compared; None: there is none."""
        if not Briefings(self._memory.state()).made_at():
            return None
        return self._last_daily_s(now_s) + SECONDS_PER_DAY - now_s

    def _scopes(self) -> list[str]:
        """Return the scopes that have enough memories for a briefing."""
        counts: dict[str, int] = {}
        rows = self._memory.lists.count("scope", "type", "status")
        for (scope, name, status), count in rows.items():
            if name and status == ACTIVE:
                counts[scope] = counts.get(scope, 0) + count
        return sorted(scope for scope, count in counts.items() if count >= MIN_MEMORIES)

    def _is_missing(self, scope: str, job: Job | None, made: Iterable[str]) -> bool:
        """Return whether a scope has no briefing, not even one that failed.

        One that was written is gone if one of its memories was purged.
        """
        return scope not in made and (job is None or job.state == DONE)

    def _is_outdated(self, scope: str, read_s: float, now_s: float) -> bool:
        """Return whether memories changed since a day; compared once a day."""
        daily_s = self._last_daily_s(now_s)
        if max(read_s, self._compared_s.get(scope, 0.0)) >= daily_s:
            return False
        self._compared_s[scope] = now_s
        kept = Briefings(self._memory.state()).find(scope)
        told = tell(self._memory, scope)
        return kept is None or sources_of(self._memory, told) != kept.sources

    def _last_daily_s(self, now_s: float) -> float:
        """Return when it was four in the morning last, in seconds since the epoch."""
        offset_s = self._memory.clocks.local_offset_s(now_s) - DAILY_HOUR * 3_600
        return now_s - (now_s + offset_s) % SECONDS_PER_DAY


def tell(memory: Memory, scope: str) -> list[ToldMemory]:
    """Return what the model is told of a scope; nothing: it is not to be asked."""
    if is_kept_back(memory.settings, scope):
        return []
    return choose_told(memory, told_in(memory, scope))


def sources_of(
    memory: Memory, told: Sequence[ToldMemory]
) -> tuple[tuple[str, bytes], ...]:
    """Return what the model was told of, and keyed hashes of that."""
    state = memory.state()
    return tuple((each.ref, state.hash_of(each.words)) for each in told)


def write_briefing(
    memory: Memory, ref: str, chat: Chat, *, is_wanted: bool = False
) -> WrittenBriefing | None:
    """Return the briefing of a scope, as the model writes it.

    Of too few memories none is written: what is returned has no text. None: the
    memories say what they said when the briefing was written.

    Args:
        memory: As its owner sees it.
        ref: The scope, as it is shown.
        chat: The language model.
        is_wanted: Ask even if the memories say what they said.

    Raises:
        ChatError: The model gave no usable reply.
    """
    now_s = memory.clocks.now()
    try:
        scope = memory.find_scope(ref)
    except ScopeError:  # its folder is gone
        return None
    told = tell(memory, scope)
    sources = sources_of(memory, told)
    made = WrittenBriefing(
        scope=scope, body="", model="", made_at=now_s, sources=sources
    )
    if len(told) < MIN_MEMORIES:
        return made
    kept = Briefings(memory.state()).find(scope)
    is_same = kept is not None and kept.body and kept.sources == sources
    if is_same and not is_wanted:
        return None
    reply = chat.ask(
        messages_about(scope, told), SCHEMA, timeout_s=memory.settings.llm_timeout_s
    )
    with read_from(chat):
        body = briefing_in(reply, told)
    return WrittenBriefing(
        scope=scope, body=body, model=chat.name, made_at=now_s, sources=sources
    )


def keep_briefing(memory: Memory, written: WrittenBriefing) -> bool:
    """Keep a briefing if its memories still say what the model was told.

    Returns:
        Whether it was kept.
    """
    state = memory.state()
    for _ in range(_KEEPING_TRIES):
        purges = Briefings(state).count_purges()
        number = ChangeLog(state).last_number()
        if sources_of(memory, tell(memory, written.scope)) != written.sources:
            return False
        if Briefings(state).keep(written, last_change=number, purges=purges):
            return True
    return False


def _is_tried_again(job: Job) -> bool:
    """Return whether a job waits because it failed."""
    return job.state == WAITING and job.tries > 0


def _times_of(changes: Iterable[Change]) -> dict[str, list[float]]:
    """Return when memories of each scope changed, in seconds since the epoch."""
    times: dict[str, list[float]] = {}
    for change in changes:
        if change.kind not in _NOT_OF_TEXTS:
            for scope in {scope_of(item.path) for item in change.items}:
                times.setdefault(scope, []).append(ulid_seconds(change.id))
    return times
