"""Writes an entry: checks what may be written where, then appends it to its note.

``Memory.write`` calls the two steps in order and indexes the note. Nothing here knows
the index.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial

from hivemind_memory.access.read_only import check_not_read_only
from hivemind_memory.access.rules import check_person, check_source, check_writable
from hivemind_memory.errors import (
    HivemindError,
    NotePathError,
    NotSavedError,
    ScopeError,
    StateUnusableError,
    UsageError,
)
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.paths import SUFFIX, parse_note_path
from hivemind_memory.files.scan import BYTES_PER_MB
from hivemind_memory.model.citation import parse_source_ref, parse_writer
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.results import NOT_RECORDED, WriteResult, pending_notice
from hivemind_memory.model.scope import (
    INBOX,
    scope_of,
)
from hivemind_memory.model.tags import parse_tags
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.model.value import replaced, value
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.recovered_entries import RECOVERED_NAME
from hivemind_memory.notes.writer import NoteWriter, refuse_unfit
from hivemind_memory.redaction import find_secrets, holds_known
from hivemind_memory.redaction.redact import scrubbed, warning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.memory.open_index import IndexHandle
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.note import Provenance
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.state.state_file import StateFile

_COMMENT = 10_000
"""Bytes that the comment line of an entry stays below: its source reference has at most
500 characters, each of up to twelve bytes when it is escaped."""


@value
class NewEntry:
    """An entry that may be appended as it is."""

    path: NotePath
    file: str
    """How the caller named the note; empty: not at all."""

    content: str
    """Without secrets."""

    provenance: Provenance
    """Who wrote it and when; its id is given when it is appended."""

    check: Callable[[], object]
    """Raises if the text was purged meanwhile: the writer may have waited for long."""

    warnings: tuple[str, ...] = ()


def prepare_entry(
    content: str,
    provenance: Provenance,
    *,
    file: str,
    scope: str,
    find_scope: Callable[[str], str],
    caller: Caller,
    state: StateFile,
    is_forced: bool,
) -> NewEntry:
    """Return the entry to append, if the caller may append it.

    Args:
        content: What to remember.
        provenance: Who says so and when, without an id.
        file: Name of a note; empty: that of the day.
        scope: Name of a scope; empty: the default.
        find_scope: Returns the scope of a name, and the default for an empty one.
        caller: Who writes.
        state: Knows what was purged.
        is_forced: Write it even if the same text was purged before.

    Raises:
        NotSavedError: The caller may not write there.
        NotePathError: *file* is not a plain relative name of a note.
        ScopeError: The caller does not have that scope, or may only read.
        UsageError: The file is in another scope than the one that is named, or the same
            text was purged before.
    """
    check_not_read_only(caller, "Nothing was saved")
    path = note_to_write(provenance, file=file, scope=scope, find_scope=find_scope)
    check_writable(caller, path, source=provenance.source)
    check_source(caller, provenance.source)
    if "/" in file and caller.project and caller.project == scope_of(path):
        # Not into a folder that it had before.
        find_scope("project")
    # Before the search for secrets, which takes seconds for megabytes.
    refuse_unfit(content)
    ref = parse_source_ref(provenance.ref)
    named = parse_tags(provenance.tags, effect="Nothing was saved")
    by = parse_writer("by", provenance.by)
    session = parse_writer("session", provenance.session)
    texts = (content, by, session, ref, *named)
    [content, by, session, ref, *tags], found = scrubbed(*texts)
    refuse = partial(refuse_purged, state, content, scope_of(path), caller)
    doubts = refuse(is_forced=is_forced)
    return NewEntry(
        path=path,
        file=file,
        content=content,
        provenance=replaced(
            provenance, by=by, session=session, ref=ref, tags=tuple(tags)
        ),
        check=(lambda: None) if is_forced else partial(refuse, is_forced=False),
        warnings=(*warning_of(found), *doubts, *pending_notice(path)),
    )


def note_to_write(
    provenance: Provenance,
    *,
    file: str,
    scope: str,
    find_scope: Callable[[str], str],
) -> NotePath:
    """Return the note that an entry is appended to; see ``prepare_entry``.

    A file with a folder is a path below the notes folder, as lists and hits show it,
    and so it has a scope of its own; so has ``global.md``. Without a file, an entry of
    an untrusted source goes to the inbox.
    """
    named = parse_note_path(file) if file else None
    if named is not None and named.rpartition("/")[2].casefold() == RECOVERED_NAME:
        raise UsageError(
            f"{named[:100]} is kept for entries that another program removed.",
            hint="Name another file.",
            effect="Nothing was saved",
        )
    if named is not None and ("/" in named or (named == GLOBAL_NOTE and not scope)):
        if scope and find_scope(scope) != scope_of(named):
            where = scope_of(named) or "the global scope"
            raise UsageError(
                f"{named} is in {where}, not in {scope[:100]}.",
                hint="Name the file or the scope, not both.",
                effect="Nothing was saved",
            )
        return named
    folders = [find_scope(scope)]
    if named is None and not is_trusted(provenance.source):
        folders.append(INBOX)
    name = named or f"{provenance.at[:10]}.md"
    return parse_note_path("/".join([*filter(None, folders), name]))


def refuse_secret_name(folder: NotesFolder, path: NotePath, name: str) -> None:
    """Raise if a note would be created under a name that looks like a secret.

    Names are shown everywhere, and nothing masks them.

    Args:
        folder: Knows which notes there are.
        path: The note.
        name: How it was named: its scope was not chosen here.

    Raises:
        NotePathError: It does; the message does not repeat it.
    """
    found = find_secrets(name.removesuffix(SUFFIX))
    if not found or folder.signature(path) is not None:
        return
    kinds = ", ".join(dict.fromkeys(secret.kind for secret in found))
    raise NotePathError(
        f"The file name looks like a secret ({kinds}).",
        hint="Name the file after what it is about.",
        effect="Nothing was saved",
    )


def refuse_secret_scope(folder: NotesFolder, scope: str) -> None:
    """Raise if a scope would be new, and its name holds a value of the vault.

    Raises:
        ScopeError: It does; the message does not repeat it.
    """
    if holds_known(scope) and not os.path.isdir(os.path.join(folder.root, scope)):
        raise ScopeError(
            "The name of the scope contains a secret of the vault.",
            hint="Choose another name: names are shown in lists.",
            effect="Nothing was saved",
        )


def refuse_purged(
    state: StateFile, content: str, scope: str, caller: Caller, *, is_forced: bool
) -> tuple[str, ...]:
    """Raise if a text was purged in a scope before; if forced, allow it from now on.

    Returns:
        A warning if a forced text is still listed, or if a list was lost by damage.

    Raises:
        NotSavedError: It cannot be looked up.
        UsageError: It was purged, or an agent tries to force it.
    """
    if is_forced:
        check_person(caller, "Saving again what was purged")
    try:
        if is_forced:
            state.remove_tombstone(content, scope)
            return ()
        is_purged = state.has_tombstone(content, scope)
    except StateUnusableError as error:
        if is_forced:
            return (f"the text is still listed as purged: {error}",)
        raise NotSavedError(
            f"could not check whether this text was purged before: {error}.",
            hint=f"{error.hint or 'run `hm doctor`'}; a person can save it unchecked"
            " with --force.",
            effect="Nothing was saved",
        ) from error
    if is_purged:
        raise UsageError(
            "this text was purged from the memory.",
            hint="A person can save it again: `hm save --force`, `hm write --force`.",
            effect="Nothing was saved",
        )
    if state.has_lost_tombstones():
        lost = "state.db was damaged or lost: it is not known what was purged before"
        return (f"{lost} (`hm doctor` says more)",)
    return ()


def _refuse_overfull(folder: NotesFolder, path: NotePath, content: str) -> None:
    """Raise if a note would pass ``max_note_mb``: no search would find it any more."""
    signature = folder.signature(path)
    size = signature[2] if signature is not None else 0
    if (
        size + len(content.encode("utf-8", "replace")) + _COMMENT
        < folder.max_note_bytes
    ):
        return
    limit_mb = folder.max_note_bytes / BYTES_PER_MB
    raise NotSavedError(
        f"{path} would be larger than {limit_mb:g} MB, and no search would read it.",
        hint="Name another file; `hm config set max_note_mb` allows larger notes.",
        effect="Nothing was saved",
    )


def _why_later(folder: NotesFolder, path: NotePath) -> str:
    """Return when an entry is indexed that is not indexed yet."""
    from hivemind_memory.memory.note_indexer import LARGE_NOTE_BYTES

    signature = None
    with suppress(HivemindError):  # the entry is saved, so nothing may fail any more
        signature = folder.signature(path)
    if signature is not None and signature[2] > LARGE_NOTE_BYTES:
        return f"{path} is large and not indexed yet; the next search indexes it"
    return "the next search indexes it"


def append_entry(
    new: NewEntry,
    folder: NotesFolder,
    journal_dir: str,
    handle: IndexHandle,
    clocks: Clocks,
    *,
    record: Callable[[NotePath, str, str], str],
) -> WriteResult:
    """Append an entry to its note, by way of the journal; on disk when this returns.

    Args:
        new: The entry.
        folder: The notes; created if missing.
        journal_dir: Folder of the journal.
        handle: The index, updated for the note unless a large note is being indexed.
        clocks: For the entry's id.
        record: Records path, id and text of what was saved; returns "" if it fails.

    Raises:
        NotSavedError: Nothing was saved; the message says why.
        NotePathError: The note would be new, and its name looks like a secret.
        UsageError: There is nothing to save.
    """
    path = folder.spelled(new.path)
    refuse_secret_name(folder, path, new.file)
    refuse_secret_scope(folder, scope_of(path))
    make_private_folder(folder.root)
    _refuse_overfull(folder, path, new.content)
    journal = Journal(journal_dir, folder.root)
    writer = NoteWriter(folder, journal, clocks.now, clocks.randomness, new.check)
    with handle.lock:
        entry = writer.append(
            path,
            new.content,
            at=new.provenance.at,
            by=new.provenance.by,
            session=new.provenance.session,
            source_ref=new.provenance.ref,
            tags=new.provenance.tags,
            source=new.provenance.source,
        )
        is_indexed = handle.index_note(entry.path, is_whole=False)
        is_recorded = bool(record(entry.path, entry.id, new.content))
    if not is_indexed and handle.wait_for_rest():
        with handle.lock:
            is_indexed = handle.index_note(entry.path, is_whole=False)
    later = () if is_indexed else (_why_later(folder, entry.path),)
    return WriteResult(
        path=entry.path,
        scope=scope_of(entry.path),
        id=entry.id,
        start_line=entry.start_line,
        end_line=entry.end_line,
        is_indexed=is_indexed,
        warnings=(*new.warnings, *later, *(() if is_recorded else (NOT_RECORDED,))),
    )
