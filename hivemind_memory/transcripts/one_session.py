"""Finds the transcript of one session, and reads it where its agent keeps it.

Nothing of it is kept. What is read is what ``transcripts.db`` would hold: no secrets,
no injected section, no answers of our own tools, nothing that was purged.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from itertools import islice

from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.places import find_above
from hivemind_memory.model.capture import SessionLine, SessionTranscript
from hivemind_memory.model.value import value
from hivemind_memory.transcripts.kept_text import kept_text
from hivemind_memory.transcripts.line_file import ReadPlace, lines_after
from hivemind_memory.transcripts.message import TOOL, USER, FileState
from hivemind_memory.transcripts.opencode_parts import newest_sessions, session_parts
from hivemind_memory.transcripts.sources import DatabaseSource, LineSource, find_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hivemind_memory.state.erased_messages import ErasedMessages
    from hivemind_memory.transcripts.message import Message
    from hivemind_memory.transcripts.sources import Source

MAX_FILES = 2_000
"""Transcripts of an agent that are looked at for a session, the newest first."""

_HEAD_LINES = 40
"""Lines within which a transcript names its session and folder."""

_TOOL_CHARS = 64_000
_PART_CHARS, _PART_STEP = 2_000, 1_400
"""How much of a tool's output is compared with proposals, and in which parts."""

_LONGEST_ID = 200
_FEWEST_TYPED = 4
"""Characters of an id that a person has to type."""

_MAX_NAMED = 5
_SHORT_ID = 8
"""Characters of a session's id that the name of its file has, if it has not all."""


@value
class FoundSession:
    """A session whose transcript was found."""

    source: Source
    session: str
    folder: str
    path: str
    mtime_ns: int
    """When it was last changed."""


class SessionReader:
    """Finds and reads the sessions of a user's agents."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        find_scope: Callable[[str], str],
        erased: ErasedMessages,
        claim_scope: Callable[[str], str] | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            sources: The agents.
            find_scope: Returns the scope of a folder's project; empty: it is not known.
            erased: What was purged.
            claim_scope: Does so for a session that is read, and registers a project
                that is new; None: registers none.
        """
        self._sources = tuple(sources)
        self._find_scope = find_scope
        self._claim_scope = claim_scope or find_scope
        self._erased = erased

    def find(
        self, session: str, *, agent: str = "", is_typed: bool = False
    ) -> FoundSession:
        """Return the session with an id.

        Args:
            session: Its id, as its agent gives it.
            agent: Whose session it is; empty: any agent's.
            is_typed: The beginning of the id is enough, if no other id begins so.

        Raises:
            MemoryNotFoundError: No transcript of it is there.
            UsageError: Several ids begin so.
        """
        wanted = session.strip()
        is_part = is_typed and len(wanted) >= _FEWEST_TYPED
        begun: dict[str, FoundSession] = {}
        if wanted and len(wanted) <= _LONGEST_ID and wanted.isprintable():
            for source in self._sources:
                if agent in ("", source.name):
                    for found in _sessions_of(source, wanted):
                        if found.session == wanted:
                            return found
                        if is_part and found.session.startswith(wanted):
                            begun[found.session] = found
        if len(begun) == 1:
            return begun.popitem()[1]
        if begun:
            names = ", ".join(islice(begun, _MAX_NAMED))
            message = f"{len(begun)} sessions begin with {wanted[:60]!r}."
            raise UsageError(message, hint=f"Type more of one of these ids: {names}")
        raise MemoryNotFoundError(
            f"There is no transcript of the session {wanted[:60]!r}.",
            hint="`hm capture --last` takes the latest. Most agents name a session's"
            " transcript after its id.",
        )

    def newest(self, scope: str, top: str = "") -> FoundSession:
        """Return the session that was changed last.

        Args:
            scope: Of its project; empty: of any, or none.
            top: Folder of a repository whose sessions count too, known or not.

        Raises:
            MemoryNotFoundError: There is none.
        """
        best: FoundSession | None = None
        for source in self._sources:
            for found in _sessions_of(source):
                if best is not None and found.mtime_ns <= best.mtime_ns:
                    break
                if not scope or self._is_in(found.folder, scope, top):
                    best = found
                    break
        if best is not None:
            return best
        where = f" in {scope}" if scope else ""
        raise MemoryNotFoundError(
            f"There is no transcript of a session{where}.",
            hint="Name the session, or run the command where it worked.",
        )

    def _is_in(self, folder: str, scope: str, top: str) -> bool:
        """Return whether a folder is in a project, or in a repository."""
        if not folder:
            return False
        if top and find_above(os.path.realpath(folder), ".git") == top:
            return True
        return self._find_scope(folder) == scope

    def is_erased(self, session: str) -> bool:
        """Return whether a session was purged as a whole."""
        self._erased.load()
        return self._erased.has(session, "")

    def count_prompts(
        self, agent: str, transcript: str, *, most: int
    ) -> tuple[int, float]:
        """Return how many messages of the user a transcript has, and when it began.

        Args:
            agent: Whose transcript it is.
            transcript: The file, as the agent names it.
            most: So many are enough; the rest is not read.

        Returns:
            The number, and seconds since the epoch; 0: unknown.
        """
        count, began_at_s = 0, 0.0
        sources = [source for source in self._sources if source.name == agent]
        with suppress(OSError, ValueError):
            for source in sources:
                if not isinstance(source, LineSource):
                    continue
                state = FileState()
                for _, at_s, messages in _messages_in_file(source, transcript, state):
                    began_at_s = began_at_s or at_s
                    count += any(message.role == USER for message in messages)
                    if count >= most:
                        return count, began_at_s
        return count, began_at_s

    def read(self, found: FoundSession, after_line: int = 0) -> SessionTranscript:
        """Return what was said in a session after some line.

        Raises:
            MemoryNotFoundError: The transcript cannot be read.
        """
        self._erased.load()
        source = found.source
        state = FileState()
        lines: list[SessionLine] = []
        tool_texts: list[str] = []
        last, began_at_s = 0, 0.0
        pairs = (
            _messages_in_database(source, found.session)
            if isinstance(source, DatabaseSource)
            else _messages_in_file(source, found.path, state)
        )
        try:
            for number, at_s, messages in pairs:
                last = number
                for message in messages:
                    began_at_s = began_at_s or at_s
                    if message.role == TOOL:
                        tool_texts += _parts_of(message.text)
                    if number <= after_line:
                        continue
                    text = kept_text(message.text, message.role)
                    if text and not self._erased.has(found.session, text):
                        lines.append(SessionLine(number, message.role, text))
        except OSError as error:
            raise MemoryNotFoundError(
                f"{found.path} cannot be read: {reason_of(error)}."
            ) from error
        return SessionTranscript(
            agent=source.name,
            session=found.session,
            folder=found.folder,
            scope=self._claim_scope(found.folder) if found.folder else "",
            last_line=last,
            lines=tuple(lines),
            tool_texts=tuple(tool_texts),
            began_at_s=began_at_s,
        )


