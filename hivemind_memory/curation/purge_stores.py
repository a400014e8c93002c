"""The stores that a purge cleans: every file below the home that may hold a memory.

A new file that the program creates below the home must be covered by a store here, or
by ``FILES_WITHOUT_TEXT``; a test compares both with what the program creates.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import NamedTuple

from hivemind_memory.access.rules import may_read, may_write
from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.curation.purge_activity import clean_activity, count_activity
from hivemind_memory.curation.purge_copies import remove_derived
from hivemind_memory.curation.purge_injections import (
    erase_copies,
    find_injections,
    prune_hashed,
    refresh_sections,
)
from hivemind_memory.curation.purge_notes import (
    clean_journal,
    clean_notes,
    count_journal,
    count_notes,
)
from hivemind_memory.curation.purge_rows import (
    clean_model_rows,
    clean_namespaces,
    count_model_rows,
    count_namespaces,
)
from hivemind_memory.curation.purge_skills import clean_skills, count_skills
from hivemind_memory.errors import HivemindError, IndexBusyError, StateUnusableError
from hivemind_memory.files.atomic import partial_copies, partial_files
from hivemind_memory.files.paths import PARTIAL_PREFIX
from hivemind_memory.index.port import VacuumResult
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.notes.edge import names_of_note
from hivemind_memory.state.change_log import ChangeLog, NamesInChanges
from hivemind_memory.state.key_values import KeyValueStore
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.use_days import UseDays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hivemind_memory.curation.purge_report import PurgeReport
    from hivemind_memory.index.port import IndexCounts

_AGAIN = "purge again to finish"

_WRITING_S = 5.0
"""A file that is written beside its note is renamed within this time."""

_PAUSE_S = 0.1
_LOOKS = 80


class Store(NamedTuple):
    """Files that may hold the text, the key or the path of a memory."""

    files: tuple[str, ...]
    """Patterns of their paths below the home, as ``fnmatch`` takes them."""

    measure: Callable[[PurgeReport], None]
    """Reports what the store holds of the memories, for a dry run."""

    clean: Callable[[PurgeReport], None]
    """Removes the memories from the store, and reports what was removed."""

    git_files: tuple[str, ...] = ()
    """Patterns of paths below the folder of git of a repository."""

    worktree_files: tuple[str, ...] = ()
    """Patterns of paths below a worktree, or below the user's home."""


def count_index(report: PurgeReport) -> None:
    """Report what the index and set-aside indexes hold."""
    set_aside = len(report.engine.set_aside_files())
    _report_index(report, report.index_counts, set_aside)


def clean_index(report: PurgeReport) -> None:
    """Index the changed notes, then remove what was deleted from the index files."""
    context = report.context
    is_updated = context.update_index(sorted(report.plan.notes))

    def refresh() -> None:
        try:
            context.index.index_after_purge()
        except IndexBusyError:
            raise  # what is deleted is in the file all the same, so none is searched
        except HivemindError as error:
            report.fail("index", str(error))

    try:
        result = report.engine.vacuum(
            report.plan.hashes,
            refresh=refresh,
            since_s=report.plan.since_s,
            probes=report.probes(),
        )
    except IndexBusyError as error:
        report.fail("index", f"{error}; {_AGAIN}")
        result = VacuumResult()
    else:
        if not is_updated:
            report.fail("index", "the changed notes could not be indexed now")
    for file, why in (*result.problems, *remove_derived(context.places)):
        report.fail(file, f"{why}; {_AGAIN}")
    removed = report.index_counts._replace(
        vectors=result.vectors, free_pages=result.free_pages
    )
    _report_index(report, removed, result.files)


def _report_index(report: PurgeReport, counts: IndexCounts, set_aside: int) -> None:
    """Report what the index holds or held, and the files of set-aside indexes."""
    report.add_count("index", counts.chunks, "chunks with their postings")
    report.add_count("vectors", counts.vectors, "vectors")
    report.add_count("free pages", counts.free_pages, "pages of the index")
    report.add_count("set-aside indexes", set_aside, "files")


def count_partial(report: PurgeReport) -> None:
    """Report how many half-written notes there are."""
    count = len(_partial_paths(report))
    report.add_count("half-written notes", count, "files")


