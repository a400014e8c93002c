"""Counts the use of memories for the page of figures: by week, type and agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hivemind_memory import opening
from hivemind_memory.dashboard.page import PageCall
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.activity import ActivityQuery
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.memories import ACTIVE, MemoryRow
from hivemind_memory.state.recall_log import RecallLog

WEEKS = 12
SHADES = 5
MAX_SESSIONS = 200


NO_USE: dict[str, Any] = {"heat": [], "recalls": [], "weeks": 0, "agents": []}


def active_rows(call: PageCall) -> Sequence[MemoryRow]:
    """Return the active memories that the reader may see, newest first.

    Raises:
        NotesMissingError: There is no notes folder.
    """
    lists = call.memory.lists
    return lists.kept(
        "active", lambda: [row for row in lists.memories() if row.status == ACTIVE]
    )


def use_of(call: PageCall) -> dict[str, Any]:
    """Return how often memories were recalled, and when last.

    The counters know the last recall of each memory only, so the map shows which of
    them are in use, not every recall.

    Raises:
        NotesMissingError: There is no notes folder.
    """
    rows = active_rows(call)
    refs = [(row.scope, row.memory_id) for row in rows if row.memory_id]
    counts = RecallLog(call.memory.state()).counts(refs)
    now = call.memory.clocks.now()
    recalls: Counter[str] = Counter()
    cells: Counter[tuple[str, int]] = Counter()
    never: Counter[str] = Counter()
    for row in rows:
        kind = row.type or "note"
        count, last = counts.get((row.scope, row.memory_id), (0, 0))
        recalls[kind] += count
        back = int((now - last) // (7 * SECONDS_PER_DAY))
        if count and 0 <= back < WEEKS:
            cells[kind, WEEKS - 1 - back] += 1
        elif not count:
            never[kind] += 1
    most = max(cells.values(), default=0)
    kinds = [
        kind for kind, _ in Counter(row.type or "note" for row in rows).most_common()
    ]
    heat = [
        (
            kind,
            [
                (cells[kind, week], _shade(cells[kind, week], most))
                for week in range(WEEKS)
            ],
            never[kind],
        )
        for kind in kinds
    ]
    used = [(kind, count) for kind, count in recalls.most_common() if count]
    return {
        "heat": heat,
        "recalls": used,
        "weeks": WEEKS,
        "agents": _agents(call, rows),
    }


def _shade(number: int, most: int) -> int:
    """Return how dark a cell is, 0..``SHADES``; 0 is nothing."""
    return -(-number * SHADES // most) if most else 0


def _agents(call: PageCall, rows: Sequence[MemoryRow]) -> list[dict[str, Any]]:
    """Return what is kept of each agent, the one with the most messages first."""
    left = Counter(row.session for row in rows if row.session)
    agents: dict[str, dict[str, Any]] = {}
    try:
        with opening.open_activity(call.memory) as activity:
            found = activity.sessions(ActivityQuery(max_results=MAX_SESSIONS))
    except HivemindError:
        return []
    for session in found:
        agent = agents.setdefault(
            session.agent,
            {"name": session.agent, "sessions": 0, "messages": 0, "memories": 0},
        )
        agent["sessions"] += 1
        agent["messages"] += session.messages
        agent["memories"] += left[session.session]
    return sorted(agents.values(), key=lambda agent: -agent["messages"])
