"""The pages of memories: find, read, and see where they come from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from hivemind_memory.dashboard.addresses import memory_address
from hivemind_memory.dashboard.page import (
    Page,
    PageCall,
    PageGroup,
    unless_missing,
)
from hivemind_memory.dashboard.shown_text import masked_text
from hivemind_memory.dashboard.word_diff import word_diff
from hivemind_memory.errors import ForgottenError, HivemindError, MemoryNotFoundError
from hivemind_memory.inject.told_worktrees import mentions_of
from hivemind_memory.markdown.entry import own_text
from hivemind_memory.markdown.text import decode
from hivemind_memory.memory.doubts import copies_of_text
from hivemind_memory.model.curation import (
    MemoryDetails,
    MemoryEdge,
    StoredMemory,
)
from hivemind_memory.model.injection_words import LEFT_OUT_WORDS
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.memories import UPDATES
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.text_version import text_version
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction import mask
from hivemind_memory.skills.package import why_no_skill

MAX_COPIES, MAX_MENTIONS = 5, 10
MAX_FORGOTTEN = 10_000
"""Forgotten memories among which one is looked for."""

_MAX_NEIGHBORS = 12
_GRAPH = 320  # width and height of the drawing of edges, in its own units

pages = PageGroup()


@pages.get("/{id}")
def show(call: PageCall) -> Page:
    """Show one memory with all that is known of it."""
    try:
        details = call.memory.curation.show(call.path["id"])
    except ForgottenError as error:
        return _forgotten_page(call, error)
    memory = without_secrets(details.memory)
    versions_at = {version.path for version in details.chain}
    # The front matter and a [[link]] in the text may name the same memory.
    edges = {
        (edge.kind, edge.is_outgoing, edge.path or edge.id): edge
        for edge in details.edges
        # Which version replaced which, the history says.
        if edge.kind != UPDATES or edge.path not in versions_at
    }
    visibility = call.memory.settings.visibility_of(memory.scope, memory.visibility)
    return Page(
        template="memory.html",
        values={
            "memory": memory,
            "visibility": visibility,
            "is_public": visibility == "public",
            "is_disputed": memory.path in disputed_in(call),
            "may_become_skill": memory.status == "active"
            and bool(memory.key)
            and why_no_skill(details.memory) is None,
            "replaced_by": details.replaced_by,
            "seen": seen_as(details.memory),
            "recall": details.recall,
            "edges": list(edges.values()),
            "links": _named_links(details),
            "graph": _graph_of(list(edges.values())),
            "versions": _compared(details.chain),
            "warnings": details.warnings,
            **_beside(call, details.memory),
            "has_secret": holds_secret(call, details.memory),
        },
    )


def _forgotten_page(call: PageCall, error: ForgottenError) -> Page:
    """Return the page of a forgotten memory, for whoever may restore it.

    Raises:
        ForgottenError: The reader may change nothing, or it is not listed for them.
    """
    if not call.may_change:
        raise error
    memory = find_shown(call)
    values = {
        "memory": without_secrets(memory),
        "problem": error.problem,
        "versions": _compared(_versions_left(call, memory)),
    }
    return Page(template="forgotten.html", values=values)


def _compared(chain: Iterable[StoredMemory]) -> list[dict[str, Any]]:
    """Return the versions of a memory, each with what it changed in the one before."""
    shown = list(map(without_secrets, chain))
    return [
        {"memory": new, "diff": word_diff(old.text, new.text) if old else None}
        for new, old in zip(shown, [*shown[1:], None], strict=True)
    ]


def _versions_left(call: PageCall, memory: StoredMemory) -> list[StoredMemory]:
    """Return a forgotten memory and the versions before it that are still there."""
    hidden = {version.id: version for version in _forgotten(call)}
    chain, waiting = [memory], list(memory.supersedes)
    while waiting:
        name = waiting.pop(0)
        found = hidden.get(name)
        if found is None:
            with suppress(MemoryNotFoundError):
                found = call.memory.curation.show(name).memory
        if found is not None and found not in chain:
            chain.append(found)
            waiting += found.supersedes
    return chain


def find_shown(call: PageCall) -> StoredMemory:
    """Return the memory of the path; a forgotten one, too, if it is listed.

    Raises:
        MemoryNotFoundError: The reader sees no such memory.
    """
    ref = call.path["id"]
    try:
        return call.memory.curation.show(ref).memory
    except ForgottenError:
        for memory in _forgotten(call):
            if memory.id == ref:
                return memory
        raise


def _forgotten(call: PageCall) -> Sequence[StoredMemory]:
    """Return the forgotten memories that the reader may see listed."""
    hidden = MemoryFilter(statuses=("forgotten",))
    return call.memory.curation.list_page(hidden, limit=MAX_FORGOTTEN).memories


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


def disputed_in(call: PageCall) -> set[str]:
    """Return the memories, by path, that a newer one contradicts.

    A visitor is not told: the newer one may be private.
    """
    if not call.memory.caller.is_member:
        return set()
    disputes = unless_missing(call.memory.lists.disputes, ())
    return {dispute.older for dispute in disputes}


def links_to(call: PageCall, paths: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return for each note its name and the address of its page; empty: it is gone."""
    scopes = call.memory.access.scopes
    rows = call.memory.index_handle.run_fresh(
        lambda index: {path: index.memories(path=path, scopes=scopes) for path in paths}
    )
    found = {}
    for path, here in rows.items():
        row = next(iter(here), None)
        name = mask(row.key) if row and row.key else mask(path)
        address = memory_address(row.memory_id, path) if row else ""
        found[path] = {"name": name, "address": address}
    return found


