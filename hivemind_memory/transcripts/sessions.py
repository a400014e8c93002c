"""Lists the sessions of agents, and the clients and programs that left rows."""

from __future__ import annotations

from typing import NamedTuple

from hivemind_memory.model.activity import (
    TRANSCRIPT,
    SessionRow,
    first_id_at,
    ms_of_id,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import apsw

    from hivemind_memory.access.activity_rules import VisibleActivity
    from hivemind_memory.model.activity import ActivityQuery
    from hivemind_memory.state.activity_log import ActivityLog, ActivityRow

_SESSIONS = """
SELECT source, session, first_ms, last_ms, messages, scope, folder, path
FROM files WHERE messages > 0
"""


class FoundSession(NamedTuple):
    """A session with its times in ms since the epoch."""

    agent: str
    session: str
    first_ms: int
    last_ms: int
    messages: int
    project: str
    folder: str = ""
    file: str = ""
    kind: str = TRANSCRIPT


def transcript_sessions(
    connection: apsw.Connection, names: frozenset[str], visible: VisibleActivity
) -> list[FoundSession]:
    """Return the sessions whose messages are kept, of some agents."""
    rows = connection.execute(_SESSIONS)
    found = [FoundSession(*row) for row in rows]
    return [
        session
        for session in found
        if session.agent in names and visible.has(session.project, "")
    ]


def client_sessions(
    log: ActivityLog, query: ActivityQuery, visible: VisibleActivity
) -> list[FoundSession]:
    """Return the sessions of clients and programs that left rows.

    Raises:
        StateUnusableError: They cannot be read now.
    """
    groups: dict[tuple[str, str, str], list[ActivityRow]] = {}
    for row in log.newest(first_id_at(query.since_s)):
        if visible.has(row.project, row.workspace):
            groups.setdefault((row.agent, row.session, row.kind), []).append(row)
    return [
        FoundSession(
            agent=agent,
            session=session,
            first_ms=ms_of_id(rows[-1].id),
            last_ms=ms_of_id(rows[0].id),
            messages=len(rows),
            project=rows[0].project,
            kind=kind,
        )
        for (agent, session, kind), rows in groups.items()
    ]


def newest_sessions(
    found: Iterable[FoundSession],
    query: ActivityQuery,
    local_iso: Callable[[float], str],
) -> list[SessionRow]:
    """Return those that a query selects, the one that ended last first."""
    wanted = [
        session
        for session in found
        if session.last_ms >= query.since_s * 1000
        and query.agent in ("", session.agent)
    ]
    wanted.sort(key=lambda session: -session.last_ms)
    return [
        SessionRow(
            agent=session.agent,
            session=session.session,
            kind=session.kind,
            first_at=local_iso(session.first_ms / 1000),
            last_at=local_iso(session.last_ms / 1000),
            messages=session.messages,
            project=session.project,
            folder=session.folder,
            file=session.file,
        )
        for session in wanted[: query.max_results]
    ]