def _parts_of(text: str) -> Iterator[str]:
    """Yield overlapping parts of what a tool put out, with its secrets."""
    for start in range(0, min(len(text), _TOOL_CHARS), _PART_STEP):
        yield text[start : start + _PART_CHARS]


def _sessions_of(source: Source, wanted: str = "") -> Iterator[FoundSession]:
    """Yield the sessions of an agent, the one that was changed last first.

    Args:
        source: The agent.
        wanted: Id of the only session that matters; empty: all do.
    """
    if isinstance(source, DatabaseSource):
        if os.path.isfile(source.path):
            for session, folder, updated_ms in newest_sessions(source.path):
                yield FoundSession(
                    source=source,
                    session=session,
                    folder=folder,
                    path=source.path,
                    mtime_ns=updated_ms * 1_000_000,
                )
        return
    files = sorted(find_files(source), key=lambda file: -file.mtime_ns)[:MAX_FILES]
    if wanted:
        # Most agents name a file after its session: those are looked at first.
        short = wanted[:_SHORT_ID]
        files.sort(key=lambda file: short not in os.path.basename(file.path))
    for file in files:
        state = _read_head(source, file.path)
        if state.session:
            yield FoundSession(
                source=source,
                session=state.session,
                folder=state.folder,
                path=file.path,
                mtime_ns=file.mtime_ns,
            )


def _read_head(source: LineSource, path: str) -> FileState:
    """Return what the first lines of a transcript say of its session."""
    state = FileState()
    if source.folder_of is not None:
        state.folder = source.folder_of(path)
    with suppress(OSError):
        for number, _, _ in _messages_in_file(source, path, state):
            if (state.session and state.folder) or number >= _HEAD_LINES:
                break
    return state


def _messages_in_file(
    source: LineSource, path: str, state: FileState
) -> Iterator[tuple[int, float, list[Message]]]:
    """Yield number, time and messages of the lines of a transcript."""
    with open(path, "rb", opener=open_regular) as file:
        for line in lines_after(file, ReadPlace()):
            messages: list[Message] = []
            if any(mark in line.data for mark in source.marks):
                with suppress(ValueError, RecursionError):
                    record = json.loads(line.data)
                    if isinstance(record, dict):
                        messages = list(source.read_record(record, state))
            yield line.number, state.at_s, messages


def _messages_in_database(
    source: DatabaseSource, session: str
) -> Iterator[tuple[int, float, list[Message]]]:
    """Yield number, time and messages of the parts of a session."""
    for number, part in enumerate(session_parts(source.path, session), 1):
        yield number, part.created_ms / 1000, list(part.messages)
