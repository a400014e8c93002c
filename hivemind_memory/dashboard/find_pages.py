"""The page on which memories are found: a search as one types, filters, a briefing.

While someone types, the script asks for the results alone (``PageCall.part``). Such
an answer has what the eye follows, and leaves out what waits until the typing ends: the
briefing, the counts of the filters and the parts of the scores. It counts no recall
either: a half-typed word is no question.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from hivemind_memory.context.briefing import find_briefing
from hivemind_memory.dashboard.memory_pages import (
    address_of,
    disputed_in,
    without_secrets,
)
from hivemind_memory.dashboard.page import (
    CHANGED,
    ROOT,
    SETTLED,
    TYPED,
    Page,
    PageCall,
    PageGroup,
    number_of,
)
from hivemind_memory.dashboard.render import words_of
from hivemind_memory.errors import NotesMissingError, UsageError
from hivemind_memory.model.briefing import Briefing
from hivemind_memory.model.filters import DEFAULT_FILTER
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.memories import NEUTRAL_IMPORTANCE
from hivemind_memory.model.memory_types import all_types
from hivemind_memory.model.query import Query
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.trust import SOURCES

PAGE_SIZE = 50
MAX_HITS = 20
ALL = "all"
STATUSES = ("active", "superseded", "pending", "forgotten", "expired", "done", ALL)

pages = PageGroup()


@pages.get("")
def find(call: PageCall) -> Page:
    """Show the memories, or what a question finds."""
    asked = {name: call.query.get(name, "").strip() for name in ("q", *_FILTERS)}
    # A form sends what is chosen already, which is nothing else that is asked for.
    asked |= {name: "" for name, usual in _USUAL.items() if asked[name] == usual}
    status = asked["status"] or _USUAL["status"]
    if status not in STATUSES:
        raise UsageError(
            f"There is no status {status!r}. It must be one of {_STATUS_LIST}."
        )
    values: dict[str, Any] = {"asked": asked, "status": status, "words": []}
    if call.part and asked["q"]:
        values |= {"is_empty": False, "newest_scope": ""}
    else:
        values |= _choices(call)
        values["is_empty"] &= not any(asked.values())
    # A search ranks what is active; what is not is listed if it has all the words.
    is_search = bool(asked["q"]) and status in {_USUAL["status"], ALL}
    values |= _hits(call, asked) if is_search else _list(call, asked, status)
    values["briefing"] = _briefing(call, asked, values["newest_scope"])
    values |= {"is_typed": call.part == TYPED, "is_changed": call.part == CHANGED}
    return Page(template="results.html" if call.part else "find.html", values=values)


_FILTERS = ("type", "scope", "status", "source", "since", "page")
_USUAL = {"status": "active", "page": "1"}
"""What is asked for where a field is empty."""

_STATUS_LIST = ", ".join(STATUSES)


def _choices(call: PageCall) -> dict[str, Any]:
    """Return what the filters offer: types with their numbers, and scopes."""
    counts, newest, types = {}, None, {}
    if call.memory.caller.is_member:
        with suppress(NotesMissingError):
            counts = call.memory.lists.count("scope")
            newest = call.memory.lists.newest_scope()
            replaced = call.memory.curation.replaced_paths()
            today = call.memory.clocks.today()
            types = call.memory.lists.count_types(today, replaced)
    known = [name for name in all_types(call.memory.settings.own_types()) if name]
    return {
        "types": [(name, types[name]) for name in known if name in types],
        "scopes": _grouped({scope_text(scope) for (scope,) in counts}),
        "statuses": STATUSES,
        "sources": SOURCES,
        "newest_scope": scope_text(newest) if newest is not None else "",
        "is_empty": not counts,
    }


_GROUPS = {
    "projects": "Projects",
    "teams": "Teams",
    "workspaces": "Workspaces",
}
"""Folder of a kind of scope -> the name under which a filter lists its scopes."""


def _grouped(scopes: Collection[str]) -> dict[str, list[str]]:
    """Return scopes under the names of their kinds; those of no kind come first.

    >>> _grouped({"teams/red", "global", "projects/b", "projects/a"})
    {'': ['global'], 'Projects': ['projects/a', 'projects/b'], 'Teams': ['teams/red']}
    """
    groups: dict[str, list[str]] = {"": [], **{name: [] for name in _GROUPS.values()}}
    for scope in sorted(scopes):
        groups[_GROUPS.get(scope.partition("/")[0], "")].append(scope)
    return {name: found for name, found in groups.items() if found}


def _briefing(
    call: PageCall, asked: dict[str, str], newest_scope: str
) -> Briefing | None:
    """Return what is shown above the list: the briefing of the chosen scope.

    Without one, of the scope in which something was saved last. None: something else
    is asked for, or a visitor asks.
    """
    others = {name: text for name, text in asked.items() if name != "scope"}
    scope = asked["scope"] or newest_scope
    if any(others.values()) or not scope or not call.memory.caller.is_member:
        return None
    try:
        return call.memory.lists.kept(
            ("briefing", scope, call.memory.clocks.today()),
            lambda: find_briefing(call.memory, scope),
        )
    except NotesMissingError:
        return None


def _hits(call: PageCall, asked: dict[str, str]) -> dict[str, Any]:
    """Return what a question finds."""
    names = ("scope", "source", "since")
    narrowing: dict[str, Any] = {name: asked[name] for name in names if asked[name]}
    if asked["status"] == ALL:
        narrowing |= {"inbox": True, "expired": True}
    if asked["type"]:
        narrowing["types"] = asked["type"]
    query = Query(
        text=asked["q"],
        max_results=MAX_HITS,
        should_explain=call.part != TYPED,
        search_filter=call.memory.parse_filter(**narrowing)
        if narrowing
        else DEFAULT_FILTER,
    )
    try:
        # While someone types, the index answers as it is: the watcher of the server
        # keeps it current, and the answer once the typing has ended compares all notes.
        answer = call.memory.search(query, is_fresh=call.part != TYPED)
    except NotesMissingError as error:
        return {"hits": [], "report": None, "why_empty": str(error)}
    is_asked = call.part in {"", SETTLED} and not call.client.is_visitor
    if is_asked and not answer.is_unknown:
        call.memory.record_recall(
            answer, "" if call.client.is_person else call.client.name
        )
    return {
        "hits": answer.hits,
        "report": answer.report,
        "is_unknown": answer.is_unknown,
        "why_empty": answer.report.why_empty,
        "words": words_of(asked["q"]),
    }


def _list(call: PageCall, asked: dict[str, str], status: str) -> dict[str, Any]:
    """Return one page of the memories that fit."""
    number = number_of(call, "page")
    wanted = MemoryFilter(
        types=(asked["type"],) if asked["type"] else (),
        scope=asked["scope"],
        since=asked["since"],
        source=asked["source"],
        statuses=STATUSES[:-1] if status == ALL else (status,),
        words=asked["q"],
    )
    offset = min(number - 1, 1_000_000) * PAGE_SIZE
    try:
        page = call.memory.curation.list_page(wanted, offset=offset, limit=PAGE_SIZE)
    except NotesMissingError:
        return {"hits": None, "rows": [], "total": 0, "number": 1, "last": 1}
    recalls = call.memory.curation.recalls(page.memories)
    disputed = disputed_in(call)
    types = all_types(call.memory.settings.own_types())
    usual = {name: kind.importance for name, kind in types.items()}
    rows = [
        {
            "memory": without_secrets(memory),
            "is_disputed": memory.path in disputed,
            "is_rated": memory.importance
            not in (usual.get(memory.type), NEUTRAL_IMPORTANCE),
            "address": address_of(memory),
            "recall": recalls.get((memory.scope, memory.id)),
        }
        for memory in page.memories
    ]
    kept = {name: text for name, text in asked.items() if text and name != "page"}
    last = max(1, math.ceil(page.total / PAGE_SIZE))
    return {
        "hits": None,
        "words": words_of(asked["q"]),
        "rows": rows,
        "total": page.total,
        "number": number,
        "last": last,
        "address_of_page": lambda at: f"{ROOT}?{urlencode({**kept, 'page': at})}",
    }
