"""What a purge finds and tells: counted before it begins, and then the receipt."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.curation.purge_notes import count_journal, notes_quoting
from hivemind_memory.curation.purge_references import (
    ReferenceRemoval,
    remove_references,
)
from hivemind_memory.curation.purge_stores import (
    editors_copies,
    git_above,
    index_counts,
    partial_files,
    probes_of,
)
from hivemind_memory.errors import HivemindError, IndexUnusableError
from hivemind_memory.index.open import index_engine
from hivemind_memory.index.port import IndexCounts
from hivemind_memory.model.curation import (
    ENTRY,
    MEMORY,
    NOTE,
    AffectedItem,
    FailedItem,
    PurgeCount,
    PurgeResult,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.curation.context import ForgetContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.curation.purge_plan import PurgePlan
    from hivemind_memory.files.places import Places
    from hivemind_memory.memory.sync import ChunkSettings
    from hivemind_memory.model.ports import InjectionRecords
    from hivemind_memory.state.file import StateFile


_OF_ALL_SCOPES = frozenset({"free pages", "set-aside indexes", "half-written notes"})
"""Places whose counts tell of everybody's notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeContext:
    """All that a purge works with."""

    forget_context: ForgetContext
    places: Places
    chunking: ChunkSettings
    state: StateFile
    injected: InjectionRecords | None = None
    """What worktrees were shown; None: there is nothing that could tell."""


class PurgeReport:
    """What was found, what failed, and what is out of reach, so far."""

    def __init__(
        self,
        purge_context: PurgeContext,
        targets: list[CurationTarget],
        plan: PurgePlan,
    ) -> None:
        self._purge_context = purge_context
        self._forget_context = purge_context.forget_context
        self._probes = probes_of([target.text for target in targets])
        clocks = self._forget_context.context.clocks
        self.engine = index_engine(purge_context.places, clocks.now)
        self.targets = targets
        self.plan = plan
        self.counts = IndexCounts()
        self.places: list[PurgeCount] = []
        self.left: list[FailedItem] = []
        self.out_of_reach: list[FailedItem] = []

    def dry_run(self) -> PurgeResult:
        """Return what a purge would do."""
        places = self._purge_context.places
        self.count_notes()
        self.add_references(
            remove_references(
                self._forget_context, self.targets, self.plan, is_dry_run=True
            )
        )
        texts = count_journal(self._forget_context, self.plan)
        self.add_count("journal", texts, "texts")
        self.count_index()
        self.add_count("set-aside indexes", len(self.engine.set_aside_files()), "files")
        self.add_count("half-written notes", len(partial_files(places.notes)), "files")
        lines, worktrees = self.count_quoting()
        self.add_count("injection ledger", lines, "records")
        self.add_count("injected sections", len(worktrees), "worktrees")
        self.add_count("recall counters", self.recalls(), "counters")
        self.check_out_of_reach(worktrees)
        return self.result(is_dry_run=True, worktrees=worktrees)

    def count_notes(self) -> None:
        """Tell what is in the notes."""
        kinds = {ENTRY: "entries in notes", MEMORY: "typed memories", NOTE: "notes"}
        for kind, name in kinds.items():
            found = [one for one in self.targets if one.kind == kind]
            self.add_count(name, len(found), "entries" if kind == ENTRY else "files")
        for why, name in (("older", "earlier versions"), ("inbox", "waiting claims")):
            found = [one for one in self.targets if one.why == why]
            self.add_count(name, len(found), "of the files")

    def add_references(self, found: ReferenceRemoval) -> None:
        """Tell what refers, or referred, to it in other notes."""
        self.add_count("references", found.count, "in other notes")
        self.plan.notes |= {*found.paths}
        self.left += found.left
        self.out_of_reach += found.links

    def count_index(self, *, is_shown: bool = True) -> None:
        """Look what the index holds."""
        self.counts = IndexCounts()
        try:
            self.counts = self.engine.count(
                paths=self.plan.paths,
                entry_ids=self.plan.ids,
                text_hashes=self.plan.hashes,
            )
        except IndexUnusableError as error:
            if is_shown:
                self.fail("index", str(error))
        if is_shown:
            self.places += index_counts(self.counts)

    def count_quoting(self) -> tuple[int, tuple[str, ...]]:
        """Return how many records name the notes, and of which worktrees."""
        injected = self._purge_context.injected
        if injected is None or not self.plan.notes:
            return 0, ()
        try:
            return injected.count_quoting(self.plan.notes)
        except (HivemindError, OSError) as error:
            self.fail("injection ledger", str(error))
            return 0, ()

    def recalls(self) -> int:
        """Return how many counters there are."""
        return len(self._purge_context.state.recalls(self.plan.ids | self.plan.paths))

    def check_out_of_reach(self, worktrees: Sequence[str]) -> None:
        """Look where no purge gets."""
        notes = self._purge_context.places.notes
        paths = self.plan.notes
        self.out_of_reach += editors_copies(notes, paths, self._probes)
        self.out_of_reach += notes_quoting(
            self._forget_context, self.targets, self._probes
        )
        git = git_above(notes)
        if git is not None:
            self.out_of_reach.append(git)
        if worktrees:
            why = "agents that read the section may keep it in logs of their own"
            self.out_of_reach.append(FailedItem(what="transcripts", why=why))
        why = "copies that other programs made of the home folder are not reached"
        self.out_of_reach.append(FailedItem(what="backups", why=why))

    def result(
        self,
        *,
        is_dry_run: bool,
        worktrees: tuple[str, ...],
        reinstated: tuple[AffectedItem, ...] = (),
    ) -> PurgeResult:
        """Return what became of it all."""
        return PurgeResult(
            is_dry_run=is_dry_run,
            memories=tuple(target.as_affected() for target in self.targets),
            places=tuple(one for one in self.places if self._may_be_shown(one)),
            left=tuple(self.left),
            out_of_reach=tuple(self.out_of_reach),
            reinstated=reinstated,
            worktrees=worktrees,
        )

    def add_count(self, name: str, count: int, unit: str) -> None:
        """Note what was found in a place."""
        self.places.append(PurgeCount(name=name, count=count, unit=unit))

    def _may_be_shown(self, place: PurgeCount) -> bool:
        """Whether a place holds only what the caller may know of."""
        return (
            self._forget_context.context.caller.is_owner
            or place.name not in _OF_ALL_SCOPES
        )

    def fail(self, what: str, why: str) -> None:
        """Note what was not done."""
        self.left.append(FailedItem(what=what, why=why))
