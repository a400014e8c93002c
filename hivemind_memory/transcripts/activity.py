"""The class ``Activity``: what commands, tools and routes do with activity.

Transcripts come from ``transcripts.db``, calls and posted rows from ``state.db``; both
are found together, newest first. Nothing here is mixed into a search of the notes.
"""

from __future__ import annotations

import os

from hivemind_memory.access.activity_rules import visible_activity
from hivemind_memory.errors import HivemindError, MemoryNotFoundError
from hivemind_memory.model.activity import (
    CALL,
    ActivityAnswer,
    ActivityDetails,
    ActivityStatus,
    ReadReport,
    SourceStatus,
    first_id_at,
    number_of,
    public_id,
)
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.keys import no_such
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction import mask
from hivemind_memory.state.activity_log import ActivityLog
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.transcripts.find import (
    find_message,
    find_messages,
    make_text_test,
    messages_around,
    words_of_query,
)
from hivemind_memory.transcripts.hits import HitMaker
from hivemind_memory.transcripts.reading import read_quietly
from hivemind_memory.transcripts.sessions import (
    client_sessions,
    newest_sessions,
    transcript_sessions,
)
from hivemind_memory.transcripts.store import TranscriptStore
from hivemind_memory.transcripts.target import ReadTarget, lock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.files.places import Places
    from hivemind_memory.model.activity import ActivityQuery, SessionRow
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.state.activity_log import ActivityRow
    from hivemind_memory.state.state_file import StateFile
    from hivemind_memory.transcripts.find import FoundMessage
    from hivemind_memory.transcripts.sources import Source

ANSWER_BUDGET_S = 2.0
"""How long a search reads new transcripts before it answers."""

WHOLE_BUDGET_S = 24 * 3600.0
AROUND = 3
_BYTES_PER_MB = 1024 * 1024


