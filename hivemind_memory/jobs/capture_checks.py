"""Checks what a language model proposed against the session, the memories, the files.

What passes goes through the gates of any save as well.
"""

from __future__ import annotations

from hivemind_memory.curation.refused_links import MODEL
from hivemind_memory.jobs.repository_texts import repository_parts
from hivemind_memory.jobs.unfounded import find_unfounded
from hivemind_memory.model.agents import SAVE_SURE
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.scope import GLOBAL
from hivemind_memory.model.trust import TOOL as FROM_TOOL
from hivemind_memory.redaction.redact import scrubbed
from hivemind_memory.search.similarity import share_in
from hivemind_memory.transcripts.message import TOOL, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.capture import Proposal, SessionLine, SessionTranscript
    from hivemind_memory.state.erased_messages import ErasedMessages

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


class ProposalChecks:
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
        start, end = proposal.start_line, proposal.end_line
        lines = f"lines {start} to {end}" if start < end else f"line {start}"
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

    def may_be_kept(self, proposal: Proposal) -> bool:
        """Return whether a proposal may be on the disk before a note says it."""
        if _has_secret(proposal) or self._are_lines_purged(proposal):
            return False
        state, scope = self._memory.state(), self._folder_of(proposal)
        return not state.has_tombstone(proposal.content, scope)

    def _why_dropped(self, proposal: Proposal) -> str:
        """Return why a proposal does not count; empty: it does."""
        content = proposal.content
        if proposal.confidence < MIN_CONFIDENCE:
            return "the model is not sure"
        if self._are_lines_purged(proposal):
            return "its lines were purged"
        if _has_secret(proposal):
            return "it has a secret in it"
        said = [line.text for line in self._transcript.lines]
        if missing := find_unfounded(content, said):
            return f"the session does not say {missing}"
        if any(share_in(content, part) >= _IN_REPOSITORY for part in self._repository):
            return "a file of the repository says so"
        scope = self._folder_of(proposal)
        curation = self._memory.curation
        return curation.says_already(proposal.key, content, scope=scope)

    def _are_lines_purged(self, proposal: Proposal) -> bool:
        """Return whether one of the messages that a proposal rests on was purged."""
        session = self._transcript.session
        return any(self._erased.has(session, m.text) for m in self._cited(proposal))

    def _why_waiting(self, proposal: Proposal, source: str) -> str:
        """Return why a person has to decide; empty: the memory may be saved at once."""
        cited = [line.text for line in self._cited(proposal)]
        if self._memory.settings.capture != SAVE_SURE:
            return "every proposal waits for you"
        if source == FROM_TOOL:
            return "it comes from the output of a tool"
        if proposal.confidence < SURE:
            return "the model is not sure enough"
        if self._folder_of(proposal) == GLOBAL:
            is_known = proposal.is_global or self._transcript.scope
            return "it would be global" if is_known else "its project is not known"
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


def _has_secret(proposal: Proposal) -> bool:
    """Return whether a proposal has a secret in it, or had one."""
    _, secrets = scrubbed(proposal.key, proposal.content)
    return bool(secrets) or "[redacted" in f"{proposal.key} {proposal.content}"
