"""Captures a session: a language model proposes memories, and most of them wait.

The model is asked first and nothing is written meanwhile. Each proposal is then
checked against the transcript, the memories that there are, and the repository; what is
left goes through the gates of any save.
"""

from __future__ import annotations

from hivemind_memory.curation.refused_links import MODEL
from hivemind_memory.errors import HivemindError
from hivemind_memory.jobs.compare import may_be_sent
from hivemind_memory.jobs.proposals import (
    MAX_PROPOSALS,
    messages_about_session,
    proposal_schema,
    proposals_in,
)
from hivemind_memory.jobs.repository_texts import repository_parts
from hivemind_memory.jobs.session_windows import windows_of
from hivemind_memory.jobs.unfounded import find_unfounded
from hivemind_memory.model.agents import SAVE_SURE
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
from hivemind_memory.model.trust import TOOL as FROM_TOOL
from hivemind_memory.model.value import replaced, value
from hivemind_memory.redaction import mask
from hivemind_memory.redaction.redact import scrubbed
from hivemind_memory.search.similarity import share_in
from hivemind_memory.state.captures import Captures
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.transcripts.message import TOOL, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.capture import SessionLine, SessionTranscript
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.ports import Chat
    from hivemind_memory.transcripts.one_session import FoundSession, SessionReader

MIN_CONFIDENCE = 0.5
"""How sure the model must be for a proposal to count."""

SURE = 0.9
"""How sure it must be for a memory to be saved at once, if the options allow it."""

_SAID_IN_LINES = 0.3
"""Share of its words that a memory must have from its lines to be saved at once."""

_TAKEN_OVER = 0.7
"""Share of its words from which a memory is taken from a tool's output."""

