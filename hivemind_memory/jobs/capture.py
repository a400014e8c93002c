"""Captures a session: a language model proposes memories, and most of them wait.

The model is asked first and nothing is written meanwhile. Each proposal is then
checked against the transcript, the memories that there are, and the repository; what is
left goes through the gates of any save.
"""

from __future__ import annotations

from hivemind_memory.access.visibility import is_kept_back
from hivemind_memory.errors import CapturedMeanwhileError, HivemindError
from hivemind_memory.jobs.capture_checks import ProposalChecks
from hivemind_memory.jobs.compare import may_be_sent
from hivemind_memory.jobs.proposals import (
    MAX_PROPOSALS,
    messages_about_session,
    proposal_as_json,
    proposal_of_json,
    proposal_schema,
    proposals_in,
)
from hivemind_memory.jobs.replies import read_from
from hivemind_memory.jobs.session_windows import windows_of
from hivemind_memory.model.capture import (
    DROPPED,
    PROPOSED,
    SAVED,
    CapturedMemory,
    CaptureResult,
    Proposal,
)
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.memory_types import all_types
from hivemind_memory.model.query import Query
from hivemind_memory.model.scope import GLOBAL
from hivemind_memory.model.value import replaced, value
from hivemind_memory.redaction import mask
from hivemind_memory.state.captures import Captures, capture_lock
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.transcripts.message import TOOL, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.capture import SessionLine, SessionTranscript
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.ports import Chat
    from hivemind_memory.state.captures import KeptDraft
    from hivemind_memory.transcripts.one_session import FoundSession, SessionReader

_PURGED = "the session was purged"
_KNOWN = 10
_QUERY_CHARS = 400
_MIN_SAID = 2
"""Messages of the user and the model below which a session teaches nothing."""


@value
class Draft:
    """What the model proposed for a session; nothing is written yet."""

    transcript: SessionTranscript
    proposals: tuple[Proposal, ...] = ()
    requests: int = 0
    after: int = 0
    """Line up to which the session had been captured before."""

    why: str = ""
    """Why the model was not asked; empty: it was."""

    left: KeptDraft | None = None
    """What it proposed for earlier lines before a crash, and no note says yet."""


def draft_capture(
    memory: Memory,
    sessions: SessionReader,
    found: FoundSession,
    chat: Chat,
) -> Draft:
    """Return what the model proposes for the part of a session that is new.

    Args:
        memory: As its owner sees it.
        sessions: Reads the transcript.
        found: The session.
        chat: The language model.

    Raises:
        HivemindError: The transcript cannot be read, or the model gave no usable reply.
    """
    agent = found.source.name
    captures = Captures(memory.state())
    after = captures.line_of(agent, found.session)
    left = captures.find_draft(agent, found.session)
    transcript = sessions.read(found, after)
    fresh = [line for line in transcript.lines if not left or line.number > left.line]
    if why := _why_not(memory, sessions, transcript, fresh):
        return Draft(transcript=transcript, after=after, why=why, left=left)
    types = list(all_types(memory.settings.own_types()))
    proposals: dict[str, Proposal] = {}
    windows = windows_of(fresh)
    for window in windows:
        known = list(_known_nearby(memory, transcript.scope, window))
        reply = chat.ask(
            messages_about_session(window, known),
            proposal_schema(types),
            timeout_s=memory.settings.llm_timeout_s,
        )
        with read_from(chat):
            found_here = proposals_in(reply, window, types)
        for proposal in found_here:
            proposals.setdefault(proposal.key.casefold(), proposal)
    ordered = sorted(proposals.values(), key=lambda each: -each.confidence)
    return Draft(
        transcript=transcript,
        proposals=tuple(ordered[:MAX_PROPOSALS]),
        requests=len(windows),
        after=after,
        left=left,
    )


def finish_capture(
    memory: Memory, draft: Draft, *, model: str, is_dry_run: bool = False
) -> CaptureResult:
    """Propose or save what the model proposed, and remember what was read.

    Args:
        memory: As its owner sees it.
        draft: What it proposed.
        model: Its name.
        is_dry_run: Write nothing.

    Raises:
        CapturedMeanwhileError: Another process captured the session since it was read.
        NotSavedError: Another process has been writing proposals, or choosing what to
            purge, for 10 s.
        StateUnusableError: How far the session was read cannot be kept.
    """
    if is_dry_run:
        return _finish(memory, draft, model=model, is_dry_run=True)
    with capture_lock(memory.places.locks, "Nothing was saved"):
        _refuse_captured(memory, draft)
        return _finish(memory, draft, model=model, is_dry_run=False)


def _refuse_captured(memory: Memory, draft: Draft) -> None:
    """Raise if another process has captured the session, or part of it, meanwhile."""
    captures = Captures(memory.state())
    key = (draft.transcript.agent, draft.transcript.session)
    if captures.line_of(*key) > draft.after or captures.find_draft(*key) != draft.left:
        raise CapturedMeanwhileError(
            "Another process captured this session at the same time.",
            hint="Capture it again: what is new since then is proposed.",
        )


