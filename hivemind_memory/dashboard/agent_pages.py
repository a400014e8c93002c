"""The pages about agents: what was injected, what they said and saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from hivemind_memory import opening
from hivemind_memory.dashboard.memory_pages import links_to
from hivemind_memory.dashboard.page import Page, PageCall, PageGroup, unless_missing
from hivemind_memory.dashboard.use import active_rows
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.inject.told_worktrees import list_told, why_told
from hivemind_memory.model.activity import ActivityQuery, SessionRow, number_of
from hivemind_memory.model.clocks import seconds_of
from hivemind_memory.model.injection_words import (
    LEFT_OUT_WORDS,
    SEARCHED_WORDS,
    reasons_text,
)
from hivemind_memory.model.memories import MemoryRow

MAX_SESSIONS = 50
MAX_SAID = 100

pages = PageGroup()


@pages.get("/injection")
def injection(call: PageCall) -> Page:
    """List the worktrees, or show what was injected into one of them and why."""
    if not call.memory.caller.is_member:
        raise Failure(404, "")
    worktree = call.query.get("worktree", "")
    if not worktree:
        records = list_told(call.memory)
        values = {"worktrees": [(_name_of(record), record) for record in records]}
        return Page(template="injection.html", values={**values, "record": None})
    injector = opening.open_injector(call.memory)
    record = why_told(call.memory, injector, worktree)
    if record is None:
        raise Failure(404, "")
    return Page(template="injection.html", values=_shown(call, record))


@pages.get("/sessions")
def sessions(call: PageCall) -> Page:
    """List the sessions of agents, or show one with the memories that it saved."""
    if not call.memory.caller.is_member:
        raise Failure(404, "")
    asked = call.query.get("session", "")
    saved: dict[str, list[MemoryRow]] = {}
    for row in _rows(call):
        if row.session:
            saved.setdefault(row.session, []).append(row)
    with opening.open_activity(call.memory) as activity:
        is_on = activity.status().is_on
        if asked:
            _, before = number_of(call.query.get("before", "")) or (False, 0)
            # One more than is shown: whether there are earlier ones.
            most = MAX_SAID + 1
            query = ActivityQuery(session=asked, before=before, max_results=most)
            found_hits = activity.search(query, budget_s=0).hits
            said = found_hits[:MAX_SAID]
            waiting = _waiting(call, asked)
            if not said and asked not in saved and not waiting:
                raise Failure(404, "")
            shown: dict[str, Any] = {"session": asked, "said": said[::-1]}
            shown |= {
                "saved": saved.get(asked, []),
                "earlier": said[-1].id if len(found_hits) > MAX_SAID else "",
                "is_newest": not before,
                "waiting": waiting,
            }
            return Page(template="session.html", values=shown)
        found = activity.sessions(ActivityQuery(max_results=MAX_SESSIONS))
    listed = _merged(found, saved)[:MAX_SESSIONS]
    return Page(template="sessions.html", values={"sessions": listed, "is_on": is_on})


def _merged(
    found: Sequence[SessionRow], saved: dict[str, list[MemoryRow]]
) -> list[dict[str, Any]]:
    """Return the sessions that are known by what was said or saved, newest first.

    Args:
        found: Those of transcripts and calls.
        saved: Session -> the memories that it saved, newest first.
    """
    known = {row.session for row in found}
    listed = [{"row": row, "name": row.session, "at": row.last_at} for row in found]
    listed += [
        {"row": None, "name": name, "at": rows[0].created}
        for name, rows in saved.items()
        if name not in known
    ]
    for session in listed:
        session["saved"] = saved.get(str(session["name"]), [])
    listed.sort(key=lambda session: seconds_of(str(session["at"])) or 0.0, reverse=True)
    return listed


def _rows(call: PageCall) -> Sequence[MemoryRow]:
    """Return the active memories; none where there are no notes."""
    return unless_missing(lambda: active_rows(call), ())


def _waiting(call: PageCall, session: str) -> int:
    """Return how many claims of a session wait in the inbox."""
    waiting = unless_missing(call.memory.curation.pending, ())
    return sum(claim.session == session for claim in waiting)


def _shown(call: PageCall, record: dict[str, Any]) -> dict[str, Any]:
    """Return what the page of a worktree shows."""
    every = (*record["memories"], *record["left_out"])
    links = links_to(call, {memory["path"] for memory in every})
    left_out: dict[str, list[dict[str, Any]]] = {}
    for memory in record["left_out"]:
        reason = LEFT_OUT_WORDS.get(memory["why"], memory["why"])
        left_out.setdefault(reason, []).append({**memory, **links[memory["path"]]})
    facets = {}
    for facet in record["facets"]:
        text = facet["text"] or SEARCHED_WORDS.get(facet["name"], "")
        facets[facet["name"], text] = facet["weight"]
    return {
        "record": record,
        "name": _name_of(record),
        "told": [
            {**memory, **links[memory["path"]], "reasons": reasons_text(memory)}
            for memory in record["memories"]
        ],
        "most_tokens": max([memory.get("tokens", 0) for memory in every] or [0]) or 1,
        "left_out": left_out,
        "facets": [(name, text, weight) for (name, text), weight in facets.items()],
    }


def _name_of(record: dict[str, Any]) -> str:
    """Return the last part of the path of a worktree."""
    return PurePath(record["worktree"]).name or str(record["worktree"])
