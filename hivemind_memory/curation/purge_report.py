"""What a purge finds and tells: counted before it begins, and then the receipt."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.curation.purge_notes import count_journal, that_quote
from hivemind_memory.curation.purge_stores import (
    editors_copies,
    git_above,
    half_written,
    places_in_index,
    probes_of,
    set_aside_indexes,
)
from hivemind_memory.errors import HivemindError, IndexUnusableError
from hivemind_memory.index.sqlite.vacuum import IndexCounts, count_in_index
from hivemind_memory.model.curation import (
    ENTRY,
    MEMORY,
    NOTE,
    Affected,
    Failed,
    Place,
    Receipt,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.curation.context import Eraser
    from hivemind_memory.curation.lookup import Target
    from hivemind_memory.curation.purge_plan import Work
    from hivemind_memory.files.places import Places
    from hivemind_memory.memory.sync import ChunkSettings
    from hivemind_memory.model.ports import Injected
    from hivemind_memory.state.file import StateFile


_OF_ALL_SCOPES = frozenset({"free pages", "set-aside indexes", "half-written notes"})
"""Places whose counts tell of everybody's notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purger:
    """All that a purge works with."""

    eraser: Eraser
    places: Places
    chunking: ChunkSettings
    state: StateFile
    injected: Injected | None = None
    """What worktrees were shown; None: there is nothing that could tell."""


class Survey:
    """What was found, what failed, and what is out of reach, so far."""

    def __init__(self, purger: Purger, targets: list[Target], work: Work) -> None:
        self._purger = purger
        self._eraser = purger.eraser
        self._probes = probes_of([target.text for target in targets])
        self.targets = targets
        self.work = work
        self.counts = IndexCounts()
        self.places: list[Place] = []
        self.left: list[Failed] = []
        self.beyond: list[Failed] = []

    def dry_run(self) -> Receipt:
        """Return what a purge would do."""
        places = self._purger.places
        self.count_notes()
        texts = count_journal(self._eraser, self.work)
        self.place("journal", texts, "texts")
        self.count_index()
        self.place("set-aside indexes", len(set_aside_indexes(places)), "files")
        self.place("half-written notes", len(half_written(places.notes)), "files")
        lines, worktrees = self.quoting()
        self.place("injection ledger", lines, "records")
        self.place("injected sections", len(worktrees), "worktrees")
        self.place("recall counters", self.recalls(), "counters")
        self.look_beyond(worktrees)
        return self.receipt(is_dry_run=True, worktrees=worktrees)

    def count_notes(self) -> None:
        """Tell what is in the notes."""
        kinds = {ENTRY: "entries in notes", MEMORY: "typed memories", NOTE: "notes"}
        for kind, name in kinds.items():
            found = [one for one in self.targets if one.kind == kind]
            self.place(name, len(found), "entries" if kind == ENTRY else "files")
        for why, name in (("older", "earlier versions"), ("inbox", "waiting claims")):
            found = [one for one in self.targets if one.why == why]
            self.place(name, len(found), "of the files")

    def count_index(self, *, is_shown: bool = True) -> None:
        """Look what the index holds."""
        self.counts = IndexCounts()
        try:
            self.counts = count_in_index(
                self._purger.places.index_file,
                paths=self.work.paths,
                entry_ids=self.work.ids,
                text_hashes=self.work.hashes,
            )
        except IndexUnusableError as error:
            if is_shown:
                self.fail("index", str(error))
        if is_shown:
            self.places += places_in_index(self.counts)

    def quoting(self) -> tuple[int, tuple[str, ...]]:
        """Return how many records name the notes, and of which worktrees."""
        injected = self._purger.injected
        if injected is None or not self.work.notes:
            return 0, ()
        try:
            return injected.quoting(self.work.notes)
        except (HivemindError, OSError) as error:
            self.fail("injection ledger", str(error))
            return 0, ()

    def recalls(self) -> int:
        """Return how many counters there are."""
        return len(self._purger.state.recalls(self.work.ids | self.work.paths))

    def look_beyond(self, worktrees: Sequence[str]) -> None:
        """Look where no purge gets."""
        notes = self._purger.places.notes
        paths = self.work.notes
        self.beyond += editors_copies(notes, paths, self._probes)
        self.beyond += that_quote(self._eraser, self.targets, self._probes)
        git = git_above(notes)
        if git is not None:
            self.beyond.append(git)
        if worktrees:
            why = "agents that read the section may keep it in logs of their own"
            self.beyond.append(Failed(what="transcripts", why=why))
        why = "copies that other programs made of the home folder are not reached"
        self.beyond.append(Failed(what="backups", why=why))

    def receipt(
        self,
        *,
        is_dry_run: bool,
        worktrees: tuple[str, ...],
        reinstated: tuple[Affected, ...] = (),
    ) -> Receipt:
        """Return what became of it all."""
        return Receipt(
            is_dry_run=is_dry_run,
            memories=tuple(target.told() for target in self.targets),
            places=tuple(one for one in self.places if self._is_told(one)),
            left=tuple(self.left),
            out_of_reach=tuple(self.beyond),
            reinstated=reinstated,
            worktrees=worktrees,
        )

    def place(self, name: str, count: int, unit: str) -> None:
        """Note what was found in a place."""
        self.places.append(Place(name=name, count=count, unit=unit))

    def _is_told(self, place: Place) -> bool:
        """Whether a place holds only what the caller may know of."""
        return self._eraser.desk.caller.is_owner or place.name not in _OF_ALL_SCOPES

    def fail(self, what: str, why: str) -> None:
        """Note what was not done."""
        self.left.append(Failed(what=what, why=why))
