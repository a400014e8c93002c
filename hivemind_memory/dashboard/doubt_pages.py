"""The page of what is doubtful, and the forms that put it right.

A memory that is kept, pinned or disputed gets a new version or a second memory: nothing
is changed in place, and each of it can be undone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count, islice
from typing import Any

from hivemind_memory.curation.edited import edited
from hivemind_memory.curation.validate import MAX_KEY_CHARS
from hivemind_memory.dashboard.change_pages import (
    back_to,
    editable_memory,
    is_as_seen,
    links_from_others,
    page_of,
    unlinked,
)
from hivemind_memory.dashboard.drafts import dispute_draft
from hivemind_memory.dashboard.page import (
    ROOT,
    Page,
    PageCall,
    PageGroup,
    Redirect,
    number_of,
    unless_missing,
)
from hivemind_memory.dashboard.render import sentence
from hivemind_memory.dashboard.shown_text import masked_text
from hivemind_memory.dashboard.use import active_rows
from hivemind_memory.dashboard.word_diff import DiffPart, without_middles, word_diff
from hivemind_memory.errors import (
    KeyTakenError,
    NotesMissingError,
    UsageError,
    VersionChangedError,
)
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.markdown.entry import own_text
from hivemind_memory.memory.doubts import (
    CloseLook,
    Doubt,
    Doubts,
    begin_look,
    body_of,
    find_doubts,
    look_on,
    without_settled,
)
from hivemind_memory.model.curation import NewMemory, StoredMemory
from hivemind_memory.model.memories import EDGE_KINDS, RELATED, UPDATES
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.model.value import NO_ITEMS

MAX_SHOWN = 50

_NOT_A_PERSON = Failure(
    403,
    "Pinning a memory is for a person to decide. Nothing was changed.",
    hint="`hm dashboard` logs you in as one.",
)

_UNTRUSTED = Failure(
    409,
    "It comes from a tool or an outside source, so it cannot be pinned or kept here.",
    hint="Edit it, and tick there that you have checked it.",
)

_IS_LINKED = Failure(
    409,
    "Another memory updates it, and a new version would end that.",
    hint="Remove the link or forget one of the two first.",
)

_CHANGED = "It has changed since you opened the page. Nothing was saved."

MORE = "more"
"""As the address names the next part."""

_MAX_LOOKS = 4


class Looks:
    """The close looks of readers: one each, of the last few readers."""

    def __init__(self) -> None:
        """Begin without looks."""
        self._looks: OrderedDict[Hashable, CloseLook] = OrderedDict()
        self._lock = threading.Lock()

    def go_on(self, call: PageCall, *, is_new: bool) -> CloseLook:
        """Do the next part of a reader's close look, or the first one.

        Raises:
            NotesMissingError: There is no notes folder.
        """
        caller = call.memory.caller
        reader = (call.memory.places.notes, caller.scopes, call.client)
        with self._lock:  # one part at a time: it keeps a processor busy
            look = None if is_new else self._looks.pop(reader, None)
            look = look or begin_look(call.memory)
            look_on(call.memory, look)
            self._looks[reader] = look
            while len(self._looks) > _MAX_LOOKS:
                self._looks.popitem(last=False)
        return look


_LOOKS = Looks()

pages = PageGroup()


@pages.get("/doubtful")
def doubtful(call: PageCall) -> Page:
    """List what is disputed, over or stale; on demand what a closer look finds."""
    if not call.memory.caller.is_member:
        raise Failure(404, "")
    look = None
    try:
        found = find_doubts(call.memory)
        if asked := call.query.get("look"):
            look = _LOOKS.go_on(call, is_new=asked != MORE)
    except NotesMissingError:
        found = Doubts()
    if look is not None:
        look = _still_there(call, look, number_of(call, "page") * MAX_SHOWN)
    only, number = call.query.get("only", ""), number_of(call, "page")
    begin = (number - 1) * MAX_SHOWN if only else 0
    values: dict[str, Any] = {"found": found, "look": look, "most": MAX_SHOWN}
    values |= {"only": only, "number": number, "begin": begin}
    values["today"] = call.memory.clocks.today()
    values["diffs"] = _diffs(call, look.copies[begin:][:MAX_SHOWN]) if look else {}
    values["titles"] = _titles(call, found.disputed)
    return Page(
        template="doubtful.html",
        values={**values, "total": _count(found, look)},
        refresh=f"{ROOT}/doubtful?look={MORE}" if look and not look.is_done else "",
    )


def _still_there(call: PageCall, look: CloseLook, most: int) -> CloseLook:
    """Return a close look without what was forgotten, replaced or put right since.

    *most*: of each kind, that many are looked at again.
    """
    look = without_settled(call.memory, look, most)
    active = {row.path for row in active_rows(call)}

    def kept(doubts: Sequence[Doubt]) -> list[Doubt]:
        return [
            doubt
            for doubt in doubts
            if doubt.row.path in active
            and (doubt.other is None or doubt.other.path in active)
        ]

    return replace(
        look,
        copies=kept(look.copies),
        secrets=kept(look.secrets),
        dead_links=kept(look.dead_links),
    )


def _diffs(call: PageCall, copies: Sequence[Doubt]) -> dict[str, list[DiffPart]]:
    """Return what differs between the memories of each pair, by the first's path."""
    diffs = {}
    for doubt in copies:
        if doubt.other is not None:
            one, other = (
                masked_text(own_text(body_of(call.memory, row)).strip())
                for row in (doubt.row, doubt.other)
            )
            parts = [] if one == other else word_diff(one, other)
            diffs[f"{doubt.row.path} {doubt.other.path}"] = without_middles(parts, 60)
    return diffs


