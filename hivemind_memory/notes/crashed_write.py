"""Settles what a killed writer left in the journal and in its note.

An entry that is whole in its note stays, a torn one is cut off, and one that never
reached its note is dropped, because it was never acknowledged.
"""

from __future__ import annotations

from contextlib import closing

from hivemind_memory.errors import UsageError
from hivemind_memory.files.descriptors import PRIVATE_FILE
from hivemind_memory.files.errors import is_in_the_way
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.markdown.entry import OPENING
from hivemind_memory.notes.append import OpenNote
from hivemind_memory.notes.journal_records import (
    BEGUN,
    DROPPED,
    RECOVERED,
    RETURNING,
    SAVED,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.notes.journal import JournalFile
    from hivemind_memory.notes.journal_records import JournalEntry


def finish_crashed_write(session: JournalFile) -> None:
    """Settle what became of the entry whose writer was killed, if there is one.

    Raises:
        OSError: Not now; the next writer tries again.
    """
    if not session.is_unfinished():
        return
    for entry in session.entries().values():
        if entry.state == BEGUN:
            is_there = _is_there(entry, session.text(entry).encode())
            session.mark(SAVED if is_there else DROPPED, entry)
        elif entry.state == RETURNING:
            is_there = _is_there(entry, session.text(entry).encode())
            session.mark(RECOVERED if is_there else SAVED, entry)


def _is_there(entry: JournalEntry, data: bytes) -> bool:
    """Return whether an entry in doubt is in its note; cut it off if it is torn."""
    try:
        note = OpenNote.find(NotesFolder(entry.root), entry.target)
    except (UsageError, PermissionError):
        return False  # no notes folder, or a note that is no longer ours to write
    except OSError as error:
        if is_in_the_way(error):
            return False
        raise
    if note is None:
        return False
    with closing(note):
        held = note.read()
        start = _torn_at(held, data, entry)
        if start >= 0:
            note.cut(start)
            held = held[:start]
        if entry.is_new and not held and note.mode() == PRIVATE_FILE:
            note.remove_if_empty()
        return _marker(entry) in held


def _torn_at(held: bytes, data: bytes, entry: JournalEntry) -> int:
    """Return where a torn beginning of *data* starts at the end of a note, else -1.

    A rest of blank lines alone is never called torn: a person may have typed them.
    """
    marker = _marker(entry)
    beginning = data[: data.find(marker) + len(marker)]
    for start in (entry.size_before, held.rfind(beginning)):
        tail = held[start:] if 0 <= start < len(held) else b""
        if tail.strip() and len(tail) < len(data) and data.startswith(tail):
            return start
    return -1


def _marker(entry: JournalEntry) -> bytes:
    """Return how the comment of an entry begins in its note."""
    return f"{OPENING}id={entry.id} ".encode()
