"""One write: journal, note, disk, in this order; then it may be indexed."""

from __future__ import annotations

from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.os_files import make_private_folder
from hivemind_memory.notes.writer import NoteWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.clocks import Clocks
    from hivemind_memory.model.note import Provenance
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.folder import NotesFolder
    from hivemind_memory.notes.writer import AppendedEntry


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