def _titles(call: PageCall, pairs: Sequence[Doubt]) -> dict[str, str]:
    """Return what both memories of each pair say first, by path."""
    shown = (side for pair in pairs for side in (pair.row, pair.other) if side)
    paths = {side.path for side in islice(shown, 4 * MAX_SHOWN)}
    titles = unless_missing(lambda: call.memory.lists.titles(paths), {})
    return {path: masked_text(title) for path, title in titles.items()}


def _count(found: Doubts, look: CloseLook | None) -> int:
    """Return how many things are doubtful."""
    lists = [found.disputed, found.expired, found.soon, found.stale]
    if look is not None:
        lists += [look.copies, look.secrets, look.dead_links]
    return sum(map(len, lists))


@pages.post("/{id}/pin")
def pin(call: PageCall) -> Redirect:
    """Show a memory to every agent, or no longer."""
    if not call.client.is_person:
        raise _NOT_A_PERSON
    is_pinned = not call.form.get("end")
    try:
        memory = _kept_memory(call)
        if is_pinned:
            saved = _save_again(call, memory, "pinned", is_pinned=True)
        else:
            saved = _save_again(call, memory, "no longer pinned", {"pinned": None})
    except VersionChangedError:
        return Redirect(path=back_to(call, page_of(call)), notice=_CHANGED)
    text = (
        "Pinned: every agent sees it at startup." if is_pinned else "No longer pinned."
    )
    return Redirect(path=back_to(call, f"{ROOT}/{saved}"), notice=text)


@pages.post("/{id}/keep")
def keep(call: PageCall) -> Redirect:
    """Let a memory no longer expire."""
    back = back_to(call, f"{ROOT}/doubtful")
    try:
        memory = _kept_memory(call)
        _save_again(call, memory, "it is still true", {"expires": ""})
    except VersionChangedError:
        return Redirect(path=back, notice=_CHANGED)
    return Redirect(path=back, notice="Kept: it no longer expires.")


@pages.post("/{id}/dispute")
def dispute(call: PageCall) -> Redirect:
    """Save what is true instead; both memories stay, and the older one is marked."""
    memory = call.memory.curation.show(call.path["id"]).memory
    said, draft = call.form.get("content", "").strip(), dispute_draft(memory.id)
    if not said:
        raise UsageError("Say what is true instead. Nothing was saved.")
    for key in _dispute_keys(memory):
        wanted = NewMemory(
            key=key,
            content=said,
            type=memory.type,
            scope=scope_text(memory.scope),
            contradicts=(memory.id or memory.path,),
            **call.writer,
        )
        # Without a reason, nothing is replaced: what was said before stays, too.
        with suppress(KeyTakenError):
            saved = call.memory.curation.save(wanted)
            break
    text = "Disputed: searches show both, marked."
    notice = " ".join((text, *map(sentence, saved.warnings)))
    return Redirect(path=page_of(call), notice=notice, saved=draft)


@pages.post("/{id}/both")
def keep_both(call: PageCall) -> Redirect:
    """Link two near copies: they differ, and are no longer listed."""
    here, other = call.path["id"], call.form.get("other", "")
    call.memory.curation.link(here, other, RELATED)
    back = back_to(call, f"{ROOT}/doubtful")
    return Redirect(path=back, notice="Both stay, and are linked.")


@pages.post("/{id}/unlink")
def unlink(call: PageCall) -> Redirect:
    """End a link from the page of what is doubtful."""
    kind = call.form.get("kind", "")
    if kind not in EDGE_KINDS:
        raise UsageError(f"The kind of a link must be {', '.join(EDGE_KINDS)}.")
    notice = unlinked(call, call.form.get("other", "").strip(), kind)
    return Redirect(path=back_to(call, f"{ROOT}/doubtful"), notice=notice)


def _dispute_keys(memory: StoredMemory) -> Iterator[str]:
    """Yield the keys that a memory that disputes another one may have, in turn."""
    name = memory.key or memory.id or memory.path
    for number in count(1):
        end = " disputed" if number == 1 else f" disputed {number}"
        yield f"{name[: MAX_KEY_CHARS - len(end)]}{end}"


def _kept_memory(call: PageCall) -> StoredMemory:
    """Return the memory of the path, if it may be saved again as it is.

    Raises:
        Failure: It holds a secret, is not active, or comes from outside: who saves it
            again would vouch for it.
        VersionChangedError: It is not what the page showed.
    """
    memory = call.memory.curation.show(call.path["id"]).memory
    if memory.status == "superseded" or not is_as_seen(call, memory):
        raise VersionChangedError(_CHANGED)
    memory = editable_memory(call, ("active", "expired"))
    if not is_trusted(memory.source):
        raise _UNTRUSTED
    return memory


def _save_again(
    call: PageCall,
    memory: StoredMemory,
    reason: str,
    more: Mapping[str, object] = NO_ITEMS,
    **changes: Any,
) -> str:
    """Save a memory with the same text and links; return the id of the new version.

    Raises:
        Failure: Another memory updates it.
    """
    links = links_from_others(call.memory.curation.show(memory.id))
    if any(edge.kind == UPDATES for edge in links):
        raise _IS_LINKED
    wanted = edited(memory, reason=reason, more=more, **changes, **call.writer)
    return call.memory.curation.save(wanted).id
