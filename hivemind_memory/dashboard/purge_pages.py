"""The pages of a purge: what it would remove, the question, what was removed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from hivemind_memory import opening
from hivemind_memory.access.rules import check_person
from hivemind_memory.dashboard.drafts import drafts_of
from hivemind_memory.dashboard.memory_pages import find_shown, without_secrets
from hivemind_memory.dashboard.page import ROOT, Page, PageCall, PageGroup, Redirect
from hivemind_memory.dashboard.purge_words import count_removed
from hivemind_memory.dashboard.removals import Removals
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.model.curation import MemorySelector, PurgeResult, StoredMemory
from hivemind_memory.redaction import mask

_LOOK_S = 1.0
"""How long a page waits for a purge before it says that it goes on."""

_NO_RECEIPT = Failure(
    404,
    "The server keeps no such receipt.",
    hint="It keeps the last few until it ends. `hm doctor` names a purge that is not"
    " finished.",
)

_REMOVALS = Removals()

pages = PageGroup()


@pages.get("/{id}/purge")
def plan_purge(call: PageCall) -> Page:
    """Show what a purge would remove."""
    return _purge_page(call)


@pages.post("/{id}/purge")
def purge(call: PageCall) -> Page | Redirect:
    """Remove a memory for good, if its key was typed."""
    check_person(call.memory.caller, "A purge")
    memory = find_shown(call)
    name, kind = _confirming(memory)
    if call.form.get("key", "").strip() != name:
        problem = f"That is not the {kind} of this memory. Nothing was removed."
        return _purge_page(call, problem=problem)
    plan = _plan(call)
    if call.form.get("shown", "") != _names_in(plan):
        problem = (
            "This list has changed since you opened the page. Nothing was removed."
        )
        return _purge_page(call, problem=problem)
    own = call.memory.as_caller(call.memory.caller)
    selector = MemorySelector(name=call.path["id"])
    begun = _REMOVALS.begin(own, call.client, selector, plan.memories)
    return Redirect(path=_receipt_of(begun.name))


@pages.get("/purged")
def purged(call: PageCall) -> Page:
    """Show what was removed; while that goes on, how much it is."""
    removal = _REMOVALS.find(call.query.get("purge", ""), call.client)
    if removal is None:
        raise _NO_RECEIPT
    receipt = removal.receipt(_LOOK_S)
    if receipt is None:
        return Page(
            template="purging.html",
            values={"count": removal.count},
            refresh=_receipt_of(removal.name),
        )
    drafts = [name for item in receipt.memories for name in drafts_of(item)]
    values = {"plan": receipt, "memory": None, "drafts": drafts}
    return Page(template="purge.html", values=values)


def _receipt_of(name: str) -> str:
    """Return the address of the receipt of a purge."""
    return f"{ROOT}/purged?purge={name}"


def _purge_page(call: PageCall, problem: str = "") -> Page:
    """Return the page of a purge that was not done."""
    memory = without_secrets(find_shown(call))
    plan = _plan(call)
    name, kind = _confirming(memory)
    values: dict[str, Any] = {
        "plan": plan,
        "count": count_removed(plan.memories),
        "memory": memory,
        "confirming": name,
        "confirming_kind": kind,
        "problem": problem,
        "shown": _names_in(plan),
    }
    return Page(
        template="purge.html",
        values=values,
        status=400 if problem else 200,
    )


def _plan(call: PageCall) -> PurgeResult:
    """Return what a purge would remove, as `hm forget --purge` finds it."""
    opening.read_sessions(call.memory)
    selector = MemorySelector(name=call.path["id"])
    return call.memory.curation.purge(selector, is_dry_run=True)


def _names_in(plan: PurgeResult) -> str:
    """Return the names of what a purge would remove."""
    names = (item.id or quote(mask(item.path)) for item in plan.memories)
    return " ".join(sorted(names))


def _confirming(memory: StoredMemory) -> tuple[str, str]:
    """Return what a person types to confirm a purge, never empty, and what that is."""
    names = (
        (memory.key.strip(), "key"),
        (memory.id, "id"),
        (memory.path, "path"),
    )
    return next((name, kind) for name, kind in names if name)
