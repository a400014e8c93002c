"""Removes purged memories from the notes and from the journal."""

from __future__ import annotations

from hivemind_memory.curation.lookup import CurationTarget
from hivemind_memory.curation.purge_moved import changed_notes, find_moved
from hivemind_memory.curation.purge_plan import hashes_in, is_same_note
from hivemind_memory.curation.purge_references import remove_references
from hivemind_memory.curation.selection import entry_ids
from hivemind_memory.errors import HivemindError, NoteNotFoundError, NotSavedError
from hivemind_memory.files.errors import MAX_ATTEMPTS
from hivemind_memory.model.curation import ENTRY
from hivemind_memory.notes.entry_edits import (
    change_entries,
    entries_in,
    without_entries,
)
from hivemind_memory.notes.memory_file import remove_note
from hivemind_memory.notes.recovered_entries import count_recovered, drop_recovered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hivemind_memory.curation.purge_report import PurgeReport
    from hivemind_memory.model.note_path import NotePath


_ROUNDS = 5
"""How often the notes are searched again because another program moved a text."""


def count_notes(report: PurgeReport) -> None:
    """Report the targets, and references to them in other notes."""
    report.add_targets()
    _report_references(report, is_dry_run=True)


def clean_notes(report: PurgeReport) -> None:
    """Remove the targets, and references to them, from the notes."""
    report.add_targets()
    # First, while it is known what the purged memories had replaced.
    _report_references(report, is_dry_run=False)
    _remove_files(report, report.targets)


def count_journal(report: PurgeReport) -> None:
    """Report how many of the texts the journal holds."""
    gone = _journal_ids(report)
    entries = report.context.journal().entries()
    found = (
        entry for entry in entries if entry.id in gone and report.may_read(entry.path)
    )
    report.add_count("journal", sum(1 for _ in found), "texts")


def clean_journal(report: PurgeReport) -> None:
    """Remove entries from their notes and from the journal, under its lock.

    Then also what other processes moved while the notes were cleaned.
    """
    count_journal(report)
    _add_late_entries(report)
    _remove_entries(report, report.targets)
    _clean_moved(report)
    _clean_returned(report)
    _remove_empty_folders(report)


def _add_late_entries(report: PurgeReport) -> None:
    """Name the entries that were written to a purged note since the choice."""
    context = report.context
    known = {
        target.path: {entry.provenance.id for entry in entries_in(target.text.encode())}
        for target in report.targets
        if target.kind != ENTRY
    }
    for entry in context.journal().entries():
        path = entry.target
        if entry.root != context.folder.root or not report.may_read(path):
            continue
        if path not in known or entry.id in known[path]:
            continue
        try:
            there = entries_in(context.folder.read(path)[0])
        except HivemindError:
            there = ()
        if all(other.provenance.id != entry.id for other in there):
            late = CurationTarget(
                kind=ENTRY, path=path, id=entry.id, why="in a purged note"
            )
            report.targets.append(late)


def _clean_moved(report: PurgeReport) -> None:
    """Remove what is in other notes since the targets were chosen."""
    try:
        for _ in range(_ROUNDS):
            found = find_moved(report)
            if not found:
                break
            report.add_moved(found)
            _remove_files(report, found)
            _remove_entries(report, found)
        changed = changed_notes(report)
    except HivemindError as error:
        report.fail("notes", f"{error}; purge again to finish")
        return
    if changed:
        _remove_references(report, changed)


def _remove_files(report: PurgeReport, targets: Sequence[CurationTarget]) -> None:
    """Remove memories and whole notes."""
    for target in list(targets):
        if target.kind != ENTRY:
            _remove_file(report, target)


def _remove_entries(report: PurgeReport, targets: Sequence[CurationTarget]) -> None:
    """Remove entries from their notes, and all that is purged from the journal."""
    context = report.context
    ids = entry_ids(targets)
    try:
        changed = change_entries(
            context.folder,
            context.journal(),
            ids,
            without_entries,
            now_s=context.clocks.now(),
            final=_journal_ids(report),
        )
    except HivemindError as error:
        for what in (*sorted(ids), "journal"):
            report.fail(what, str(error))
    else:
        for path, why in changed.failed.items():
            report.fail(path, str(why))
        if changed.journal_problem is not None:
            report.fail("journal", str(changed.journal_problem))


def _clean_returned(report: PurgeReport) -> None:
    """Remove the records of recovered entries."""
    journal = report.context.journal()
    if not count_recovered(journal.folder, report.is_purged):
        return
    try:
        with journal.session():
            drop_recovered(journal.folder, report.is_purged)
    except (HivemindError, OSError) as error:
        report.fail("recovered entries", str(error))


def _report_references(report: PurgeReport, *, is_dry_run: bool) -> None:
    """Count or remove references in other notes, and report them."""
    found = remove_references(
        report.context, report.targets, report.plan, is_dry_run=is_dry_run
    )
    report.add_count("references", found.count, "in other notes")
    report.plan.notes |= {*found.paths}
    report.left += found.left
    report.links += found.links


def _remove_references(report: PurgeReport, paths: Collection[NotePath]) -> None:
    """Remove the references that some notes have got since the others were cleaned."""
    found = remove_references(report.context, report.targets, report.plan, only=paths)
    report.add_to_count("references", found.count)
    report.plan.notes |= {*found.paths}
    known = {(item.what, item.why) for item in (*report.left, *report.links)}
    report.left += [item for item in found.left if (item.what, item.why) not in known]
    report.links += [item for item in found.links if (item.what, item.why) not in known]


def _journal_ids(report: PurgeReport) -> set[str]:
    """Return the ids of purged entries in the journal, and of those in purged notes."""
    context = report.context
    return {
        entry.id
        for entry in context.journal().entries()
        if entry.root == context.folder.root
        and (
            report.is_purged(entry.path, entry.id)
            or report.is_purged(entry.target, entry.id)
        )
    }


def _remove_empty_folders(report: PurgeReport) -> None:
    """Remove the folders that the purge has emptied."""
    folders = set()
    for path in report.plan.paths:
        parts = path.split("/")[:-1]
        folders |= {"/".join(parts[: at + 1]) for at in range(len(parts))}
    report.context.folder.remove_made_folders(sorted(folders))


def _remove_file(report: PurgeReport, target: CurationTarget) -> None:
    """Remove the file of a memory or a whole note, with what was saved to it since.

    Another memory that has taken its path stays; ``_clean_moved`` finds where the
    target is now.
    """
    context, folder = report.context, report.context.folder
    try:
        effect = f"{target.path} was not removed"
        with context.key_lock(target.scope, target.key, effect):
            for attempt in range(MAX_ATTEMPTS):
                data, signature = folder.read(target.path)
                if not is_same_note(target, data):
                    report.release(target)
                    return
                report.plan.hashes |= hashes_in(context, target.path, data, None)
                try:
                    remove_note(folder, target.path, expected=signature)
                except NotSavedError:
                    is_unchanged = folder.signature(target.path) == signature
                    if is_unchanged or attempt == MAX_ATTEMPTS - 1:
                        raise
                else:
                    return
    except NoteNotFoundError:
        report.missed.append(target)
    except HivemindError as error:
        report.fail(target.path, str(error))
