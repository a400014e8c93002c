"""The inbox: an untrusted claim becomes a memory when a person accepts it.

Accepting moves the note out of the inbox and changes nothing in it. It keeps its
source, so a search marks it as untrusted and it is never injected.
"""

from __future__ import annotations

from hivemind_memory.access.rules import check_person, check_writable
from hivemind_memory.curation.change_log import record_accepted
from hivemind_memory.curation.lookup import (
    is_name,
    load_memory,
    names_near,
    not_found,
    parse_memory,
    rows_named,
)
from hivemind_memory.curation.supersede import (
    create_note,
    find_active,
    remove_own_file,
)
from hivemind_memory.errors import KeyTakenError, UsageError
from hivemind_memory.files.paths import parse_note_path, path_in_scope
from hivemind_memory.model.memories import PENDING
from hivemind_memory.model.scope import INBOX
from hivemind_memory.notes.memory_file import read_memory_file
from hivemind_memory.notes.slug import name_with_id, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.note_path import NotePath


def find_pending(context: CurationContext, ref: str) -> MemoryRow:
    """Return the pending claim that an id, a key or a path refers to.

    Raises:
        MemoryNotFoundError: There is none, or the caller may not see it.
        UsageError: Several claims have the key.
    """
    wanted, index = ref.strip(), context.index.fresh()
    rows: list[MemoryRow] = []
    meant: tuple[str, ...] = ()
    if context.caller.is_member and wanted and is_name(wanted):
        named = rows_named(index, wanted, context.caller.scopes)
        rows = [row for row in named if row.status == PENDING]
        if not rows:
            known = index.memories(scopes=context.caller.scopes, statuses={PENDING})
            meant = names_near(wanted, known)
    if not rows:
        error = not_found(ref, " in the inbox", meant=meant)
        error.hint = "Name it by its key, its id or its path; `hm inbox` lists them."
        raise error
    if len(rows) > 1:
        paths = ", ".join(row.path for row in rows)
        message = f"{len(rows)} pending claims are called {wanted!r}."
        raise UsageError(message, hint=f"Name one by its path: {paths}")
    return rows[0]


def accept(context: CurationContext, ref: str) -> StoredMemory:
    """Move a pending claim out of the inbox, and record that it can be taken back.

    Raises:
        HivemindError: As ``accept_claim``.
    """
    memory, text = accept_claim(context, ref)
    record_accepted(context, memory, text=text)
    return memory


def accept_claim(context: CurationContext, ref: str) -> tuple[StoredMemory, str]:
    """Move a pending claim out of the inbox.

    The new file is on disk before the old one is removed, so a process that is killed
    in between leaves the claim in both places, and accepting it again ends that.

    Returns:
        The memory that it is now, and its text; no text if a memory that said the same
        was there, and stays.

    Raises:
        KeyTakenError: Another memory is active under its key; nothing was changed.
        MemoryNotFoundError: There is no such claim.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: Several claims have the key.
    """
    check_person(context.caller, "Accepting a claim")
    row = find_pending(context, ref)
    path = parse_note_path(row.path)
    check_writable(context.caller, path)
    key = row.key or path.rpartition("/")[2].removesuffix(".md")
    with context.key_lock(row.scope, key, effect="Nothing was changed"):
        claim = read_memory_file(context.folder, path)
        data, signature = context.folder.read(path)
        active, _ = find_active(context, context.index.fresh(), row.scope, key)
        if active is not None and active.body != claim.body:
            raise KeyTakenError(
                f"Another memory is active under {key!r}: {active.path}.",
                hint="Save the text with --reason to replace it, or reject the claim.",
                current=parse_memory(active.path, active.text, context),
            )
        if active is None:
            names = (*names_of(key), name_with_id(key, claim.id))
            paths = (path_in_scope(row.scope, name) for name in names)
            made = create_note(context.folder, paths, data)
        else:
            made = active.path
        remove_own_file(context.folder, path, signature)
    context.update_index((made, path))
    memory = load_memory(context, made)
    if memory is None:
        raise not_found(ref)
    return memory, "" if active else claim.body


def return_claim(context: CurationContext, claim: CurationTarget) -> NotePath:
    """Move an accepted claim back into the inbox, byte for byte; return its path.

    The caller updates the index.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    check_person(context.caller, "Taking back an accept")
    check_writable(context.caller, claim.path)
    key = claim.key or claim.path.rpartition("/")[2].removesuffix(".md")
    place = path_in_scope(claim.scope, f"{INBOX}/{name_with_id(key, claim.id)}")
    with context.key_lock(claim.scope, key, effect="Nothing was changed"):
        data, signature = context.folder.read(claim.path)
        made = create_note(context.folder, [place], data)
        remove_own_file(context.folder, claim.path, signature)
    return made
