"""The entries that came back: each is kept, whichever notes folder it is in."""

from __future__ import annotations

from pathlib import Path

from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.journal_records import SAVED, JournalEntry
from hivemind_memory.notes.recovered_entries import add_recovered, read_recovered


def lost(root: Path, entry_id: str) -> JournalEntry:
    """Return an entry that is about to come back."""
    return JournalEntry(
        id=entry_id,
        root=str(root),
        path=NotePath("n.md"),
        at_s=1.0,
        state=SAVED,
        target=NotePath("n.md"),
        size_before=0,
        is_new=True,
        offset=0,
    )


def test_entries_of_two_folders_that_come_back_together_are_all_kept(
    tmp_path: Path,
) -> None:
    """One home may serve several notes folders, and has one journal."""
    roots, journal = [tmp_path / "one", tmp_path / "two"], tmp_path / "journal"
    for folder in (*roots, journal):
        folder.mkdir()

    add_recovered(str(journal), [lost(root, f"id-{root.name}") for root in roots])

    kept = {one.entry.id for one in read_recovered(str(journal))}
    assert kept == {"id-one", "id-two"}
