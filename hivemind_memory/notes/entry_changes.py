"""Entries of many notes changed, as one of the writers: nobody appends meanwhile.

The journal learns in the same turn what must not come back.
"""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.errors import HivemindError, NoteNotFoundError
from hivemind_memory.notes.interrupted import finish_interrupted
from hivemind_memory.notes.note_edits import edit_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.folder import NotesFolder
    from hivemind_memory.notes.journal import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What was changed, and what could not be."""

    paths: tuple[NotePath, ...]
    """Notes that are different now."""

    failed: Mapping[NotePath, HivemindError]
    """Note -> why it is as it was."""

    journal_problem: HivemindError | None = None
    """Why the journal still knows the entries."""

    journal_texts: int = 0
    """Texts that went from the journal."""


def change_entries(
    folder: NotesFolder,
    journal: Journal,
    entries: Mapping[NotePath, Collection[str]],
    change: Callable[[bytes, Collection[str]], bytes],
    *,
    now_s: float,
    final: Collection[str],
) -> Changed:
    """Change entries in their notes; a note that cannot be changed stops no other.

    Args:
        folder: Where the notes lie.
        journal: The journal of that folder.
        entries: Note -> ids of its entries.
        change: Bytes of a note and ids -> its new bytes.
        now_s: Seconds since the epoch.
        final: Ids that the journal forgets: if their text vanishes later, it does not
            come back. Those of a note that could not be changed stay.

    Raises:
        NotSavedError: The turn of the writers could not be had; nothing was changed.
    """
    paths: list[NotePath] = []
    failed: dict[NotePath, HivemindError] = {}
    problem: HivemindError | None = None
    dropped = 0
    with journal.session() as session:
        try:
            finish_interrupted(session)
        except OSError as error:
            raise journal.refused(error) from error
        for path, ids in entries.items():
            try:
                if edit_note(folder, path, lambda data, ids=ids: change(data, ids)):  # type: ignore[misc]  # bound now
                    paths.append(path)
            except NoteNotFoundError:
                continue  # so is the entry
            except HivemindError as error:
                failed[path] = error
        if final:
            known = session.entries()
            gone = {*final}.difference(*(entries[path] for path in failed))
            try:
                session.keep(known.keys() - gone, now_s)
                dropped = len(known.keys() & gone)
            except OSError as error:
                problem = journal.refused(error)
    return Changed(
        paths=tuple(paths),
        failed=failed,
        journal_problem=problem,
        journal_texts=dropped,
    )
