"""The forms: save, edit, replace, link, forget, undo.

An edit names the version that it began with. If another one is active by then, nothing
is saved, and the page shows both texts.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from hivemind_memory.curation.edited import edited
from hivemind_memory.curation.read_version import ReadVersion
from hivemind_memory.dashboard.drafts import edit_draft
from hivemind_memory.dashboard.form_fields import (
    FIELDS,
    begun_with,
    given_fields,
    shown_fields,
)
from hivemind_memory.dashboard.memory_pages import (
    address_of,
    holds_secret,
    newest_of,
    seen_as,
    without_secrets,
)
from hivemind_memory.dashboard.page import (
    ROOT,
    Page,
    PageCall,
    PageGroup,
    Redirect,
    address_inside,
    unless_missing,
)
from hivemind_memory.dashboard.render import sentence
from hivemind_memory.dashboard.word_diff import word_diff
from hivemind_memory.errors import (
    ForgottenError,
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
    StoredMemory,
)
from hivemind_memory.model.keys import no_such
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
_BLANK = dict.fromkeys(("key", "content", "type", "reason", *FIELDS), "") | _UNTICKED
_HOLDS_SECRET = Failure(
    409,
    "This memory holds what looks like a secret, so it cannot be edited here.",
    hint="`hm edit` opens it in your editor.",
)
_UNTYPED = Failure(
    409,
    "Its note has no id or no known type, so it cannot be edited here.",
    hint="`hm edit` opens it in your editor.",
)

_UNLINKED = "Link removed."
_IN_TEXT = "The link is part of the text. Edit the text to remove it."
_NO_LINK = "There is no such link any more."
_CHANGED = "It has changed since you opened the page, so it was not forgotten."

_NEWEST = "You followed a link to an earlier version. This is the newest one."

NEW_DRAFT = "new"
"""Name of the draft of a new memory."""

pages = PageGroup()


@pages.get("/new")
def new(call: PageCall) -> Page:
    """Show the form of a new memory."""
    return _form(call, {"scope": call.query.get("scope", "")})


@pages.post("/new")
def save(call: PageCall) -> Page | Redirect:
    """Save a new memory."""
    typed = _typed(call)
    try:
        wanted = NewMemory(
            key=typed["key"],
            content=typed["content"],
            type=typed["type"],
            scope=typed["scope"],
            **given_fields(call.form),
            **call.writer,
        )
        saved = call.memory.curation.save(wanted)
    except KeyTakenError as error:
        problem = f'"{typed["key"]}" is already saved. Choose another key, or edit it.'
        current = error.current
        where = address_of(current) if isinstance(current, StoredMemory) else ""
        return _form(call, typed, problem=problem, taken=where, status=409)
    except UsageError as error:
        return _form(call, typed, problem=str(error), status=400)
    text = "Saved." if saved.is_new else "It was saved before; nothing changed."
    notice = " ".join((text, *map(sentence, saved.warnings)))
    return Redirect(path=f"{ROOT}/{saved.id}", notice=notice, saved=NEW_DRAFT)


@pages.get("/{id}/edit")
def edit(call: PageCall) -> Page | Redirect:
    """Show the form that changes a memory; of an older version, that of the newest."""
    begun = call.memory.curation.show(call.path["id"]).memory
    newest = newest_of(call, begun)
    if newest.id != begun.id:
        where = f"{ROOT}/{quote(newest.id, safe='')}/edit"
        return Redirect(path=where, notice=_NEWEST)
    memory = editable_memory(call)
    content = own_text(memory.text)
    typed = {"content": content, "type": memory.type, "version": _version_of(memory)}
    return _form(call, typed | shown_fields(memory), memory=memory)


@pages.post("/{id}/edit")
def replace_memory(call: PageCall) -> Page | Redirect:
    """Save a new version of a memory."""
    begun, _, text = begun_with(call.form).partition(" ")
    typed = _typed(call)
    details = call.memory.curation.show(call.path["id"])
    memory = details.memory
    is_vouched = bool(typed["vouch"]) and call.client.is_person
    try:
        wanted = edited(
            memory,
            content=typed["content"],
            type=typed["type"],
            reason=typed["reason"] or "edited in the dashboard",
            replaces=begun,
            replaces_text=text,
            is_vouched=is_vouched,
            **given_fields(call.form, memory),
            **call.writer,
        )
        saved = call.memory.curation.save(wanted)
    except VersionChangedError:
        return _conflict(call, typed, memory)
    except UsageError as error:
        return _form(call, typed, memory=memory, problem=str(error), status=400)
    notice, lost = "Nothing changed.", []
    if saved.is_new:
        notice = "Saved; the previous version is kept."
        is_settled = bool(typed["settled"])
        lost = follow_with_links(call, details, saved.id, is_settled=is_settled)
    notice = " ".join((notice, *map(sentence, (*saved.warnings, *lost))))
    draft = edit_draft(memory.scope, memory.key, memory.id)
    return Redirect(path=f"{ROOT}/{saved.id}", notice=notice, saved=draft)


@pages.post("/{id}/forget")
def forget(call: PageCall) -> Redirect:
    """Forget a memory as the page showed it; a button undoes that."""
    selector = MemorySelector(name=call.path["id"])
    try:
        done = call.memory.curation.forget(selector, read=_read_version(call))
    except ForgottenError:
        return Redirect(path=back_to(call), notice="It was forgotten before.")
    except VersionChangedError:
        return Redirect(path=back_to(call, page_of(call)), notice=_CHANGED)
    if not done.memories and done.failed:
        raise Failure(503, f"It was not forgotten: {done.failed[0].why}")
    text = "Forgotten. Searches and agents no longer see it."
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
        return Redirect(path=page_of(call), notice=unlinked(call, other, kind))
    call.memory.curation.show(here)  # one that is not there has no page to go back to
    try:
        call.memory.curation.link(here, other, kind)
    except ForgottenError as error:
        return Redirect(
            path=page_of(call), notice=f"{error.problem} Nothing was linked."
        )
    except MemoryNotFoundError:
        notice = f"{no_such('memory', other)} Nothing was linked."
        return Redirect(path=page_of(call), notice=notice)
    return Redirect(path=page_of(call), notice="Linked.")


def unlinked(call: PageCall, other: str, kind: str) -> str:
    """End a link of the memory of the path; return what became of it."""
    here = call.path["id"]
    done = call.memory.curation.unlink(here, other, kind)
    if done.is_changed:
        return _UNLINKED
    is_there = any(
        edge.is_outgoing
        and edge.kind == kind
        and (edge.id == done.to_id or edge.path == done.to_path != "")
        for edge in call.memory.curation.show(here).edges
    )
    return _IN_TEXT if is_there else _NO_LINK


def links_from_others(details: MemoryDetails) -> list[MemoryEdge]:
    """Return the links of other memories that update or contradict this version."""
    versions = {old.path for old in details.chain if old.status == "superseded"}
    return [
        edge
        for edge in details.edges
        if not edge.is_outgoing and edge.kind in STRONG and edge.path not in versions
    ]


def follow_with_links(
    call: PageCall, details: MemoryDetails, new_id: str, *, is_settled: bool
) -> list[str]:
    """Let what updates a version update the next one; end its disputes if that does.

    What contradicts a version contradicts the next one by itself.

    Returns:
        A sentence for each link that could not be kept, or ended.
    """
    lost = []
    change = call.memory.curation
    for edge in links_from_others(details):
        try:
            if edge.kind == CONTRADICTS and is_settled:
                change.unlink(edge.path, new_id, edge.kind)
            elif edge.kind == UPDATES and not is_settled:
                change.link(
                    edge.path, new_id, edge.kind, weight=edge.weight, by=edge.by
                )
        except HivemindError as error:
            became = "stays" if is_settled else "is lost"
            lost.append(f"the link from {edge.key or edge.path} {became}: {error}")
    return lost


def editable_memory(
    call: PageCall, statuses: tuple[str, ...] = (ACTIVE,)
) -> StoredMemory:
    """Return the memory of the path, if it can be edited here.

    Raises:
        Failure: It holds a secret, has no id or type, or is not the active version.
    """
    memory = call.memory.curation.show(call.path["id"]).memory
    if holds_secret(call, memory):
        raise _HOLDS_SECRET
    if not (memory.id and memory.type):
        raise _UNTYPED
    if memory.status not in statuses:
        message = f"This memory is {memory.status}, so it cannot be edited."
        raise Failure(409, message)
    return memory


def is_as_seen(call: PageCall, memory: StoredMemory) -> bool:
    """Return whether a memory still is what the page showed, as far as its form says.

    A list says only which status it had.
    """
    seen, now = call.form.get("seen", ""), seen_as(memory)
    return seen in {"", now, now.partition(" ")[0]}


def _read_version(call: PageCall) -> ReadVersion:
    """Return the memory of the path, which must still be what the page showed.

    Raises:
        VersionChangedError: It is not.
    """
    memory = call.memory.curation.show(call.path["id"]).memory
    if not is_as_seen(call, memory):
        raise VersionChangedError(_CHANGED)
    return ReadVersion(memory=memory, is_same=lambda now: is_as_seen(call, now))


def _typed(call: PageCall) -> dict[str, str]:
    """Return what a form says."""
    names = ("key", "content", "type", "scope", "reason", "version", *FIELDS)
    return {name: call.form.get(name, "").strip() for name in (*names, *_UNTICKED)}


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
        "draft": edit_draft(memory.scope, memory.key, memory.id)
        if memory
        else NEW_DRAFT,
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
    return address_inside(call.form.get("next", ""), otherwise)
