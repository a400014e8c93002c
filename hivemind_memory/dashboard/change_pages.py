"""The forms: save, edit, replace, link, forget, undo, purge.

An edit names the version that it began with. If another one is active by then, nothing
is saved, and the page shows both texts.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from hivemind_memory.curation.edited import edited
from hivemind_memory.dashboard.memory_pages import (
    address_of,
    holds_secret,
    without_secrets,
)
from hivemind_memory.dashboard.page import (
    ROOT,
    Page,
    PageCall,
    PageGroup,
    Redirect,
    unless_missing,
)
from hivemind_memory.dashboard.render import sentence
from hivemind_memory.dashboard.word_diff import word_diff
from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    MemoryNotFoundError,
    UsageError,
    VersionChangedError,
)
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.markdown.entry import own_text, parse_provenance
from hivemind_memory.model.curation import (
    MemoryDetails,
    MemoryEdge,
    MemorySelector,
    NewMemory,
    PurgeResult,
    StoredMemory,
)
from hivemind_memory.model.display import shorten
from hivemind_memory.model.memories import CONTRADICTS, RELATED, UPDATES
from hivemind_memory.model.memory_types import all_types
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.text_version import text_version
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.redaction import mask

ACTIVE = "active"
LINK_KINDS = {"related": RELATED, RELATED: RELATED, CONTRADICTS: CONTRADICTS}
STRONG = (UPDATES, CONTRADICTS)
"""Kinds of links that decide which of two memories counts."""

_UNTICKED = {"vouch": "", "settled": ""}
_BLANK = {"key": "", "content": "", "type": "", "reason": "", **_UNTICKED}
_HOLDS_SECRET = Failure(
    409,
    "This memory holds what looks like a secret, so it cannot be edited here.",
    hint="`hm edit` opens it in your editor.",
)

_IN_TEXT = "The link is part of the text. Edit the text to remove it."

pages = PageGroup()


@pages.get("/new")
def new(call: PageCall) -> Page:
    """Show the form of a new memory."""
    return _form(call, {"scope": call.query.get("scope", "")})


@pages.post("/new")
def save(call: PageCall) -> Page | Redirect:
    """Save a new memory."""
    typed = _typed(call)
    wanted = NewMemory(
        key=typed["key"],
        content=typed["content"],
        type=typed["type"],
        scope=typed["scope"],
        **call.writer,
    )
    try:
        saved = call.memory.curation.save(wanted)
    except KeyTakenError as error:
        problem = f'"{typed["key"]}" is already saved. Choose another key, or edit it.'
        current = error.current
        where = address_of(current) if isinstance(current, StoredMemory) else ""
        return _form(call, typed, problem=problem, taken=where, status=409)
    except UsageError as error:
        return _form(call, typed, problem=str(error), status=400)
    notice = " ".join(("Saved.", *map(sentence, saved.warnings)))
    return Redirect(path=f"{ROOT}/{saved.id}", notice=notice)


@pages.get("/{id}/edit")
def edit(call: PageCall) -> Page:
    """Show the form that changes a memory."""
    memory = editable_memory(call)
    content = own_text(memory.text)
    typed = {"content": content, "type": memory.type, "version": _version_of(memory)}
    return _form(call, typed, memory=memory)


@pages.post("/{id}/edit")
def replace_memory(call: PageCall) -> Page | Redirect:
    """Save a new version of a memory."""
    typed = _typed(call)
    details = call.memory.curation.show(call.path["id"])
    memory = details.memory
    begun, _, text = (typed["version"] or _version_of(memory)).partition(" ")
    is_vouched = bool(typed["vouch"]) and call.client.is_person
    wanted = edited(
        memory,
        content=typed["content"],
        type=typed["type"],
        reason=typed["reason"] or "edited in the dashboard",
        replaces=begun,
        replaces_text=text,
        is_vouched=is_vouched,
        **call.writer,
    )
    try:
        saved = call.memory.curation.save(wanted)
    except VersionChangedError:
        return _conflict(call, typed, memory)
    except UsageError as error:
        return _form(call, typed, memory=memory, problem=str(error), status=400)
    notice = (
        "Saved; the previous version is kept." if saved.is_new else "Nothing changed."
    )
    lost = []
    if saved.is_new and not typed["settled"]:
        lost = keep_links_from_others(call, details, saved.id)
    notice = " ".join((notice, *map(sentence, (*saved.warnings, *lost))))
    return Redirect(path=f"{ROOT}/{saved.id}", notice=notice)


@pages.post("/{id}/forget")
def forget(call: PageCall) -> Redirect:
    """Forget a memory; a button undoes that."""
    done = call.memory.forget(MemorySelector(name=call.path["id"]))
    if not done.memories and done.failed:
        raise Failure(503, f"It was not forgotten: {done.failed[0].why}")
    text = "Forgotten: searches and agents no longer get it."
    if done.reactivated:
        text += " The previous version is active again."
    return Redirect(path=back_to(call), notice=text, undo=done.id)


@pages.post("/{id}/restore")
def restore(call: PageCall) -> Redirect:
    """Show a forgotten memory again."""
    call.memory.curation.restore(MemorySelector(name=call.path["id"]))
    return Redirect(path=page_of(call), notice="Restored.")


@pages.post("/undo")
def undo(call: PageCall) -> Redirect:
    """Undo a change that a notice has named."""
    change = call.form.get("change", "")
    if not change:  # it would undo the newest change, whichever that is
        raise Failure(400, "The form names no change. Nothing was undone.")
    call.memory.curation.undo(change)
    return Redirect(path=back_to(call), notice="Undone.")


@pages.post("/{id}/link")
def link(call: PageCall) -> Redirect:
    """Link a memory to another one, or end a link."""
    here = call.path["id"]
    kind = LINK_KINDS.get(call.form.get("kind", ""), RELATED)
    other = call.form.get("other", "").strip()
    if call.form.get("end"):
        done = call.memory.curation.unlink(here, other, kind)
        notice = "The link is removed." if done.is_changed else _IN_TEXT
        return Redirect(path=page_of(call), notice=notice)
    call.memory.curation.show(here)  # one that is not there has no page to go back to
    try:
        call.memory.curation.link(here, other, kind)
    except MemoryNotFoundError:
        notice = f"There is no memory {shorten(other, 60)!r}. Nothing was linked."
        return Redirect(path=page_of(call), notice=notice)
    return Redirect(path=page_of(call), notice="Linked.")


@pages.get("/{id}/purge")
def plan_purge(call: PageCall) -> Page:
    """Show what a purge would remove."""
    return _purge_page(call)


@pages.post("/{id}/purge")
def purge(call: PageCall) -> Page:
    """Remove a memory for good, if its key was typed."""
    memory = call.memory.curation.show(call.path["id"]).memory
    name, kind = _confirming(memory)
    if call.form.get("key", "").strip() != name:
        problem = f"That is not the {kind} of this memory. Nothing was removed."
        return _purge_page(call, problem=problem)
    selector = MemorySelector(name=call.path["id"])
    plan = call.memory.curation.purge(selector, is_dry_run=True)
    if call.form.get("shown", "") != _names_in(plan):
        problem = (
            "This list has changed since you opened the page. Nothing was removed."
        )
        return _purge_page(call, problem=problem)
    done = call.memory.curation.purge(selector, shown=plan.memories)
    return Page(template="purge.html", values={"plan": done, "memory": None})


def _purge_page(call: PageCall, problem: str = "") -> Page:
    """Return the page of a purge that was not done."""
    memory = without_secrets(call.memory.curation.show(call.path["id"]).memory)
    selector = MemorySelector(name=call.path["id"])
    plan = call.memory.curation.purge(selector, is_dry_run=True)
    name, kind = _confirming(memory)
    values: dict[str, Any] = {
        "plan": plan,
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


def links_from_others(details: MemoryDetails) -> list[MemoryEdge]:
    """Return the links of other memories that update or contradict this version."""
    versions = {old.path for old in details.chain if old.status == "superseded"}
    return [
        edge
        for edge in details.edges
        if not edge.is_outgoing and edge.kind in STRONG and edge.path not in versions
    ]


def keep_links_from_others(
    call: PageCall, details: MemoryDetails, new_id: str
) -> list[str]:
    """Let what updates or contradicts a version do so with the next one.

    Returns:
        A sentence for each link that could not be kept.
    """
    lost = []
    for edge in links_from_others(details):
        try:
            call.memory.curation.link(
                edge.path, new_id, edge.kind, weight=edge.weight, by=edge.by
            )
        except HivemindError as error:
            lost.append(f"the link from {edge.key or edge.path} is lost: {error}")
    return lost


def editable_memory(
    call: PageCall, statuses: tuple[str, ...] = (ACTIVE,)
) -> StoredMemory:
    """Return the memory of the path, if it can be edited here.

    Raises:
        Failure: It holds a secret, or is not the active version.
    """
    memory = call.memory.curation.show(call.path["id"]).memory
    if holds_secret(call, memory):
        raise _HOLDS_SECRET
    if memory.status not in statuses or not memory.id:
        message = f"This memory is {memory.status}, so it cannot be edited."
        raise Failure(409, message)
    return memory


def _typed(call: PageCall) -> dict[str, str]:
    """Return what a form says."""
    names = ("key", "content", "type", "scope", "reason", "version", *_UNTICKED)
    return {name: call.form.get(name, "").strip() for name in names}


def _form(
    call: PageCall,
    typed: dict[str, str],
    *,
    memory: StoredMemory | None = None,
    problem: str = "",
    taken: str = "",
    status: int = 200,
) -> Page:
    """Return the page of a form, with what was typed."""
    scopes = []
    if memory is None:  # that of a memory stays
        counts = unless_missing(lambda: call.memory.lists.count("scope"), {})
        scopes = sorted(scope_text(scope) for (scope,) in counts)
    others, below = [], 0
    if memory is not None:
        others = links_from_others(call.memory.curation.show(memory.id))
        below = sum(map(bool, map(parse_provenance, memory.text.split("\n"))))
    values: dict[str, Any] = {
        "others": [(edge.kind, mask(edge.key or edge.path)) for edge in others],
        "below": below,
        "is_untrusted": memory is not None and not is_trusted(memory.source),
        "typed": {**_BLANK, **typed},
        "memory": memory and without_secrets(memory),
        "types": list(all_types(call.memory.settings.own_types())),
        "scopes": scopes,
        "problem": problem,
        "taken": taken,
        "theirs": None,
    }
    return Page(template="edit.html", values=values, status=status)


def _conflict(call: PageCall, typed: dict[str, str], begun: StoredMemory) -> Page:
    """Return the page that shows both texts: what was typed, and what is saved now."""
    try:
        where = scope_text(begun.scope)
        current = call.memory.curation.show(begun.key, scope=where).memory
    except HivemindError:
        current = begun
    shown = _form(
        call, {**typed, "version": _version_of(current)}, memory=current, status=409
    )
    theirs = without_secrets(current)
    return Page(
        template=shown.template,
        values={
            **shown.values,
            "theirs": theirs,
            "diff": word_diff(own_text(theirs.text), typed["content"]),
        },
        status=409,
    )


def _version_of(memory: StoredMemory) -> str:
    """Return what a form remembers of the memory that it began with."""
    return f"{memory.id} {text_version(own_text(memory.text))}"


def page_of(call: PageCall) -> str:
    """Return the page of the memory that the path names."""
    return f"{ROOT}/{quote(call.path['id'], safe='')}"


def back_to(call: PageCall, otherwise: str = ROOT) -> str:
    """Return the page on which a form was, if it says so and the dashboard has it."""
    address = call.form.get("next", "")
    is_ours = address.startswith((f"{ROOT}/", f"{ROOT}?")) and address.isprintable()
    return address if is_ours and address.isascii() else otherwise
