"""Counts the use of memories for the page of figures: by day, week, type and agent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import Any

from hivemind_memory import opening
from hivemind_memory.access.activity_rules import visible_activity
from hivemind_memory.curation.status_names import status_name
from hivemind_memory.dashboard.page import PageCall
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.activity import ActivityQuery, SessionRow
from hivemind_memory.model.agents import own_name
from hivemind_memory.model.memories import ACTIVE, STATUSES, MemoryRow
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.use_days import UseDays, percentile_ms

WEEKS = 12
WEEKDAYS = ("Mon", "", "Wed", "", "Fri", "", "Sun")
"""As they stand beside the calendar; the others are between them."""

MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
SHADES = 5
MAX_SESSIONS = 200
MAX_AGENTS = 20
_DAYS = 7 * WEEKS
_MIN_WEEKS = 3
_EPOCH = date(1970, 1, 1)


def active_rows(call: PageCall) -> Sequence[MemoryRow]:
    """Return the active memories that the reader may see, newest first.

    Raises:
        NotesMissingError: There is no notes folder.
    """
    lists = call.memory.lists
    return lists.kept(
        "active", lambda: [row for row in lists.memories() if row.status == ACTIVE]
    )


def rows_in_effect(call: PageCall) -> Sequence[MemoryRow]:
    """Return those of the active memories that are not expired, done or replaced.

    Raises:
        NotesMissingError: There is no notes folder.
    """
    today = call.memory.clocks.today()

    def read() -> list[MemoryRow]:
        replaced = call.memory.curation.replaced_paths()
        return [
            row
            for row in active_rows(call)
            if status_name(row, today) == STATUSES[ACTIVE] and row.path not in replaced
        ]

    return call.memory.lists.kept(("in effect", today), read)


def use_of(call: PageCall, rows: Sequence[MemoryRow]) -> dict[str, Any]:
    """Return every recall that the reader may know of, by day, week, type and agent.

    Args:
        call: Who reads.
        rows: The active memories that they may see.
    """
    today = call.memory.clocks.today()
    days = UseDays(call.memory.state())
    found = days.recalls(visible_activity(call.memory.caller).has, today - _DAYS + 1)
    by_day, by_agent = Counter[int](), Counter[str]()
    by_type, cells = Counter[str](), Counter[tuple[str, int]]()
    for (day, agent, name), count in found.items():
        if not _is_past(day, today):
            continue
        kind = name or "note"
        by_day[day] += count
        by_agent[own_name(agent)] += count
        by_type[kind] += count
        cells[kind, WEEKS - 1 - (today - day) // 7] += count
    never = _count_unused(call, rows)
    most = max(cells.values(), default=0)
    kinds = [*dict.fromkeys((*(kind for kind, _ in by_type.most_common()), *never))]
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
    return {
        "heat": heat,
        "weeks": WEEKS,
        "calendar": _calendar(by_day, today),
        "recalled": by_day.total(),
        "agents": _agents(call, rows, by_agent),
    }


def _count_unused(call: PageCall, rows: Sequence[MemoryRow]) -> Counter[str]:
    """Return how many memories of each type were never recalled."""
    refs = [(row.scope, row.memory_id) for row in rows if row.memory_id]
    counts = RecallLog(call.memory.state()).counts(refs)
    return Counter(
        row.type or "note" for row in rows if (row.scope, row.memory_id) not in counts
    )


def _calendar(by_day: Counter[int], today: int) -> dict[str, Any]:
    """Return the days of the past weeks as columns of seven, Monday first."""
    most = max(by_day.values(), default=0)
    first = today - _DAYS + 1
    offset = _date_of(first).weekday()
    cells: list[dict[str, Any]] = [
        {
            "day": _date_of(day).isoformat(),
            "count": by_day[day],
            "shade": _shade(by_day[day], most),
            "week": (day - first + offset) // 7,
            "weekday": (day - first + offset) % 7,
        }
        for day in range(first, today + 1)
    ]
    months: dict[str, int] = {}
    for cell in cells:
        months.setdefault(cell["day"][:7], cell["week"])
    named = [(_month_name(month), week) for month, week in months.items()]
    return {
        "cells": cells,
        "most": most,
        "weeks": cells[-1]["week"] + 1,
        # Of two that begin within three weeks the first name would run into the next.
        "months": [
            (name, week)
            for (name, week), (_, next_week) in zip(
                named, [*named[1:], ("", math.inf)], strict=True
            )
            if next_week - week >= _MIN_WEEKS
        ],
        "weekdays": WEEKDAYS,
    }


def times_of(call: PageCall) -> list[dict[str, Any]]:
    """Return how long searches took on each day that had some, oldest first."""
    today = call.memory.clocks.today()
    may_find = visible_activity(call.memory.caller).has
    found = UseDays(call.memory.state()).searches(may_find, today - _DAYS + 1)
    return [
        {
            "day": _date_of(day).isoformat(),
            "at": day - today + _DAYS - 1,
            "count": steps.total(),
            "p50": percentile_ms(steps, 0.5),
            "p95": percentile_ms(steps, 0.95),
        }
        for day, steps in sorted(found.items())
        if _is_past(day, today)
    ]


def sent_of(call: PageCall) -> dict[str, Any]:
    """Return what embedding providers got, by provider and by day."""
    today = call.memory.clocks.today()
    totals: dict[str, tuple[int, int]] = {}
    by_day = Counter[int]()
    sent = UseDays(call.memory.state()).sent(today - _DAYS + 1)
    for (day, provider), (texts, characters) in sent.items():
        if not _is_past(day, today):
            continue
        before = totals.get(provider, (0, 0))
        totals[provider] = before[0] + texts, before[1] + characters
        by_day[day] += characters
    return {
        "providers": sorted(totals.items(), key=lambda total: -total[1][1]),
        "days": [
            (_date_of(day).isoformat(), day - today + _DAYS - 1, by_day[day])
            for day in sorted(by_day)
        ],
        "most": max(by_day.values(), default=0),
    }


def _is_past(day: int, today: int) -> bool:
    """Return whether a day can have been: a clock that was ahead counted later ones.

    Tomorrow can: it is that already in another time zone.
    """
    return day <= today + 1


def _date_of(day: int) -> date:
    """Return a day by its number since 1970-01-01."""
    return _EPOCH + timedelta(days=day)


def _month_name(month: str) -> str:
    """Return the short English name of a month, ``2026-11``."""
    return MONTHS[int(month[5:]) - 1]


def _shade(number: int, most: int) -> int:
    """Return how dark a cell is, 0..``SHADES``; 0 is nothing."""
    return -(-number * SHADES // most) if most else 0


def _agents(
    call: PageCall, rows: Sequence[MemoryRow], by_agent: Counter[str]
) -> list[dict[str, Any]]:
    """Return what is known of each agent, the one that recalls the most first."""
    left = Counter(row.session for row in rows if row.session)
    nothing = {"sessions": 0, "messages": 0, "memories": 0}
    agents: dict[str, dict[str, Any]] = {
        name: {"name": name, "recalls": count, **nothing}
        for name, count in by_agent.items()
    }
    found: Sequence[SessionRow] = ()
    with suppress(HivemindError), opening.open_activity(call.memory) as activity:
        found = activity.sessions(ActivityQuery(max_results=MAX_SESSIONS))
    for session in found:
        name = own_name(session.agent)
        agent = agents.setdefault(name, {"name": name, "recalls": 0, **nothing})
        agent["sessions"] += 1
        agent["messages"] += session.messages
        agent["memories"] += left[session.session]
    order = sorted(
        agents.values(), key=lambda agent: (-agent["recalls"], -agent["messages"])
    )
    return order[:MAX_AGENTS]
