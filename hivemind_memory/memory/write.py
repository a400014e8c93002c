"""Writing an entry: what may be written where, then journal, note and disk.

``Memory.write`` calls the two steps in order and indexes the note. Nothing here knows
the index.
"""

from __future__ import annotations

from hivemind_memory.access.check import check_writable
from hivemind_memory.errors import StateUnusableError, UsageError
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.scope import INBOX
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.model.value import value
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.writer import NoteWriter
from hivemind_memory.redaction.redact import scrubbed, warning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.memory.clocks import Clocks
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.writer import AppendedEntry
    from hivemind_memory.state.file import StateFile


@value
class NewEntry:
    """An entry that may be appended as it is."""

    path: NotePath
    content: str
    """Without secrets."""

    provenance: Provenance
    """Who wrote it and when; its id is given when it is appended."""

    warnings: tuple[str, ...] = ()


def prepare_entry(
    content: str,
    provenance: Provenance,
    *,
    file: str,
    scope: str,
    caller: Caller,
    state: StateFile,
    is_forced: bool,
) -> NewEntry:
    """Return the entry to append, if the caller may append it.

    Args:
        content: What to remember.
        provenance: Who says so and when, without an id.
        file: Name of a note; empty: that of the day, or of the inbox for a source that
            is not trusted.
        scope: Where the note of the day lies.
        caller: Who writes.
        state: Knows what was purged.
        is_forced: Write it even if the same text was purged before.

    Raises:
        NotSavedError: The caller does not write there.
        NotePathError: *file* is not a plain relative name of a note.
        UsageError: The same text was purged before.
    """
    path = parse_note_path(file or daily_note(provenance, scope))
    check_writable(caller, path)
    [content, by, session], found = scrubbed(content, provenance.by, provenance.session)
    doubts = refuse_purged(state, content, is_forced=is_forced)
    return NewEntry(
        path=path,
        content=content,
        provenance=Provenance(
            id="", at=provenance.at, by=by, session=session, source=provenance.source
        ),
        warnings=(*warning_of(found), *doubts),
    )


def daily_note(provenance: Provenance, scope: str) -> str:
    """Return the note of the day in a scope; in its inbox for an untrusted source."""
    folders = [scope] if scope else []
    if not is_trusted(provenance.source):
        folders.append(INBOX)
    return "/".join([*folders, f"{provenance.at[:10]}.md"])


def refuse_purged(
    state: StateFile, content: str, *, is_forced: bool
) -> tuple[str, ...]:
    """Raise if a text was purged before; if forced, allow it from now on.

    Returns:
        A warning if that could not be looked up, which is no reason not to save.

    Raises:
        UsageError: It was purged.
    """
    try:
        if is_forced:
            state.remove_tombstone(content)
            return ()
        is_purged = state.has_tombstone(content)
    except StateUnusableError as error:
        return (f"whether this was purged before could not be looked up: {error}",)
    if is_purged:
        raise UsageError(
            "this text was purged from the memory.",
            hint="A person can save it again: `hm save --force`, `hm write --force`.",
            effect="Nothing was saved",
        )
    return ()


def append_entry(
    new: NewEntry, folder: NotesFolder, journal_dir: str, clocks: Clocks
) -> AppendedEntry:
    """Append an entry to its note, by way of the journal; on disk when this returns.

    Args:
        new: The entry.
        folder: The notes; created if missing.
        journal_dir: Folder of the journal.
        clocks: For the entry's id.

    Raises:
        NotSavedError: Nothing was saved; the message says why.
        UsageError: There is nothing to save.
    """
    make_private_folder(folder.root)
    writer = NoteWriter(folder, Journal(journal_dir), clocks.now, clocks.randomness)
    return writer.append(
        new.path,
        new.content,
        at=new.provenance.at,
        by=new.provenance.by,
        session=new.provenance.session,
        source=new.provenance.source,
    )
