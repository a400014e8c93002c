"""The inbox: an untrusted claim becomes a memory when a person accepts it.

Accepting moves the note, or the entry, out of the inbox and changes nothing in it. It
keeps its source: one from a tool or from outside is marked as untrusted by a search and
never injected. What was proposed from a session is trusted once accepted. A claim that
says what a memory says already is hidden in the inbox, as if it were rejected.
"""

from __future__ import annotations

from typing import NamedTuple

from hivemind_memory.access.rules import check_person, check_writable, may_read
from hivemind_memory.curation.change_recording import record_accepted, record_forgotten
from hivemind_memory.curation.entry_memory import entry_memory
from hivemind_memory.curation.forget import forget
from hivemind_memory.curation.link_proposals import (
    LINK_ITEM,
    accept_proposal,
    find_proposal,
    proposals_as_claims,
    reject_proposal,
)
from hivemind_memory.curation.lookup import (
    is_name,
    load_memory,
    parse_memory,
    read_target,
    rows_named,
)
from hivemind_memory.curation.lookup_errors import names_near, not_found
from hivemind_memory.curation.own_name import free_own_name
from hivemind_memory.curation.read_version import refuse_other_text
from hivemind_memory.curation.supersede import (
    create_note,
    find_active,
    remove_own_file,
)
from hivemind_memory.curation.undo_errors import built_upon
from hivemind_memory.curation.without_secrets import masked, memories_for
from hivemind_memory.errors import KeyTakenError, NotSavedError, UsageError
from hivemind_memory.files.paths import path_in_scope
from hivemind_memory.model.citation import check_place, split_place
from hivemind_memory.model.curation import ENTRY, MEMORY, MemorySelector, StoredMemory
from hivemind_memory.model.memories import PENDING, STATUSES
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import INBOX, inner_path, place_in_scope, scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.entry_edits import FoundEntry, entries_in
from hivemind_memory.notes.memory_file import read_memory_file
from hivemind_memory.notes.slug import name_with_id, names_of
from hivemind_memory.notes.writer import NoteWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.model.curation import ForgetResult
    from hivemind_memory.model.ports import MemoryIndex


class PendingClaim(NamedTuple):
    """What waits in an inbox: a note, or an entry in one."""

    memory: StoredMemory
    entry: FoundEntry | None = None
    """None: the note is the claim."""


class AcceptedClaim(NamedTuple):
    """A claim that is out of the inbox."""

    memory: StoredMemory
    text: str
    kind: str = MEMORY
    """memory, entry or link."""

    dropped: StoredMemory | None = None
    """The claim, hidden in the inbox, because ``memory`` said the same before."""

    updated: StoredMemory | None = None
    """The memory that ``memory`` updates from now on; None: no link was accepted."""

    is_new: bool = True
    """False: another process made the link before."""

    change: str = ""
    """Id of the change, for `hm undo`; empty: of a link there is none."""


def pending_claims(context: CurationContext) -> tuple[StoredMemory, ...]:
    """Return what waits for a person, of what the caller may see, newest first.

    These are the claims in the inboxes, and links that the language model proposes.
    """
    if not context.caller.is_member:
        return ()
    paths: Iterable[NotePath] | None = context.index.run_whole(
        lambda index, _: index.lists().pending_notes()
    )
    if paths is None:
        paths = context.folder.signatures()
    found = [
        claim.memory
        for path in paths
        if place_in_scope(path) == INBOX and may_read(context.caller, path)
        for claim in _claims_in(context, path)
        if claim.memory.status == STATUSES[PENDING]
    ]
    found += proposals_as_claims(context)
    found.sort(key=lambda claim: (claim.created, claim.path, claim.id), reverse=True)
    return memories_for(context.caller, found)


def find_pending(context: CurationContext, ref: str) -> PendingClaim:
    """Return the pending claim that an id, a key or a path refers to.

    Raises:
        MemoryNotFoundError: There is none, or the caller may not see it.
        UsageError: Several claims have the key, or are in the note.
    """
    wanted, index = ref.strip(), context.index.fresh(is_lookup=True)
    found: list[PendingClaim] = []
    meant: tuple[str, ...] = ()
    if context.caller.is_member and wanted and is_name(wanted):
        found = list(_claims_named(context, index, wanted))
        if not found:
            known = index.memories(scopes=context.caller.scopes, statuses={PENDING})
            meant = names_near(wanted, known)
    if not found:
        check_place(wanted)
        if find_proposal(context, wanted):
            message = "A proposed link has no text of its own."
            raise UsageError(message, hint="It is accepted or rejected as it is.")
        error = not_found(ref, " in the inbox", meant=meant)
        error.hint = "Use its key, id or path; `hm inbox` lists them."
        raise error
    if len(found) > 1:
        if paths := [claim.memory.path for claim in found if claim.entry is None]:
            hint = f"Name one by its path: {', '.join(paths)}"
        else:
            hint = (
                f"Name one by its id: {', '.join(claim.memory.id for claim in found)}"
            )
        message = f"{len(found)} pending claims are called {wanted!r}."
        raise UsageError(message, hint=hint)
    return found[0]