def without_secrets(memory: StoredMemory) -> StoredMemory:
    """Return a memory as it is shown."""
    return replaced(
        memory,
        text=masked_text(memory.text),
        key=masked_text(memory.key),
        reason=masked_text(memory.reason),
        by=masked_text(memory.by),
        source_ref=masked_text(memory.source_ref),
    )


def holds_secret(call: PageCall, memory: StoredMemory) -> bool:
    """Return whether a text has a secret in its note, which a reader may see masked."""
    text = memory.text
    if not call.memory.caller.sees_secrets:
        note = decode(call.memory.folder.read(NotePath(memory.path))[0])
        lines = note.split("\n")[memory.start_line - 1 : memory.end_line]
        text = "\n".join(lines)
    return masked_text(text) != text


def address_of(memory: StoredMemory) -> str:
    """Return the page of a memory; of one without an id, the page of its note."""
    return memory_address(memory.id, memory.path)


def newest_of(call: PageCall, memory: StoredMemory) -> StoredMemory:
    """Return the active version of a memory; the same if there is none."""
    newest, seen = memory, {""}
    with suppress(HivemindError):
        while newest.status == "superseded" and newest.superseded_by not in seen:
            seen.add(newest.superseded_by)
            newest = call.memory.curation.show(newest.superseded_by).memory
    return newest if newest.status == "active" and newest.id else memory


def seen_as(memory: StoredMemory) -> str:
    """Return what a form remembers of the memory on its page: status, and text.

    The text without its secrets: a short one could be guessed from its version.
    """
    return f"{memory.status} {text_version(own_text(masked_text(memory.text)))}"


def _named_links(details: MemoryDetails) -> dict[str, str]:
    """Return the names that a ``[[link]]`` may have -> pages of linked memories."""
    links: dict[str, str] = {}
    for edge in details.edges:
        if edge.is_outgoing and edge.path:
            page = memory_address(edge.id, edge.path)
            stem = edge.path.removesuffix(".md")
            names = (edge.key, edge.id, edge.path, stem, stem.rpartition("/")[2])
            links |= {name: page for name in names if name}
    return links


def _graph_of(found: Sequence[MemoryEdge]) -> dict[str, Any]:
    """Return where the memory and its neighbors are drawn."""
    seen = {edge.id or edge.path: edge for edge in found}
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
