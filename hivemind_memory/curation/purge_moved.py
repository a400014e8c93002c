"""Finds purged texts in notes that changed since a purge chose what to remove.

Other processes save, rename and move notes while a purge is at work: a save keeps the
version that it replaces in another file, a person gives a note another name. So what
has changed since the choice is read again, from the notes themselves.
"""

from __future__ import annotations

from hivemind_memory.access.rules import may_write
from hivemind_memory.curation.lookup import entry_target, read_target
from hivemind_memory.errors import HivemindError, NoteNotFoundError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, MEMORY, NOTE
from hivemind_memory.notes.entry_edits import entries_in
from hivemind_memory.notes.tombstones import normal_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.curation.purge_report import PurgeReport
    from hivemind_memory.model.note_path import NotePath


_AGAIN = "purge again to finish"


def changed_notes(report: PurgeReport) -> set[NotePath]:
    """Return the notes that changed since the targets were chosen.

    Raises:
        HivemindError: The notes cannot be listed now.
    """
    return {
        path
        for path, signature in report.context.folder.signatures().items()
        if report.before.get(path) != signature
    }


def find_moved(report: PurgeReport) -> list[CurationTarget]:
    """Return what is purged and is in a note that changed meanwhile.

    What could not be removed, and is reported so, is not among it.

    Raises:
        HivemindError: The notes cannot be read now.
    """
    folder, caller = report.context.folder, report.context.caller
    stayed = {item.what for item in report.left}
    found: list[CurationTarget] = []
    for path in sorted(changed_notes(report)):
        if path in stayed or not may_write(caller, path):
            continue
        try:
            data, _ = folder.read(path)
        except NoteNotFoundError:
            continue
        except HivemindError as error:
            report.fail(path, str(error))
            continue
        here = list(_targets_in(report, path, data))
        if here and folder.link_above(path):
            report.linked.add(path)
        else:
            found += here
    return found


def report_moved(report: PurgeReport) -> None:
    """Report which notes still hold what was purged, now that all stores are clean."""
    try:
        found = find_moved(report)
    except HivemindError as error:
        report.fail("notes", f"{error}; {_AGAIN}")
        return
    for path in sorted({target.path for target in found}):
        report.plan.notes.add(path)
        why = f"another program put the text there during the purge; {_AGAIN}"
        report.fail(path, why)


def _targets_in(
    report: PurgeReport, path: NotePath, data: bytes
) -> Iterator[CurationTarget]:
    """Yield the whole note if it is purged, else the entries in it that are."""
    chosen = (*report.targets, *report.missed)
    texts = {normal_form(target.text) for target in chosen} - {""}
    has_front = split_front_matter(decode(data)).line_count > 0
    whole = read_target(report.context, path, MEMORY if has_front else NOTE, "moved")
    if whole is not None and _is_purged(report, whole, texts):
        yield whole
        return
    for entry in entries_in(data):
        target = entry_target(path, entry, "moved")
        is_known = report.is_purged_in(target.scope, target.id)
        if is_known or normal_form(target.text) in texts:
            yield target


def _is_purged(report: PurgeReport, whole: CurationTarget, texts: set[str]) -> bool:
    """Return whether a memory or a whole note is one that is purged."""
    if whole.id and report.is_purged_in(whole.scope, whole.id):
        return True
    if whole.kind == NOTE:
        # A person's note goes only if it was chosen as a whole.
        texts = {
            normal_form(target.text)
            for target in (*report.targets, *report.missed)
            if target.kind not in (ENTRY, MEMORY)
        }
    return normal_form(whole.text) in texts - {""}
