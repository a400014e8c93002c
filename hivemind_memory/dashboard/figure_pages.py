"""The page of figures: how a memory grows, and what it is used for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from hivemind_memory.dashboard.page import Page, PageCall, PageGroup, unless_missing
from hivemind_memory.dashboard.use import rows_in_effect, sent_of, times_of, use_of
from hivemind_memory.model.memories import ACTIVE, SUPERSEDED, MemoryRow

DAYS = 60
_MOST = 8

pages = PageGroup()


@pages.get("/figures")
def figures(call: PageCall) -> Page:
    """Show what the memory holds, and how it grows."""
    lists, clocks = call.memory.lists, call.memory.clocks
    today = date.fromisoformat(clocks.local_iso(clocks.now())[:10])
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    by_day: dict[tuple[Any, ...], int] = {}
    by_status: dict[tuple[Any, ...], int] = {}
    rows: Sequence[MemoryRow] = ()
    if call.memory.caller.is_member:
        by_day = unless_missing(lambda: lists.count("day"), {})
        by_status = unless_missing(lambda: lists.count("status"), {})
        rows = unless_missing(lambda: rows_in_effect(call), ())
    growth = [(day.isoformat(), by_day.get((day.isoformat(),), 0)) for day in days]
    scopes = Counter(row.scope for row in rows)
    types = Counter(row.type for row in rows)
    sources = Counter(row.source or "unknown" for row in rows)
    is_owner = call.memory.caller.scopes is None
    times = times_of(call)
    values = {
        "growth": growth,
        "most_a_day": max(count for _, count in growth),
        "by_type": types.most_common(),
        "by_source": sources.most_common(),
        "by_scope": scopes.most_common(_MOST),
        "memories": len(rows),
        "versions": sum(by_status.get((status,), 0) for status in (ACTIVE, SUPERSEDED)),
        # Sizes are of all notes, so only their owner is told.
        "size": unless_missing(lambda: call.memory.status(is_updated=True), None)
        if is_owner
        else None,
        **use_of(call, rows),
        "times": times,
        "slowest": max((day["p95"] for day in times), default=0),
        "sent": sent_of(call) if is_owner else None,
    }
    return Page(template="figures.html", values=values)
