"""A purge: the text goes from every place in reach, and a receipt says from which.

Each step stands for itself: what fails is in the receipt, the others are done all the
same, and the same purge again finishes. A search may still find the text until its
note is changed and indexed, which comes first.

The part of a purge that goes through the notes and the journal.
"""

from __future__ import annotations

from dataclasses import asdict

from hivemind_memory.curation.forget import forget
from hivemind_memory.curation.purge_notes import (
    remove_entries,
    remove_files,
)
from hivemind_memory.curation.purge_plan import (
    PurgePlan,
    plan_purge,
    refuse_whole_notes,
    targets_of_purge,
    texts_of,
)
from hivemind_memory.curation.purge_references import remove_references
from hivemind_memory.curation.purge_report import PurgeContext, PurgeReport
from hivemind_memory.curation.purge_stores import (
    clean_index,
    index_counts,
    remove_partial_notes,
    renew_sections,
)
from hivemind_memory.errors import (
    HivemindError,
    MemoryNotFoundError,
    StateUnusableError,
)
from hivemind_memory.model.curation import AffectedItem, MemorySelector, PurgeResult

TYPE_CHECKING = False


def purge(
    purge_context: PurgeContext,
    selector: MemorySelector,
    *,
    is_dry_run: bool = False,
    is_forced: bool = False,
) -> PurgeResult:
    """Take memories out of every place; say where they were and may still be.

    Args:
        purge_context: Of the caller, a person.
        selector: What is meant; a memory in force takes its older versions with it, and
            everything that says the same word for word.
        is_dry_run: Only look.
        is_forced: Also take whole notes that a person wrote.

    Raises:
        MemoryNotFoundError: There is nothing like that, or not for this caller.
        NotSavedError: The caller may not change it.
        UsageError: It names nothing, several by one key, or notes of a person.
    """
    forget_context = purge_context.forget_context
    before = _unfinished(purge_context, selector)
    reinstated: tuple[AffectedItem, ...] = ()
    index = forget_context.context.fresh_index()
    try:
        targets = targets_of_purge(forget_context, index, selector)
    except MemoryNotFoundError:
        if before is None:
            raise
        targets = []
    plan = plan_purge(forget_context, targets, purge_context.chunking)
    if before is not None:
        plan.add(before)
    report = PurgeReport(purge_context, targets, plan)
    if is_dry_run:
        return report.dry_run()
    refuse_whole_notes([target for target in targets if not is_forced])
    run = _Run(purge_context, report)
    run.begin(selector)
    if targets and selector.is_set and not selector.is_whole_scope:
        reinstated = run.undo(selector)
    return run.finish(selector, reinstated)


def _unfinished(
    purge_context: PurgeContext, selector: MemorySelector
) -> PurgePlan | None:
    """Return what an earlier purge of the same left to do."""
    try:
        kept = purge_context.state.unfinished()
        if not kept:
            return None
        text = kept.get(purge_context.state.hash_of(_name(selector)))
    except StateUnusableError:
        return None
    return PurgePlan.from_json(text) if text else None


def _name(selector: MemorySelector) -> str:
    """Return what a purge is known by."""
    return "\0".join(f"{name}={value}" for name, value in asdict(selector).items())


class _Run:
    """One purge on its way."""

    def __init__(self, purge_context: PurgeContext, report: PurgeReport) -> None:
        self._purge_context = purge_context
        self._forget_context = purge_context.forget_context
        self._report = report
        self._targets = report.targets
        self._plan = report.plan

    def begin(self, selector: MemorySelector) -> None:
        """Say what will be done before any of it is: it may be killed on the way."""
        state = self._purge_context.state
        try:
            state.begin(_name(selector), self._plan.as_json())
            new = state.add_tombstones(texts_of(self._forget_context, self._targets))
        except StateUnusableError as error:
            self._report.fail(
                "tombstones", f"{error}; the same text can be written again"
            )
        else:
            self._report.add_count(
                "tombstones", new, "made: the same text is refused from now on"
            )

    def undo(self, selector: MemorySelector) -> tuple[AffectedItem, ...]:
        """Put into force what the purged ones had replaced."""
        try:
            done = forget(self._forget_context, selector)
        except HivemindError as error:
            self._report.fail("earlier versions", str(error))
            return ()
        self._plan.notes |= set(done.changed_paths)
        return done.reinstated

    def finish(
        self, selector: MemorySelector, reinstated: tuple[AffectedItem, ...]
    ) -> PurgeResult:
        """Take everything out, step by step."""
        purge_context, forget_context, plan = (
            self._purge_context,
            self._forget_context,
            self._plan,
        )
        self._report.count_notes()
        self._report.count_index(is_shown=False)
        lines, worktrees = self._report.count_quoting()
        # First, while it is known what the purged ones had replaced.
        self._report.add_references(
            remove_references(forget_context, self._targets, plan)
        )
        self._report.left += remove_files(
            forget_context, self._targets, plan, purge_context.chunking
        )
        changed = remove_entries(forget_context, self._targets, plan)
        self._report.left += changed.left
        self._report.add_count("journal", changed.journal_texts, "texts")
        self._remove_folders()
        if not forget_context.index(sorted(plan.notes)):
            self._report.fail("index", "the changed notes could not be indexed now")
        cleaned = clean_index(self._report.engine, plan)
        gone = self._report.counts._replace(
            vectors=cleaned.vectors, free_pages=cleaned.free_pages
        )
        self._report.places += index_counts(gone)
        self._report.add_count("set-aside indexes", cleaned.files, "files")
        for file, why in cleaned.problems:
            self._report.fail(file, why)
        count, left = remove_partial_notes(forget_context, purge_context.places.notes)
        self._report.add_count("half-written notes", count, "files")
        self._report.left += left
        stale = renew_sections(purge_context.injected, worktrees)
        self._report.left += stale
        # By the names in the ledger the next purge finds what is not renewed yet.
        records = self._rename() if lines and not stale else 0
        self._report.add_count("injection ledger", records, "records")
        self._report.add_count("injected sections", len(worktrees), "worktrees")
        self._end(selector)
        self._report.check_out_of_reach(worktrees)
        return self._report.result(
            is_dry_run=False, worktrees=worktrees, reinstated=reinstated
        )

    def _remove_folders(self) -> None:
        """Remove the folders that a purge has emptied."""
        folders = {""}
        for path in self._plan.paths:
            parts = path.split("/")[:-1]
            folders |= {"/".join(parts[: at + 1]) for at in range(len(parts))}
        self._forget_context.context.folder.remove_made_folders(sorted(folders - {""}))

    def _end(self, selector: MemorySelector) -> None:
        """Let go of the counters and, if all is done, of what was to be done."""
        state = self._purge_context.state
        self._report.add_count("recall counters", self._report.recalls(), "counters")
        if not state.drop(self._plan.ids | self._plan.paths):
            self._report.fail("recall counters", "state.db cannot be written now")
        try:
            if not self._report.left:
                state.finish([state.hash_of(_name(selector))])
            if not state.vacuum():
                self._report.fail("state.db", "another process reads it; purge again")
        except StateUnusableError as error:
            self._report.fail("state.db", str(error))

    def _rename(self) -> int:
        """Take the names of notes, made from keys, out of the ledger."""
        names = {}
        try:
            for path in self._plan.paths:
                names[path] = self._purge_context.state.hash_of(path).hex()
            injected = self._purge_context.injected
            return injected.rename(names) if injected and names else 0
        except (HivemindError, OSError) as error:
            self._report.fail("injection ledger", str(error))
            return 0
