"""Acknowledged entries that vanished come back.

Promise: if anything removes an entry within ten minutes of its writing (a stale editor
buffer, a sync tool, a checkout), it comes back once, in ``recovered.md``. Removing it
there, or removing it later, is final.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.appending import Draft, append_entry
from hivemind_memory.notes.entries import parse_provenance
from hivemind_memory.notes.folder import NotesFolder
from hivemind_memory.notes.interrupted import finish_interrupted
from hivemind_memory.notes.journal_records import BEGUN, RETURNING, SAVED, is_young
from hivemind_memory.notes.vanished import vanished

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.notes.journal import Journal
    from hivemind_memory.notes.journal_file import JournalFile
    from hivemind_memory.notes.journal_records import JournalEntry

RECOVERED_NOTE = NotePath("recovered.md")

# A search waits so long for the lock: what it cannot look after now, the next one does.
_WAIT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """An entry that vanished and is back."""

    id: str
    path: NotePath
    """The note that it vanished from."""


def recover(journal: Journal, now_s: float) -> tuple[Recovered, ...]:
    """Bring back acknowledged entries that have vanished, each of them once.

    Also finishes what a killed writer left, and forgets entries that have survived
    their ten minutes. If there is nothing to do it takes no lock and writes nothing.

    Raises:
        NotSavedError: An entry is missing and could not be put back now. The journal
            still has it.
    """
    try:
        return _recover(journal, now_s)
    except NotSavedError:
        raise
    except HivemindError as error:
        message = f"Vanished entries could not be put back: {error}"
        raise NotSavedError(message, hint=error.hint) from error


def recover_within(session: JournalFile, now_s: float) -> tuple[Recovered, ...]:
    """Do what ``recover`` does, for who holds the lock already.

    Raises:
        HivemindError: An entry could not be put back.
        OSError: The journal could not be rewritten.
    """
    entries = session.entries()
    gone = vanished(entries.values(), now_s)
    back = [entry for entry in gone if _put_back(session, entry)]
    kept = {
        entry.id
        for entry in entries.values()
        if entry.state == SAVED and is_young(entry, now_s) and entry not in gone
    }
    session.keep(kept, now_s)
    return tuple(Recovered(id=entry.id, path=entry.path) for entry in back)


def _recover(journal: Journal, now_s: float) -> tuple[Recovered, ...]:
    """Look without the lock first: nearly always that is all."""
    if not journal.needs_look():
        return ()
    entries = journal.entries()
    is_in_doubt = any(entry.state in (BEGUN, RETURNING) for entry in entries)
    is_over = not any(
        entry.state == SAVED and is_young(entry, now_s) for entry in entries
    )
    if not vanished(entries, now_s) and (
        # A writer that is at work will leave nothing in doubt, and look after the rest.
        not (is_in_doubt or is_over) or journal.is_busy()
    ):
        return ()
    with journal.session(wait_s=_WAIT_S) as session:
        try:
            finish_interrupted(session)
            return recover_within(session, now_s)
        except OSError as error:
            raise journal.refused(error) from error


def _put_back(session: JournalFile, entry: JournalEntry) -> bool:
    """Append a vanished entry to ``recovered.md``; False if its text is damaged."""
    comment, _, content = session.text(entry).lstrip("\r\n").partition("\n")
    provenance = parse_provenance(comment)
    if provenance is None:
        return False
    entry = replace(entry, state=RETURNING, target=RECOVERED_NOTE)
    draft = Draft(entry=entry, provenance=provenance, content=content)
    append_entry(session, NotesFolder(entry.root), draft)
    return True