def _claims_named(
    context: CurationContext, index: MemoryIndex, wanted: str
) -> Iterator[PendingClaim]:
    """Yield the pending claims that a name refers to."""
    rows = rows_named(index, wanted, context.caller.scopes)
    pending = [row for row in rows if row.status == PENDING]
    _, first, last = split_place(wanted)
    for row in pending:
        for claim in _claims_in(context, NotePath(row.path)):
            if claim.entry is None:
                # Only the index knows a key that comes from the file name.
                yield PendingClaim(replaced(claim.memory, key=masked(row.key)))
            elif not first or (
                claim.entry.start_line <= last and first <= claim.entry.end_line
            ):
                yield claim
    path = "" if pending else index.entry_path(wanted, context.caller.scopes)
    if path and place_in_scope(path) == INBOX:
        for claim in _claims_in(context, NotePath(path)):
            if claim.entry is not None and claim.memory.id == wanted:
                yield claim


def _claims_in(context: CurationContext, path: NotePath) -> Iterator[PendingClaim]:
    """Yield the claims in a note of an inbox: its entries, else the note itself."""
    memory = load_memory(context, path)
    if memory is None:
        return
    entries: tuple[FoundEntry, ...] = ()
    if not (memory.type or memory.id):
        limit = context.folder.max_note_bytes
        entries = entries_in(context.folder.read(path, max_bytes=limit)[0])
    if not entries:
        yield PendingClaim(memory)
    for entry in entries:
        if not entry.provenance.is_forgotten:
            yield PendingClaim(entry_memory(path, entry), entry)


def accept(context: CurationContext, ref: str, version: str = "") -> AcceptedClaim:
    """Move a pending claim out of the inbox, and record that it can be undone.

    A proposed link is made.

    Args:
        context: Of the caller.
        ref: Id, key or path of the claim, or id of the proposed link.
        version: Of the text that was read, by ``text_version``; empty: any.

    Raises:
        HivemindError: As ``accept_claim``.
    """
    if proposal := find_proposal(context, ref):
        newer, older, is_new = accept_proposal(context, proposal, version)
        accepted = AcceptedClaim(newer, newer.text, LINK_ITEM, updated=older)
        return accepted._replace(is_new=is_new)
    accepted = accept_claim(context, ref, version)
    claim = accepted.dropped or accepted.memory
    change = record_accepted(context, claim, accepted.kind, text=accepted.text)
    return accepted._replace(change=change)