class Activity:
    """The activity that one caller may see."""

    def __init__(
        self,
        places: Places,
        settings: Settings,
        clocks: Clocks,
        *,
        caller: Caller,
        state: StateFile,
        sources: Sequence[Source] = (),
        find_scope: Callable[[str], str] = lambda _folder: "",
    ) -> None:
        """Open nothing yet.

        Args:
            places: Where the files are.
            settings: The options.
            clocks: Tell the time.
            caller: Who asks.
            state: Holds calls and posted rows.
            sources: Agents whose transcripts are read.
            find_scope: Returns the scope of a folder's project; empty: not known.
        """
        self._places = places
        self._settings = settings
        self._clocks = clocks
        self._caller = caller
        self._state = state
        self._sources = tuple(sources)
        self._find_scope = find_scope
        self._visible = visible_activity(caller)
        self._log = ActivityLog(state)
        self._store = TranscriptStore(places.transcripts_file)
        self._hits = HitMaker(clocks.local_iso)

    def __enter__(self) -> Self:
        """Return the activity."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file of messages."""
        self.close()

    def close(self) -> None:
        """Close the file of messages; nothing is lost when this is not called."""
        self._store.close()

    # -- reading transcripts ---------------------------------------------------

    def read(self, budget_s: float = WHOLE_BUDGET_S) -> ReadReport:
        """Read what is new in the transcripts; raises nothing, see the report."""
        if not self._sources:
            return ReadReport()
        target = ReadTarget(
            store=self._store,
            lock_path=lock_of(self._places),
            erased=ErasedMessages(self._state),
            find_scope=self._find_scope,
            stopwatch=self._clocks.stopwatch,
            now_s=self._clocks.now(),
            days=self._settings.session_days,
            max_bytes=self._settings.session_max_mb * _BYTES_PER_MB,
        )
        return read_quietly(target, self._sources, budget_s=budget_s)

    # -- asking ----------------------------------------------------------------

    def search(
        self, query: ActivityQuery, *, budget_s: float = ANSWER_BUDGET_S
    ) -> ActivityAnswer:
        """Return what holds the words of a query, newest first.

        Args:
            query: Without words, the newest are returned.
            budget_s: How long new transcripts may be read first.

        Raises:
            HivemindError: The calls and rows cannot be read now.
        """
        warnings: list[str] = []
        found: list[FoundMessage] = []
        is_partial = False
        if self._sources and not query.workspace:
            warnings += _read_warnings(self.read(budget_s))
            names = tuple(source.name for source in self._sources)
            try:
                with self._store.opened() as connection:
                    found, is_partial = find_messages(
                        connection, replaced(query, sources=names), self._visible
                    )
            except HivemindError as error:
                warnings.append(f"Transcripts cannot be searched: {error}")
        words = words_of_query(query.text)
        rows = list(self._rows(query))
        is_partial = is_partial and not rows
        if rows and found and is_partial:
            found = []
        hits = [
            *((row.id, self._hits.of_row(row, words)) for row in rows),
            *((it.id, self._hits.of_message(it, words, it.text)) for it in found),
        ]
        hits.sort(key=lambda pair: -pair[0])
        return ActivityAnswer(
            hits=tuple(hit for _, hit in hits[: query.max_results]),
            is_partial=is_partial,
            warnings=tuple(warnings),
        )

    def show(self, public: str, around: int = AROUND) -> ActivityDetails:
        """Return a hit with all that is kept, and what was said around it.

        Args:
            public: Its id.
            around: How many messages before and after it.

        Raises:
            MemoryNotFoundError: The caller sees nothing of that id.
        """
        known = number_of(public)
        if known is not None and known[0] and self._store.is_there():
            with self._store.opened() as connection:
                found = find_message(connection, known[1], self._visible)
                if found is not None:
                    before, after = messages_around(connection, found, around)
                    return ActivityDetails(
                        hit=self._hits.of_message(found, None),
                        before=tuple(
                            self._hits.of_message(message, ()) for message in before
                        ),
                        after=tuple(
                            self._hits.of_message(message, ()) for message in after
                        ),
                    )
        elif known is not None and not known[0]:
            row = self._log.find(known[1])
            if row is not None and self._visible.has(row.project, row.workspace):
                return ActivityDetails(hit=self._hits.of_row(row, None))
        raise MemoryNotFoundError(
            no_such("activity", public),
            hint="`hm activity search` and `hm activity list` show ids.",
        )

    def sessions(self, query: ActivityQuery) -> list[SessionRow]:
        """Return the sessions of agents and the clients that called, newest first.

        Raises:
            HivemindError: They cannot be read now.
        """
        found = client_sessions(self._log, query, self._visible)
        if self._sources and self._store.is_there():
            names = frozenset(source.name for source in self._sources)
            with self._store.opened() as connection:
                found += transcript_sessions(connection, names, self._visible)
        return newest_sessions(found, query, self._clocks.local_iso)

    def status(self) -> ActivityStatus:
        """Return what is read, and how much is kept; reads nothing new."""
        counts: dict[str, tuple[int, int]] = {}
        problem, size = "", 0
        if self._store.is_there():
            size = os.stat(self._store.path).st_size
            sql = "SELECT source, count(*), sum(messages) FROM files GROUP BY source"
            try:
                with self._store.opened() as connection:
                    for name, files, messages in connection.execute(sql):
                        counts[str(name)] = int(files), int(messages)
            except HivemindError as error:
                problem = str(error)
        try:
            rows = self._log.count()
        except HivemindError:
            rows = 0  # whoever asks is told of a state.db that cannot be read
        return ActivityStatus(
            records_calls=self._settings.activity,
            rows=rows,
            sources=tuple(
                SourceStatus(
                    name=source.name,
                    folder=source.folder,
                    is_there=os.path.isdir(source.folder),
                    files=counts.get(source.name, (0, 0))[0],
                    messages=counts.get(source.name, (0, 0))[1],
                )
                for source in self._sources
            ),
            file=self._store.path if size else "",
            size_bytes=size,
            problem=problem,
        )

    # -- recording -------------------------------------------------------------

    def add(self, row: ActivityRow) -> str:
        """Keep a row of a call or of a program; return its id.

        Raises:
            StateUnusableError: It cannot be written now.
        """
        now_ms = int(self._clocks.now() * 1000)
        first_ms = now_ms - self._settings.session_days * SECONDS_PER_DAY * 1000
        return public_id(CALL, self._log.add(row, now_ms, first_ms))

    # -- inside ----------------------------------------------------------------

    def _rows(self, query: ActivityQuery) -> Iterator[ActivityRow]:
        """Yield the calls and rows that a query finds, newest first.

        They hold the whole question, or each of its words.
        """
        holds_question = make_text_test(query.text)
        left = query.max_results
        for row in self._log.newest(first_id_at(query.since_s)):
            if left <= 0:
                return
            if row.id >= query.before > 0:
                continue
            if not self._visible.has(row.project, row.workspace):
                continue
            if query.agent not in ("", row.agent):
                continue
            if query.session not in ("", row.session):
                continue
            if query.workspace not in ("", row.workspace):
                continue
            # What is masked finds nothing: it would tell what a secret is made of.
            if holds_question(row.text) and holds_question(mask(row.text)):
                left -= 1
                yield row


def _read_warnings(report: ReadReport) -> Iterator[str]:
    """Yield what an answer lacks, as sentences."""
    if report.is_busy:
        yield "Another process is reading the transcripts: the newest may be missing."
    if report.bytes_left:
        megabytes = report.bytes_left / _BYTES_PER_MB
        yield (
            f"{megabytes:,.1f} MB of transcripts are not read yet; each search reads"
            " on, and `hm sync` reads the rest."
        )
    yield from report.problems
