"""Removes purged memories from the notes and from the journal."""

from __future__ import annotations

from hivemind_memory.curation.purge_plan import hashes_in
from hivemind_memory.curation.purge_references import remove_references
from hivemind_memory.curation.selection import entry_ids
from hivemind_memory.errors import HivemindError, NoteNotFoundError, NotSavedError
from hivemind_memory.model.curation import ENTRY
from hivemind_memory.notes.entry_edits import change_entries, without_entries
from hivemind_memory.notes.memory_file import remove_note
from hivemind_memory.notes.recovered_entries import count_recovered, drop_recovered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.curation.purge_report import PurgeReport


_ATTEMPTS = 10
"""How often a note is read again because another program changed it."""


def count_notes(report: PurgeReport) -> None:
    """Report the targets, and references to them in other notes."""
    report.add_targets()
    _report_references(report, is_dry_run=True)


def clean_notes(report: PurgeReport) -> None:
    """Remove the targets, and references to them, from the notes."""
    report.add_targets()
    # First, while it is known what the purged memories had replaced.
    _report_references(report, is_dry_run=False)
    for target in report.targets:
        if target.kind != ENTRY:
            _remove_file(report, target)


def count_journal(report: PurgeReport) -> None:
    """Report how many of the texts the journal holds."""
    gone = _journal_ids(report)
    entries = report.context.journal().entries()
    found = (
        entry for entry in entries if entry.id in gone and report.may_read(entry.path)
    )
    report.add_count("journal", sum(1 for _ in found), "texts")


def clean_journal(report: PurgeReport) -> None:
    """Remove entries from their notes and from the journal, under its lock."""
    context = report.context
    count_journal(report)
    ids = entry_ids(report.targets)
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
    _clean_returned(report)
    _remove_empty_folders(report)


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
    """Remove the file of a memory or a whole note, with what was saved to it since."""
    context, folder = report.context, report.context.folder
    try:
        effect = f"{target.path} was not removed"
        with context.key_lock(target.scope, target.key, effect):
            for attempt in range(_ATTEMPTS):
                data, signature = folder.read(target.path)
                report.plan.hashes |= hashes_in(context, target.path, data, None)
                try:
                    remove_note(folder, target.path, expected=signature)
                except NotSavedError:
                    is_unchanged = folder.signature(target.path) == signature
                    if is_unchanged or attempt == _ATTEMPTS - 1:
                        raise
                else:
                    return
    except NoteNotFoundError:
        return
    except HivemindError as error:
        report.fail(target.path, str(error))
