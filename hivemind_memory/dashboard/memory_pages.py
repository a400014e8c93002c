"""The pages of memories: find, read, and see where they come from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from hivemind_memory.context.briefing import find_briefing
from hivemind_memory.dashboard.page import ROOT, Page, PageCall, PageGroup
from hivemind_memory.dashboard.render import words_of
from hivemind_memory.dashboard.word_diff import word_diff
from hivemind_memory.errors import NotesMissingError, UsageError
from hivemind_memory.inject.told_worktrees import mentions_of
from hivemind_memory.memory.doubts import copies_of_text
from hivemind_memory.model.briefing import Briefing
from hivemind_memory.model.curation import MemoryDetails, StoredMemory
from hivemind_memory.model.injection_words import LEFT_OUT_WORDS
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.memory_types import all_types
from hivemind_memory.model.query import Query
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.trust import SOURCES
from hivemind_memory.redaction import mask
from hivemind_memory.skills.package import why_no_skill

PAGE_SIZE = 50
MAX_HITS = 20
STATUSES = ("active", "superseded", "pending", "forgotten", "expired", "done", "all")
MAX_COPIES, MAX_MENTIONS = 5, 10
_MAX_NEIGHBORS = 12
_GRAPH = 320  # width and height of the drawing of edges, in its own units

pages = PageGroup()


@pages.get("")
def find(call: PageCall) -> Page:
    """Show the memories, or what a question finds."""
    asked = {name: call.query.get(name, "").strip() for name in ("q", *_FILTERS)}
    status = asked["status"] or "active"
    if status not in STATUSES:
        raise UsageError(f"There is no status {status!r}; it is one of {_STATUS_LIST}.")
    values = {**_choices(call), "asked": asked, "status": status, "words": []}
    found = _hits(call, asked) if asked["q"] else _list(call, asked, status)
    found["briefing"] = _briefing(call, asked, values["newest_scope"])
    return Page(template="find.html", values={**values, **found})


@pages.get("/{id}")
def show(call: PageCall) -> Page:
    """Show one memory with all that is known of it."""
    details = call.memory.curation.show(call.path["id"])
    memory = without_secrets(details.memory)
    chain = [without_secrets(version) for version in details.chain]
    versions = [
        {"memory": new, "diff": word_diff(old.text, new.text) if old else None}
        for new, old in zip(chain, [*chain[1:], None], strict=True)
    ]
    # The front matter and a [[link]] in the text may name the same memory.
    edges = {
        (edge.kind, edge.is_outgoing, edge.path or edge.id): edge
        for edge in details.edges
    }
    visibility = call.memory.settings.visibility_of(memory.scope, memory.visibility)
    return Page(
        template="memory.html",
        values={
            "memory": memory,
            "visibility": visibility,
            "is_public": visibility == "public",
            "may_become_skill": memory.status == "active"
            and bool(memory.key)
            and why_no_skill(details.memory) is None,
            "recall": details.recall,
            "edges": list(edges.values()),
            "graph": _graph_of(details),
            "versions": versions,
            "warnings": details.warnings,
            **_beside(call, details.memory),
            "has_secret": memory.text != details.memory.text,
        },
    )


def _beside(call: PageCall, memory: StoredMemory) -> dict[str, Any]:
    """Return near copies of a memory, and what agents were told of it."""
    if not call.memory.caller.is_member or memory.status != "active":
        return {"copies": [], "mentions": []}
    near = copies_of_text(call.memory, memory.path, memory.text)[:MAX_COPIES]
    links = links_to(call, [path for path, _ in near])
    copies = [{**links[path], "similarity": share} for path, share in near]
    mentions = mentions_of(call.memory, memory.path)[:MAX_MENTIONS]
    words = [
        {
            "worktree": mention.worktree,
            "at": mention.at,
            "why": LEFT_OUT_WORDS.get(mention.why_left_out, mention.why_left_out),
        }
        for mention in mentions
    ]
    return {"copies": copies, "mentions": words}


def links_to(call: PageCall, paths: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return for each note its name and the address of its page; empty: it is gone."""
    scopes = call.memory.access.scopes
    rows = call.memory.index_handle.run_fresh(
        lambda index: {path: index.memories(path=path, scopes=scopes) for path in paths}
    )
    found = {}
    for path, here in rows.items():
        row = next(iter(here), None)
        note = f"{ROOT}/notes/{quote(path)}"
        address = f"{ROOT}/{row.memory_id}" if row and row.memory_id else note
        name = mask(row.key) if row and row.key else mask(path)
        found[path] = {"name": name, "address": address if row else ""}
    return found


