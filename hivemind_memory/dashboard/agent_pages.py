"""The pages about agents: what each worktree was told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from hivemind_memory import opening
from hivemind_memory.dashboard.page import ROOT, Page, PageCall, PageGroup
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.inject.told_worktrees import list_told, why_told
from hivemind_memory.model.injection_words import (
    LEFT_OUT_WORDS,
    SEARCHED_WORDS,
    reasons_text,
)
from hivemind_memory.redaction import mask

pages = PageGroup()


@pages.get("/injection")
def injection(call: PageCall) -> Page:
    """List the worktrees, or show what one of them was told and why."""
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


def links_to(call: PageCall, paths: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return for each note its name and the address of its page; empty: it is gone."""
    scopes = call.memory.access.scopes
    rows = call.memory.index_handle.run_fresh(
        lambda index: {path: index.memories(path=path, scopes=scopes) for path in paths}
    )
    found = {}
    for path, [*here] in rows.items():
        row = here[0] if here else None
        note = f"{ROOT}/notes/{quote(path)}"
        address = f"{ROOT}/{row.memory_id}" if row and row.memory_id else note
        name = mask(row.key) if row and row.key else mask(path)
        found[path] = {"name": name, "address": address if row else ""}
    return found


def _name_of(record: dict[str, Any]) -> str:
    """Return the last part of the path of a worktree."""
    return PurePath(record["worktree"]).name or str(record["worktree"])
