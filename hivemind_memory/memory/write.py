"""One write: journal, note, disk, in this order; then it may be indexed."""

from __future__ import annotations

from hivemind_memory.access.check import check_writable
from hivemind_memory.errors import StateUnusableError, UsageError
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.results import WriteResult
from hivemind_memory.model.scope import INBOX
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.writer import NoteWriter
from hivemind_memory.redaction.redact import scrubbed, warning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.memory.clocks import Clocks
    from hivemind_memory.memory.service import Memory
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.writer import AppendedEntry
    from hivemind_memory.state.file import StateFile


def write(
    memory: Memory,
    content: str,
    *,
    file: str,
    by: str,
    session: str,
    source: str,
    is_forced: bool,
) -> WriteResult:
    """Write an entry as its caller may; see ``Memory.write``."""
    memory.check_enabled()
    at = memory.clocks.local_iso(memory.clocks.now())
    path = parse_note_path(file or note_for(at, source, memory.home_scope()))
    check_writable(memory.caller, path)
    [content, by, session], found = scrubbed(content, by, session)
    doubts = refuse_purged(memory.state(), content, is_forced=is_forced)
    provenance = Provenance(id="", at=at, by=by, session=session, source=source)
    with memory.lock:
        entry = write_entry(
            memory.folder,
            memory.places.journal,
            memory.clocks,
            content,
            provenance,
            path=path,
        )
        is_indexed = memory.index_handle.index_note(path)
    later = () if is_indexed else ("the next search indexes it",)
    return WriteResult(
        path=entry.path,
        id=entry.id,
        start_line=entry.start_line,
        end_line=entry.end_line,
        is_indexed=is_indexed,
        warnings=(*warning_of(found), *doubts, *later),
    )


def refuse_purged(
    state: StateFile, content: str, *, is_forced: bool
) -> tuple[str, ...]:
    """Raise if a text was purged before, unless somebody insists: then no more.

    Returns:
        Why that could not be looked up; nothing when it could. No reason to lose what
        somebody wants to save.

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
            "This text was purged from the memory: nothing was saved.",
            hint="A person can save it again: `hm save --force`, `hm write --force`.",
        )
    return ()


def note_for(at: str, source: str, scope: str) -> str:
    """Return the note that an entry goes to when none is named.

    Args:
        at: The time now, ISO 8601.
        source: human, agent, tool or external.
        scope: Its folder; empty: global.
    """
    room = f"{INBOX}/" if not is_trusted(source) else ""
    return f"{scope}/{room}{at[:10]}.md" if scope else f"{room}{at[:10]}.md"


def write_entry(
    folder: NotesFolder,
    journal_dir: str,
    clocks: Clocks,
    content: str,
    provenance: Provenance,
    *,
    path: NotePath,
) -> AppendedEntry:
    """Append one entry and return where it is; see ``Memory.write``.

    Args:
        folder: Where the notes lie; made if it is missing.
        journal_dir: Where the entry goes first.
        clocks: Tell the time and bring what makes the entry's number unique.
        content: What to remember.
        provenance: Who says so and when; its id is given here.
        path: The note.
    """
    make_private_folder(folder.root)
    writer = NoteWriter(folder, Journal(journal_dir), clocks.now, clocks.randomness)
    return writer.append(
        path,
        content,
        at=provenance.at,
        by=provenance.by,
        session=provenance.session,
        source=provenance.source,
    )