def clean_partial(report: PurgeReport) -> None:
    """Delete what killed processes left half-written; wait for those at work."""
    context, notes = report.context, report.context.places.notes
    removed = 0
    still: list[str] = []
    for _ in range(_LOOKS):
        still = []
        for path in _partial_paths(report):
            with suppress(OSError):
                age_s = abs(context.clocks.now() - os.stat(path).st_mtime)
                if age_s < _WRITING_S:
                    still.append(path)
                    continue
                os.unlink(path)
                removed += 1
                folder = os.path.dirname(path)
                if os.path.basename(folder).startswith(PARTIAL_PREFIX):
                    os.rmdir(folder)
        if not still:
            break
        time.sleep(_PAUSE_S)
    report.add_count("half-written notes", removed, "files")
    for path in still:
        is_note = path.startswith(notes + os.sep)
        note = path[len(notes) + 1 :].replace(os.sep, "/")
        if not is_note or may_read(context.caller, note):
            report.fail(path, f"a program is writing it now; {_AGAIN}")


def _partial_paths(report: PurgeReport) -> list[str]:
    """Return the half-written notes, and what a backup or a restore left unfinished."""
    places = report.context.places
    beside = partial_copies(places.home, places.journal, places.index)
    return [*partial_files(places.notes), *beside]


def count_injections(report: PurgeReport) -> None:
    """Report the injection records and sections that name one of the notes."""
    copies = 0
    if report.injected is not None:
        copies = sum(map(report.injected.count_copies, report.injections.worktrees))
    _report_injections(report, _count_records(report), copies)


def clean_injections(report: PurgeReport) -> None:
    """Write the sections again that quote a memory, and blank paths in the log."""
    injected = report.injected
    if injected is not None and report.plan.notes:
        # Other processes have injected since the beginning.
        found = find_injections(
            report.context, injected, report.plan.notes, ids=report.target_ids()
        )
        report.injections = found
    found = report.injections
    failed = refresh_sections(injected, found) if injected is not None else {}
    report.left += found.seen_of(failed)
    copies = 0
    if injected is not None:
        copies, unerased = erase_copies(injected, found)
        report.left += unerased
    report.is_hidden_left = not failed.keys().isdisjoint(found.hidden)
    # By the paths in their records the next purge finds the sections that failed.
    records = _count_records(report, kept=failed)
    if injected is not None:  # without paths, too: a record may hold a text
        state = report.context.state()
        try:
            names = {path: state.hash_of(path).hex() for path in report.plan.paths}
            injected.rename(names, ids=report.target_ids(), kept=failed)
        except (HivemindError, OSError) as error:
            report.fail("injection log", str(error))
            records = 0
    _report_injections(report, records, copies)


def _count_records(report: PurgeReport, *, kept: Collection[str] = ()) -> int:
    """Return how many records have a path to blank, of those the caller may know of.

    Paths are made from keys. The note of a purged entry keeps its name.
    """
    if report.injected is None or not report.plan.paths:
        return 0
    paths = report.plan.paths
    return find_injections(report.context, report.injected, paths, kept=kept).records


def _report_injections(report: PurgeReport, records: int, copies: int) -> None:
    """Report records of the log, worktrees whose section quotes a note, and copies."""
    report.add_count("injection log", records, "records")
    worktrees = len(report.injections.worktrees)
    report.add_count("injected sections", worktrees, "worktrees")
    report.add_count("copies of sections", copies, "files")


def count_hashes(report: PurgeReport) -> None:
    """Report of how many memories there are hashes for the check of commits."""
    report.add_count("hashes in git folders", report.hashed, "memories")


def clean_hashes(report: PurgeReport) -> None:
    """Remove the hashes of what no note says any more, in every repository."""
    if report.injected is not None:
        failed, is_hidden_left = prune_hashed(report.context, report.injected)
        report.left += failed
        report.is_hidden_left |= is_hidden_left
    count_hashes(report)


def count_recalls(report: PurgeReport) -> None:
    """Report how many recall counters there are."""
    log = RecallLog(report.context.state())
    count = log.count_gone(report.plan.ids, report.is_purged_in)
    report.add_count("recall counters", count, "counters")
    days = UseDays(report.context.state()).count_in(*report.recall_days())
    report.add_count("recalls by day", days, "rows")


def clean_recalls(report: PurgeReport) -> None:
    """Delete the recall counters."""
    log = RecallLog(report.context.state())
    count = log.drop(report.plan.ids, report.is_purged_in)
    report.add_count("recall counters", count or 0, "counters")
    days = UseDays(report.context.state()).drop_in(*report.recall_days())
    report.add_count("recalls by day", days or 0, "rows")
    if count is None or days is None:
        report.fail("recall counters", "state.db cannot be written now")


def count_key_values(report: PurgeReport) -> None:
    """Report how many values of the key-value store hold one of the texts."""
    store = KeyValueStore(report.context.state())
    try:
        count = store.count_holding(*_quoted(report))
    except StateUnusableError as error:
        report.fail("key-value store", str(error))
        return
    report.add_count("key-value store", count, "values")