def reject(context: CurationContext, ref: str) -> ForgetResult:
    """Forget a pending claim, and no other memory of its key.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    if proposal := find_proposal(context, ref):
        return reject_proposal(context, proposal)
    claim = find_pending(context, ref)
    name = claim.memory.path if claim.entry is None else claim.memory.id
    return record_forgotten(context, forget(context, MemorySelector(name=name)))


def accept_claim(
    context: CurationContext, ref: str, version: str = ""
) -> AcceptedClaim:
    """Move a pending claim out of the inbox.

    The new file is on disk before the old one is removed, so a process that is killed
    in between leaves the claim in both places, and accepting it again ends that. If an
    active memory says the same, the claim is hidden where it is.

    Raises:
        KeyTakenError: Another memory is active under its key; nothing was changed.
        MemoryNotFoundError: There is no such claim.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: Several claims have the key.
        VersionChangedError: It has another text by now; see ``accept``.
    """
    check_person(context.caller, "Accepting a claim")
    pending = find_pending(context, ref)
    refuse_other_text(pending.memory, version)
    row, path = pending.memory, pending.memory.path
    check_writable(context.caller, path, "Nothing was changed")
    if pending.entry is not None:
        target = context.folder.spelled(_path_outside(path))
        return _move_entry(context, path, pending.entry, target)
    key = row.key or path.rpartition("/")[2].removesuffix(".md")
    with context.key_lock(row.scope, key, effect="Nothing was changed"):
        # Another process may have decided about it while that one held the lock.
        if find_pending(context, ref).memory.path != path:
            raise not_found(ref, " in the inbox")
        data, signature = context.folder.read(path)
        claim = read_memory_file(context.folder, path)
        refuse_other_text(parse_memory(path, claim.text, context), version)
        if claim.signature != signature:
            raise NotSavedError(
                f"{path} was changed just now.",
                hint="Look at the claim again, then accept it.",
                effect="Nothing was changed",
            )
        active, _ = find_active(
            context, context.index.fresh(is_lookup=True), row.scope, key
        )
        if active is not None and active.body != claim.body:
            raise KeyTakenError(
                f"Another memory is active under {key!r}: {active.path}.",
                hint="Nothing was changed. Save the text with --reason to replace it,"
                " or reject the claim.",
                current=parse_memory(active.path, active.text, context),
            )
        moved: tuple[NotePath, ...] = ()
        if active is None:
            moved = free_own_name(context.folder, row.scope, key)
            names = (*names_of(key), name_with_id(key, claim.id))
            paths = (path_in_scope(row.scope, name) for name in names)
            made = create_note(context.folder, paths, data)
        else:
            made = active.path
        is_dropped = active is not None and active.front.values.get("id") != claim.id
        if is_dropped:
            hidden = claim.with_values({"forgotten": context.now_iso()})
            context.folder.replace(path, hidden, expected=claim.signature)
        else:
            remove_own_file(context.folder, path, signature)
    context.update_index((made, path, *moved))
    memory = load_memory(context, made)
    if memory is None:
        raise not_found(ref)
    dropped = load_memory(context, path) if is_dropped else None
    return AcceptedClaim(memory, claim.body, dropped=dropped)


def _path_outside(path: NotePath) -> NotePath:
    """Return the note outside the inbox that receives the accepted entries of a note.

    >>> _path_outside(NotePath("projects/shop/inbox/2026-11-22.md"))
    'projects/shop/2026-11-22.md'
    """
    below = inner_path(path)
    outside = below.partition("/")[2] if place_in_scope(path) == INBOX else below
    return path_in_scope(scope_of(path), outside)


def _move_entry(
    context: CurationContext, path: NotePath, entry: FoundEntry, target: NotePath
) -> AcceptedClaim:
    """Move an entry to another note, with its id, and index both."""
    clocks = context.clocks
    writer = NoteWriter(
        context.folder, context.journal(), clocks.now, clocks.randomness
    )
    writer.move(entry.provenance.id, path, target)
    context.update_index((target, path))
    found = entries_in(context.folder.read(target)[0])
    [moved] = [other for other in found if other.provenance.id == entry.provenance.id][
        :1
    ]
    return AcceptedClaim(entry_memory(target, moved), moved.content, ENTRY)


def return_claim(context: CurationContext, claim: CurationTarget) -> NotePath:
    """Move an accepted claim back into the inbox, byte for byte; return its path.

    The caller updates the index.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    check_person(context.caller, "Undoing an accept")
    check_writable(context.caller, claim.path, "Nothing was changed")
    if claim.kind == ENTRY:
        return _return_entry(context, claim)
    key = claim.key or claim.path.rpartition("/")[2].removesuffix(".md")
    place = path_in_scope(claim.scope, f"{INBOX}/{name_with_id(key, claim.id)}")
    with context.key_lock(claim.scope, key, effect="Nothing was changed"):
        _refuse_changed(context, claim)
        data, signature = context.folder.read(claim.path)
        made = create_note(context.folder, [place], data)
        remove_own_file(context.folder, claim.path, signature)
    return made


def _refuse_changed(context: CurationContext, claim: CurationTarget) -> None:
    """Raise unless a claim is what it was before the lock of its key was held.

    A newer memory may have its file by now, and must stay active.
    """
    now = read_target(context, claim.path, claim.kind)
    for what, is_so in (
        ("replaced", now is None or now.id != claim.id),
        ("edited", now is not None and now.text != claim.text),
        ("forgotten", now is not None and now.forgotten != claim.forgotten),
    ):
        if is_so:
            raise built_upon(claim.key or claim.path, what)


def _return_entry(context: CurationContext, claim: CurationTarget) -> NotePath:
    """Move an accepted entry back into the inbox; return the note that holds it."""
    target = path_in_scope(claim.scope, f"{INBOX}/{inner_path(claim.path)}")
    target = context.folder.spelled(target)
    found = entries_in(context.folder.read(claim.path)[0])
    for entry in found:
        if entry.provenance.id == claim.id:
            _move_entry(context, claim.path, entry, target)
            return target
    raise not_found(claim.id)
