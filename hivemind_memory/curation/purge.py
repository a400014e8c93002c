"""A purge: the text goes from every place in reach, and a receipt says from which.

Each step stands for itself: what fails is in the receipt, the others are done all the
same, and the same purge again finishes. A search may still find the text until its
note is changed and indexed, which comes first.

The part of a purge that goes through the notes and the journal.
"""

from __future__ import annotations

from dataclasses import asdict

from hivemind_memory.curation.forget import forget
from hivemind_memory.curation.purge_notes import change_others, take_entries, take_files
from hivemind_memory.curation.purge_plan import (
    Work,
    refuse_whole_notes,
    targets_of_purge,
    texts_of,
    work_of,
)
from hivemind_memory.curation.purge_report import Purger, Survey
from hivemind_memory.curation.purge_stores import (
    clean_index,
    places_in_index,
    renew_sections,
    take_half_written,
)
from hivemind_memory.errors import (
    HivemindError,
    MemoryNotFoundError,
    StateUnusableError,
)
from hivemind_memory.model.curation import Affected, Receipt, Which

TYPE_CHECKING = False


def purge(
    purger: Purger, which: Which, *, is_dry_run: bool = False, is_forced: bool = False
) -> Receipt:
    """Take memories out of every place; say where they were and may still be.

    Args:
        purger: Of the caller, a person.
        which: What is meant; a memory in force takes its older versions with it, and
            everything that says the same word for word.
        is_dry_run: Only look.
        is_forced: Also take whole notes that a person wrote.

    Raises:
        MemoryNotFoundError: There is nothing like that, or not for this caller.
        NotSavedError: The caller may not change it.
        UsageError: It names nothing, several by one key, or notes of a person.
    """
    eraser = purger.eraser
    before = _unfinished(purger, which)
    reinstated: tuple[Affected, ...] = ()
    index = eraser.desk.look()
    try:
        targets = targets_of_purge(eraser, index, which)
    except MemoryNotFoundError:
        if before is None:
            raise
        targets = []
    work = work_of(eraser, targets, purger.chunking)
    if before is not None:
        work.add(before)
    survey = Survey(purger, targets, work)
    if is_dry_run:
        return survey.dry_run()
    refuse_whole_notes([target for target in targets if not is_forced])
    run = _Run(purger, survey)
    run.begin(which)
    if targets and which.is_set and not which.is_whole_scope:
        reinstated = run.undo(which)
    return run.finish(which, reinstated)


def _unfinished(purger: Purger, which: Which) -> Work | None:
    """Return what an earlier purge of the same left to do."""
    try:
        kept = purger.state.unfinished()
        if not kept:
            return None
        text = kept.get(purger.state.hash_of(_name(which)))
    except StateUnusableError:
        return None
    return Work.from_json(text) if text else None


def _name(which: Which) -> str:
    """Return what a purge is known by."""
    return "\0".join(f"{name}={value}" for name, value in asdict(which).items())


class _Run:
    """One purge on its way."""

    def __init__(self, purger: Purger, survey: Survey) -> None:
        self._purger = purger
        self._eraser = purger.eraser
        self._survey = survey
        self._targets = survey.targets
        self._work = survey.work

    def begin(self, which: Which) -> None:
        """Say what will be done before any of it is: it may be killed on the way."""
        state = self._purger.state
        try:
            state.begin(_name(which), self._work.as_json())
            new = state.add_tombstones(texts_of(self._eraser, self._targets))
        except StateUnusableError as error:
            self._survey.fail(
                "tombstones", f"{error}; the same text can be written again"
            )
        else:
            self._survey.place(
                "tombstones", new, "made: the same text is refused from now on"
            )

    def undo(self, which: Which) -> tuple[Affected, ...]:
        """Put into force what the purged ones had replaced."""
        try:
            done = forget(self._eraser, which)
        except HivemindError as error:
            self._survey.fail("earlier versions", str(error))
            return ()
        self._work.notes |= set(done.changed_paths)
        return done.reinstated

    def finish(self, which: Which, reinstated: tuple[Affected, ...]) -> Receipt:
        """Take everything out, step by step."""
        purger, eraser, work = self._purger, self._eraser, self._work
        self._survey.count_notes()
        self._survey.count_index(is_shown=False)
        lines, worktrees = self._survey.quoting()
        # First, while it is known what the purged ones had replaced.
        self._survey.left += change_others(eraser, self._targets, work)
        self._survey.left += take_files(eraser, self._targets, work, purger.chunking)
        changed = take_entries(eraser, self._targets, work)
        self._survey.left += changed.left
        self._survey.place("journal", changed.journal_texts, "texts")
        self._remove_folders()
        if not eraser.index(sorted(work.notes)):
            self._survey.fail("index", "the changed notes could not be indexed now")
        cleaned = clean_index(purger.places, work)
        gone = self._survey.counts._replace(
            vectors=cleaned.scoured.vectors, free_pages=cleaned.scoured.free_pages
        )
        self._survey.places += places_in_index(gone)
        self._survey.place("set-aside indexes", cleaned.files, "files")
        self._survey.left += cleaned.left
        count, left = take_half_written(eraser, purger.places.notes)
        self._survey.place("half-written notes", count, "files")
        self._survey.left += left
        stale = renew_sections(purger.injected, worktrees)
        self._survey.left += stale
        # By the names in the ledger the next purge finds what is not renewed yet.
        records = self._rename() if lines and not stale else 0
        self._survey.place("injection ledger", records, "records")
        self._survey.place("injected sections", len(worktrees), "worktrees")
        self._end(which)
        self._survey.look_beyond(worktrees)
        return self._survey.receipt(
            is_dry_run=False, worktrees=worktrees, reinstated=reinstated
        )

    def _remove_folders(self) -> None:
        """Remove the folders that a purge has emptied."""
        folders = {""}
        for path in self._work.paths:
            parts = path.split("/")[:-1]
            folders |= {"/".join(parts[: at + 1]) for at in range(len(parts))}
        self._eraser.desk.folder.take_back_folders(sorted(folders - {""}))

    def _end(self, which: Which) -> None:
        """Let go of the counters and, if all is done, of what was to be done."""
        state = self._purger.state
        self._survey.place("recall counters", self._survey.recalls(), "counters")
        if not state.drop(self._work.ids | self._work.paths):
            self._survey.fail("recall counters", "state.db cannot be written now")
        try:
            if not self._survey.left:
                state.finish([state.hash_of(_name(which))])
            if not state.scour():
                self._survey.fail("state.db", "another process reads it; purge again")
        except StateUnusableError as error:
            self._survey.fail("state.db", str(error))

    def _rename(self) -> int:
        """Take the names of notes, made from keys, out of the ledger."""
        names = {}
        try:
            for path in self._work.paths:
                names[path] = self._purger.state.hash_of(path).hex()
            injected = self._purger.injected
            return injected.rename(names) if injected and names else 0
        except (HivemindError, OSError) as error:
            self._survey.fail("injection ledger", str(error))
            return 0