_IN_REPOSITORY = 0.85
"""Share of its words from which a part of a file says what a memory says."""

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
    why: str = ""
    """Why the model was not asked; empty: it was."""


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
    after = Captures(memory.state()).line_of(agent, found.session)
    transcript = sessions.read(found, after)
    if why := _why_not(memory, sessions, transcript):
        return Draft(transcript=transcript, why=why)
    types = list(all_types(memory.settings.own_types()))
    proposals: dict[str, Proposal] = {}
    windows = windows_of(transcript.lines)
    for window in windows:
        known = list(_known_nearby(memory, transcript.scope, window))
        reply = chat.ask(
            messages_about_session(window, known),
            proposal_schema(types),
            timeout_s=memory.settings.llm_timeout_s,
        )
        for proposal in proposals_in(reply, window, types):
            proposals.setdefault(proposal.key.casefold(), proposal)
    ordered = sorted(proposals.values(), key=lambda each: -each.confidence)
    return Draft(
        transcript=transcript,
        proposals=tuple(ordered[:MAX_PROPOSALS]),
        requests=len(windows),
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
        StateUnusableError: How far the session was read cannot be kept.
    """
    transcript = draft.transcript
    erased = ErasedMessages(memory.state())
    erased.load()
    # It may have been purged while the model was asked.
    if not draft.why and erased.has(transcript.session, ""):
        draft = Draft(transcript=transcript, why=_PURGED)
    checks = _Checks(memory, transcript, erased)
    done = []
    for proposal in draft.proposals:
        new, why = checks.prepare(proposal, model=model)
        if new is None:
            done.append(CapturedMemory(proposal, DROPPED, why))
        elif is_dry_run:
            outcome = PROPOSED if new.is_proposal else SAVED
            done.append(CapturedMemory(proposal, outcome, why))
        else:
            done.append(_write(memory, proposal, new, why))
    if draft.requests and not is_dry_run:
        Captures(memory.state()).keep_line(
            transcript.agent,
            transcript.session,
            transcript.last_line,
            now_s=memory.clocks.now(),
        )
    return CaptureResult(
        agent=transcript.agent,
        session=transcript.session,
        scope=transcript.scope,
        lines_read=len({line.number for line in transcript.lines}),
        requests=draft.requests,
        memories=tuple(done),
        why=draft.why,
    )


def _why_not(
    memory: Memory, sessions: SessionReader, transcript: SessionTranscript
) -> str:
    """Return why nothing of a session is sent; empty: it may be."""
    settings = memory.settings
    if sessions.is_erased(transcript.session):
        return _PURGED
    said = sum(line.role != TOOL for line in transcript.lines)
    if said < _MIN_SAID or not any(line.role == USER for line in transcript.lines):
        return "nothing new was said"
    is_private = settings.visibility_of(transcript.scope, "") == "private"
    if is_private and not settings.llm_send_private:
        return f"{transcript.scope} is private, and llm_send_private is off"
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


class _Checks:
    """What a proposal of one session is checked against."""

    def __init__(
        self, memory: Memory, transcript: SessionTranscript, erased: ErasedMessages
    ) -> None:
        self._memory = memory
        self._erased = erased
        self._transcript = transcript
        self._parts: list[str] | None = None

    def prepare(
        self, proposal: Proposal, *, model: str
    ) -> tuple[NewMemory | None, str]:
        """Return what to save, and why it waits; or None, and why it is dropped."""
        if why := self._why_dropped(proposal):
            return None, why
        source = FROM_TOOL if self._is_from_tool(proposal) else "agent"
        why = self._why_waiting(proposal, source)
        transcript = self._transcript
        lines = f"lines {proposal.start_line} to {proposal.end_line}"
        new = NewMemory(
            key=proposal.key,
            content=proposal.content,
            type=proposal.type,
            scope=self._scope_of(proposal),
            source=source,
            by=f"{MODEL}: {model}",
            session=transcript.session,
            source_ref=f"transcript of {transcript.agent}, {lines}",
            is_proposal=bool(why),
        )
        return new, why

    def _why_dropped(self, proposal: Proposal) -> str:
        """Return why a proposal does not count; empty: it does."""
        content = proposal.content
        if proposal.confidence < MIN_CONFIDENCE:
            return f"the model is not sure ({proposal.confidence:g})"
        session = self._transcript.session
        if any(self._erased.has(session, each.text) for each in self._cited(proposal)):
            return "its lines were purged"
        _, secrets = scrubbed(proposal.key, content)
        if secrets or "[redacted" in content or "[redacted" in proposal.key:
            return "it has a secret in it"
        said = [line.text for line in self._transcript.lines]
        if missing := find_unfounded(content, said):
            return f"the session does not say {missing}"
        if any(share_in(content, part) >= _IN_REPOSITORY for part in self._repository):
            return "a file of the repository says so"
        scope = self._folder_of(proposal)
        curation = self._memory.curation
        return curation.says_already(proposal.key, content, scope=scope)

    def _why_waiting(self, proposal: Proposal, source: str) -> str:
        """Return why a person has to decide; empty: the memory may be saved at once."""
        cited = [line.text for line in self._cited(proposal)]
        if self._memory.settings.capture != SAVE_SURE:
            return "capture is not set to save"
        if source == FROM_TOOL:
            return "it comes from the output of a tool"
        if proposal.confidence < SURE:
            return f"the model is not sure enough ({proposal.confidence:g})"
        if proposal.is_global and self._transcript.scope:
            return "it would be global"
        is_said = share_in(proposal.content, " ".join(cited)) >= _SAID_IN_LINES
        if find_unfounded(proposal.content, cited) or not is_said:
            return "its lines do not say all of it"
        return ""

    def _is_from_tool(self, proposal: Proposal) -> bool:
        """Return whether a text rests on, or repeats, what a tool put out."""
        if any(line.role == TOOL for line in self._cited(proposal)):
            return True
        transcript = self._transcript
        said = [line.text for line in transcript.lines if line.role == USER]

        def is_in(texts: Iterable[str]) -> bool:
            return any(share_in(proposal.content, t) >= _TAKEN_OVER for t in texts)

        return is_in(transcript.tool_texts) and not is_in(said)

    def _cited(self, proposal: Proposal) -> Iterable[SessionLine]:
        """Return the messages that a proposal rests on."""
        return [
            line
            for line in self._transcript.lines
            if proposal.start_line <= line.number <= proposal.end_line
        ]

    @property
    def _repository(self) -> list[str]:
        """Parts of the files that every agent of the repository reads anyway."""
        if self._parts is None:
            self._parts = repository_parts(self._transcript.folder)
        return self._parts

    def _folder_of(self, proposal: Proposal) -> str:
        """Return the folder of the scope of a proposal, by the rule of any save."""
        is_global = self._memory.settings.default_scope == "global"
        if proposal.is_global or is_global:
            return GLOBAL
        return self._transcript.scope

    def _scope_of(self, proposal: Proposal) -> str:
        """Return the name of its scope."""
        return self._folder_of(proposal) or "global"


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