def without_secrets(memory: StoredMemory) -> StoredMemory:
    """Return a memory as it is shown."""
    return replace(
        memory,
        text=mask(memory.text),
        key=mask(memory.key),
        reason=mask(memory.reason),
        by=mask(memory.by),
        source_ref=mask(memory.source_ref),
    )


def address_of(memory: StoredMemory) -> str:
    """Return the page of a memory; of one without an id, the page of its note."""
    return f"{ROOT}/{memory.id or 'notes/' + quote(memory.path)}"


_FILTERS = ("type", "scope", "status", "source", "since", "page")
_PAGE_DIGITS = 9
_STATUS_LIST = ", ".join(STATUSES)


def _choices(call: PageCall) -> dict[str, Any]:
    """Return what the filters offer: types with their numbers, and scopes."""
    counts, newest = {}, None
    if call.memory.caller.is_member:
        with suppress(NotesMissingError):
            counts = call.memory.lists.count("scope", "type", "status")
            newest = call.memory.lists.newest_scope()
    types: Counter[str] = Counter()
    for (_, name, status), count in counts.items():
        types[name] += count if status == ACTIVE else 0
    known = [name for name in all_types(call.memory.settings.own_types()) if name]
    return {
        "types": [(name, types[name]) for name in known if types[name]],
        "scopes": sorted({scope_text(scope) for scope, _, _ in counts}),
        "statuses": STATUSES,
        "sources": SOURCES,
        "newest_scope": scope_text(newest) if newest is not None else "",
        "is_empty": not counts,
    }


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
    narrowing = {name: asked[name] for name in names if asked[name]}
    if asked["type"]:
        narrowing["types"] = asked["type"]
    query = Query(text=asked["q"], max_results=MAX_HITS, should_explain=True)
    if narrowing:
        query = Query(
            text=asked["q"],
            max_results=MAX_HITS,
            should_explain=True,
            search_filter=call.memory.parse_filter(**narrowing),
        )
    try:
        answer = call.memory.search(query)
    except NotesMissingError as error:
        return {"hits": [], "report": None, "why_empty": str(error)}
    if not answer.is_unknown and not call.client.is_visitor:
        call.memory.record_recall(answer)
    return {
        "hits": answer.hits,
        "report": answer.report,
        "is_unknown": answer.is_unknown,
        "why_empty": answer.report.why_empty,
        "words": words_of(asked["q"]),
    }


def _list(call: PageCall, asked: dict[str, str], status: str) -> dict[str, Any]:
    """Return one page of the memories that fit."""
    is_number = asked["page"].isdecimal()
    # A number with more digits is no page either, and Python refuses one of thousands.
    number = max(1, int(asked["page"][:_PAGE_DIGITS]) if is_number else 1)
    wanted = MemoryFilter(
        types=(asked["type"],) if asked["type"] else (),
        scope=asked["scope"],
        since=asked["since"],
        source=asked["source"],
        statuses=STATUSES[:-1] if status == "all" else (status,),
    )
    offset = min(number - 1, 1_000_000) * PAGE_SIZE
    try:
        page = call.memory.curation.list_page(wanted, offset=offset, limit=PAGE_SIZE)
    except NotesMissingError:
        return {"hits": None, "rows": [], "total": 0, "number": 1, "last": 1}
    recalls = call.memory.curation.recalls(page.memories)
    rows = [
        {
            "memory": without_secrets(memory),
            "address": address_of(memory),
            "recall": recalls.get((memory.scope, memory.id)),
        }
        for memory in page.memories
    ]
    kept = {name: text for name, text in asked.items() if text and name != "page"}
    last = max(1, math.ceil(page.total / PAGE_SIZE))
    return {
        "hits": None,
        "rows": rows,
        "total": page.total,
        "number": number,
        "last": last,
        "address_of_page": lambda at: f"{ROOT}?{urlencode({**kept, 'page': at})}",
    }


def _graph_of(details: MemoryDetails) -> dict[str, Any]:
    """Return where the memory and its neighbors are drawn."""
    seen = {edge.id or edge.path: edge for edge in details.edges}
    edges = list(seen.values())[:_MAX_NEIGHBORS]
    middle, radius = _GRAPH / 2, _GRAPH * 0.36
    neighbors = []
    for at, edge in enumerate(edges):
        angle = 2 * math.pi * at / len(edges) - math.pi / 2
        neighbors.append(
            {
                "edge": edge,
                "x": round(middle + radius * math.cos(angle), 1),
                "y": round(middle + radius * math.sin(angle), 1),
            }
        )
    return {"size": _GRAPH, "middle": middle, "neighbors": neighbors}