def clean_key_values(report: PurgeReport) -> None:
    """Delete the values that hold one of the texts; their versions are kept."""
    store = KeyValueStore(report.context.state())
    try:
        count = store.delete_holding(*_quoted(report))
    except StateUnusableError as error:
        report.fail("key-value store", str(error))
        return
    report.add_count("key-value store", count, "values")


def _quoted(report: PurgeReport) -> tuple[list[str], Callable[[str], bool]]:
    """Return the texts as a value may hold them, and which scopes count."""
    probes = report.probes()
    caller = report.context.caller
    # Values escape what is no ASCII only if they have half of a surrogate pair.
    escaped = (
        json.dumps(probe, ensure_ascii=is_ascii)[1:-1]
        for probe in probes
        for is_ascii in (False, True)
    )
    return (
        [*dict.fromkeys([*probes, *escaped])],
        lambda scope: may_write(caller, f"{scope}/x.md" if scope else GLOBAL_NOTE),
    )


def count_changes(report: PurgeReport) -> None:
    """Report what ``state.db`` has of the memories besides injections."""
    count_recalls(report)
    count_key_values(report)
    try:
        count = ChangeLog(report.context.state()).count_naming(_names(report))
    except StateUnusableError as error:
        report.fail("log of changes", str(error))
        return
    report.add_count("log of changes", count, "changes")
    count_namespaces(report)
    count_model_rows(report)


def clean_changes(report: PurgeReport) -> None:
    """Delete what ``state.db`` has of the memories besides injections."""
    clean_recalls(report)
    clean_key_values(report)
    try:
        count = ChangeLog(report.context.state()).drop(_names(report))
    except StateUnusableError as error:
        report.fail("log of changes", str(error))
        return
    report.add_count("log of changes", count, "changes")
    clean_namespaces(report)
    clean_model_rows(report)


def _names(report: PurgeReport) -> NamesInChanges:
    """Return the ids, paths and other names of what is purged."""
    keys = {target.key for target in report.targets if target.key}
    for path in report.plan.paths:
        keys |= names_of_note(path)
    return NamesInChanges(
        own=frozenset(report.plan.ids | report.plan.paths),
        is_own=report.is_purged,
        keys=frozenset(keys),
        is_seen=report.may_read,
    )


STORES = (
    # First: while the notes have their text, a purge that is killed can be repeated.
    Store(("transcripts*.db*",), count_activity, clean_activity),
    # Notes, superseded versions and inboxes are all files of the notes folder.
    Store(("memory/*.md",), count_notes, clean_notes),
    Store(("journal/*",), count_journal, clean_journal),
    # The index with its write-ahead log, caches, and indexes that were set aside.
    Store(
        (
            *("memory/.index/memory.db*", "memory/.index/sections-*.vec"),
            "memory/.index/clean-texts",
            *("memory/.index/rebuild.db", "memory/.index/rebuild.db-*"),
        ),
        count_index,
        clean_index,
    ),
    # Of notes; and of ``state.db``, which a backup and a restore write in the home.
    Store(("memory/*.tmp", f"{PARTIAL_PREFIX}*"), count_partial, clean_partial),
    # The log of earlier versions, which the first scan of the log takes in.
    Store(("injections.jsonl*",), count_injections, clean_injections),
    # Behind the notes: what they still say stays.
    Store((), count_hashes, clean_hashes, git_files=("info/hivemind-words",)),
    # Outside the home, as the sections; also rows of state.db, before its vacuum.
    Store((), count_skills, clean_skills, worktree_files=("*/skills/*/SKILL.md",)),
    # With the log of injections. Vacuumed at the end of the purge, with the plan and
    # what else was deleted in it.
    Store(("state.db*",), count_changes, clean_changes),
)
"""All stores, in the order in which a purge cleans them."""

FILES_WITHOUT_TEXT = (
    CONFIG_NAME,
    "connections.json",
    "mcp-token",
    # What it keeps was never in a note: whatever is written passes its values.
    "vault/*",
    "locks/*.lock",
    *("memory/.index/.gitignore", "memory/.index/watch.json"),
    *("memory/.index/compared", "memory/.index/cookie"),
    *("memory/.index/*.hold", "memory/.index/*.lock"),
    "memory/projects/*/.project",
    # Paths of notes, for the seconds that a move takes; each command finishes it first.
    "project-move.json",
)
"""Files below the home that hold nothing of a memory."""

GIT_FILES_WITHOUT_TEXT = (
    "config",
    # Git keeps sizes and hashes of its own of the files in a worktree.
    "index",
    "hooks/*",
    "info/attributes",
    "info/exclude",
    "info/hivemind-attributes",
    "info/hivemind-fetched",
)
"""Files that an injection changes below a folder of git, with nothing of a memory."""