def _finish(
    memory: Memory, draft: Draft, *, model: str, is_dry_run: bool
) -> CaptureResult:
    """Propose or save what the model proposed; see ``finish_capture``."""
    transcript = draft.transcript
    agent, session = transcript.agent, transcript.session
    erased = ErasedMessages(memory.state())
    erased.load()
    # It may have been purged while the model was asked.
    if draft.why == _PURGED or erased.has(session, ""):
        draft = Draft(transcript=transcript, why=_PURGED)
    checks = ProposalChecks(memory, transcript, erased)
    kept = _KeptProposals(memory, draft, checks)
    if not is_dry_run:
        if draft.why == _PURGED:
            kept.forget()
        kept.begin()
    done = []
    for count, proposal in enumerate(kept.all, start=1):
        new, why = checks.prepare(proposal, model=model)
        if new is None:
            done.append(CapturedMemory(proposal, DROPPED, why))
        elif is_dry_run:
            outcome = PROPOSED if new.is_proposal else SAVED
            done.append(CapturedMemory(proposal, outcome, why))
        else:
            done.append(_write(memory, proposal, new, why))
        if not is_dry_run:
            kept.drop_first(count)
    if not is_dry_run:
        kept.end()
    return CaptureResult(
        agent=agent,
        session=session,
        scope=transcript.scope,
        lines_read=len({line.number for line in transcript.lines}),
        requests=draft.requests,
        memories=tuple(done),
        why=draft.why,
    )


def _why_not(
    memory: Memory,
    sessions: SessionReader,
    transcript: SessionTranscript,
    fresh: Sequence[SessionLine],
) -> str:
    """Return why nothing new of a session is sent; empty: it may be."""
    if sessions.is_erased(transcript.session):
        return _PURGED
    said = sum(line.role != TOOL for line in fresh)
    if said < _MIN_SAID or not any(line.role == USER for line in fresh):
        return "nothing new was said"
    settings = memory.settings
    if is_kept_back(settings, transcript.scope):
        return f"{transcript.scope} is private, and llm_send_private is off"
    may_be_private = not settings.llm_send_private and settings.private_scopes()
    if not transcript.scope and may_be_private:
        return (
            "it is not known whether its project is private, and llm_send_private is"
            " off: the folder of the session is gone"
        )
    return ""


def _known_nearby(
    memory: Memory, scope: str, window: Sequence[SessionLine]
) -> Iterator[StoredMemory]:
    """Yield the memories about what a part of a session is about, if they may leave."""
    said = " ".join(line.text for line in reversed(window) if line.role == USER)
    scopes = dict.fromkeys((scope, GLOBAL))
    for each in scopes:
        query = Query(
            text=said[:_QUERY_CHARS],
            max_results=_KNOWN,
            min_score=0.0,
            search_filter=SearchFilter(scope=each),
            is_literal=True,
        )
        seen: set[str] = set()
        for hit in memory.search(query).hits:
            if hit.type and hit.path not in seen:
                seen.add(hit.path)
                found = memory.curation.stored.load(hit.path)
                if found is not None and may_be_sent(memory, found):
                    yield found


class _KeptProposals:
    """What a model proposed for a session, kept until notes say it.

    A process may be killed in between. Who captures the session next finds what no note
    says yet, and does not ask the model again for those lines: it would put the same
    thing in other words. What has a secret in it, or was purged, is not kept.
    """

    def __init__(self, memory: Memory, draft: Draft, checks: ProposalChecks) -> None:
        """Take what an earlier capture left, and what this one proposes."""
        self._memory = memory
        self._checks = checks
        self._transcript = draft.transcript
        self._is_asked = draft.requests > 0
        self._line = draft.transcript.last_line
        left = []
        if draft.left is not None:
            left = [proposal_of_json(text) for text in draft.left.proposals]
            self._line = self._line if self._is_asked else draft.left.line
        self.all = [*left, *draft.proposals]
        self._is_needed = self._is_asked or bool(left)

    def begin(self) -> None:
        """Keep all of them, before the first one is written."""
        if self._is_asked:
            self._keep(self.all)

    def drop_first(self, count: int) -> None:
        """Say that so many proposals are in a note, or are none."""
        self._keep(self.all[count:])

    def forget(self) -> None:
        """Keep nothing of a session that was purged."""
        Captures(self._memory.state()).drop({self._transcript.session})

    def end(self) -> None:
        """Say that all are, and up to which line the session was read."""
        if self._is_needed:
            transcript = self._transcript
            Captures(self._memory.state()).keep_line(
                transcript.agent,
                transcript.session,
                self._line,
                now_s=self._memory.clocks.now(),
            )

    def _keep(self, proposals: Iterable[Proposal]) -> None:
        transcript = self._transcript
        may_be_kept = self._checks.may_be_kept
        texts = [proposal_as_json(each) for each in proposals if may_be_kept(each)]
        if texts:  # the last one stays until ``end``: none left would mean none asked
            Captures(self._memory.state()).keep_draft(
                transcript.agent, transcript.session, self._line, texts
            )


def _write(
    memory: Memory, proposal: Proposal, new: NewMemory, why: str
) -> CapturedMemory:
    """Save a memory, or propose it; what a gate refuses is dropped."""
    try:
        try:
            saved = memory.save(new)
        except HivemindError:
            if new.is_proposal:
                raise
            # An active memory has the key: a person decides which one is right.
            why = "another memory is active under its key"
            saved = memory.save(replaced(new, is_proposal=True))
    except HivemindError as error:
        return CapturedMemory(proposal, DROPPED, mask(str(error)))
    if not saved.is_new:
        return CapturedMemory(proposal, DROPPED, f"{saved.path} says so already")
    outcome = SAVED if saved.status == "active" else PROPOSED
    return CapturedMemory(proposal, outcome, why, path=saved.path, id=saved.id)
