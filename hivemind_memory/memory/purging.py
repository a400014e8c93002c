"""A purge: the text goes from every place in reach, and a receipt says from which.

Each step stands for itself: what fails is in the receipt, the others are done all the
same, and the same purge again finishes. A search may still find the text until its
note is changed and indexed, which comes first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from hivemind_memory.errors import (
    HivemindError,
    IndexUnusableError,
    MemoryNotFoundError,
    StateUnusableError,
)
from hivemind_memory.index.sqlite.scouring import IndexCounts, count_in_index
from hivemind_memory.memory.forgetting import forget
from hivemind_memory.memory.gathering import Target
from hivemind_memory.memory.leavings import (
    editors_copies,
    git_above,
    half_written,
    probes_of,
    set_aside_indexes,
)
from hivemind_memory.memory.purge_notes import (
    change_others,
    count_journal,
    take_entries,
    take_files,
    that_quote,
)
from hivemind_memory.memory.purge_plan import (
    Work,
    refuse_whole_notes,
    targets_of_purge,
    texts_of,
    work_of,
)
from hivemind_memory.memory.purge_rest import (
    clean_index,
    places_in_index,
    renew_sections,
    take_half_written,
)
from hivemind_memory.model.erasing import (
    ENTRY,
    MEMORY,
    NOTE,
    Affected,
    Failed,
    Place,
    Receipt,
    Which,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.sqlite.state_file import StateFile
    from hivemind_memory.memory.eraser import Eraser
    from hivemind_memory.memory.places import Places
    from hivemind_memory.memory.syncing import ChunkSettings
    from hivemind_memory.model.ports import Injected


@dataclass(frozen=True, slots=True, kw_only=True)
class Purger:
    """All that a purge works with."""

    eraser: Eraser
    places: Places
    chunking: ChunkSettings
    state: StateFile
    injected: Injected | None = None
    """What worktrees were shown; None: there is nothing that could tell."""


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
        if before is None or is_dry_run:
            raise
        targets = []
    work = work_of(eraser, targets, purger.chunking)
    if before is not None:
        work.add(before)
    if is_dry_run:
        return _Run(purger, targets, work).look()
    refuse_whole_notes([target for target in targets if not is_forced])
    run = _Run(purger, targets, work)
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
    """One purge on its way: what was there, what went, what failed."""

    def __init__(self, purger: Purger, targets: list[Target], work: Work) -> None:
        self._purger = purger
        self._eraser = purger.eraser
        self._targets = targets
        self._work = work
        self._places: list[Place] = []
        self._left: list[Failed] = []
        self._beyond: list[Failed] = []
        self._probes = probes_of([target.text for target in targets])

    def look(self) -> Receipt:
        """Return what a purge would do."""
        places = self._purger.places
        self._count_notes()
        texts = count_journal(self._eraser, self._work)
        self._place("journal", texts, "texts")
        self._count_index()
        self._place("set-aside indexes", len(set_aside_indexes(places)), "files")
        self._place("half-written notes", len(half_written(places.notes)), "files")
        lines, worktrees = self._quoting()
        self._place("injection ledger", lines, "records")
        self._place("injected sections", len(worktrees), "worktrees")
        self._place("recall counters", self._recalls(), "counters")
        self._look_beyond(worktrees)
        return self._receipt(is_dry_run=True, worktrees=worktrees)

    def begin(self, which: Which) -> None:
        """Say what will be done before any of it is: it may be killed on the way."""
        state = self._purger.state
        try:
            state.begin(_name(which), self._work.as_json())
            new = state.add_tombstones(texts_of(self._eraser, self._targets))
        except StateUnusableError as error:
            self._fail("tombstones", f"{error}; the same text can be written again")
        else:
            self._place("tombstones", new, "made: the same text is refused from now on")

    def undo(self, which: Which) -> tuple[Affected, ...]:
        """Put into force what the purged ones had replaced."""
        try:
            done = forget(self._eraser, which)
        except HivemindError as error:
            self._fail("earlier versions", str(error))
            return ()
        self._work.notes |= set(done.changed_paths)
        return done.reinstated

    def finish(self, which: Which, reinstated: tuple[Affected, ...]) -> Receipt:
        """Take everything out, step by step."""
        purger, eraser, work = self._purger, self._eraser, self._work
        self._count_notes()
        self._count_index(is_shown=False)
        lines, worktrees = self._quoting()
        # First, while it is known what the purged ones had replaced.
        self._left += change_others(eraser, self._targets, work)
        self._left += take_files(eraser, self._targets, work, purger.chunking)
        changed = take_entries(eraser, self._targets, work)
        self._left += changed.left
        self._place("journal", changed.journal_texts, "texts")
        self._remove_folders()
        if not eraser.index(sorted(work.notes)):
            self._fail("index", "the changed notes could not be indexed now")
        cleaned = clean_index(purger.places, work)
        gone = self._counts._replace(
            vectors=cleaned.scoured.vectors, free_pages=cleaned.scoured.free_pages
        )
        self._places += places_in_index(gone)
        self._place("set-aside indexes", cleaned.files, "files")
        self._left += cleaned.left
        count, left = take_half_written(eraser, purger.places.notes)
        self._place("half-written notes", count, "files")
        self._left += left
        self._left += renew_sections(purger.injected, worktrees)
        self._place("injection ledger", lines and self._rename(), "records")
        self._place("injected sections", len(worktrees), "worktrees")
        self._end(which)
        self._look_beyond(worktrees)
        return self._receipt(
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
        self._place("recall counters", self._recalls(), "counters")
        if not state.drop(self._work.ids | self._work.paths):
            self._fail("recall counters", "state.db cannot be written now")
        try:
            if not self._left:
                state.finish([state.hash_of(_name(which))])
            if not state.scour():
                self._fail("state.db", "another process reads it; purge again")
        except StateUnusableError as error:
            self._fail("state.db", str(error))

    def _rename(self) -> int:
        """Take the names of notes, made from keys, out of the ledger."""
        names = {}
        try:
            for path in self._work.paths:
                names[path] = self._purger.state.hash_of(path).hex()
            injected = self._purger.injected
            return injected.rename(names) if injected and names else 0
        except (HivemindError, OSError) as error:
            self._fail("injection ledger", str(error))
            return 0

    def _count_notes(self) -> None:
        """Tell what is in the notes."""
        kinds = {ENTRY: "entries in notes", MEMORY: "typed memories", NOTE: "notes"}
        for kind, name in kinds.items():
            found = [one for one in self._targets if one.kind == kind]
            self._place(name, len(found), "entries" if kind == ENTRY else "files")
        for why, name in (("older", "earlier versions"), ("inbox", "waiting claims")):
            found = [one for one in self._targets if one.why == why]
            self._place(name, len(found), "of the files")

    def _count_index(self, *, is_shown: bool = True) -> None:
        """Look what the index holds."""
        self._counts = IndexCounts()
        try:
            self._counts = count_in_index(
                self._purger.places.index_file,
                paths=self._work.paths,
                entry_ids=self._work.ids,
                text_hashes=self._work.hashes,
            )
        except IndexUnusableError as error:
            if is_shown:
                self._fail("index", str(error))
        if is_shown:
            self._places += places_in_index(self._counts)

    def _quoting(self) -> tuple[int, tuple[str, ...]]:
        """Return how many records name the notes, and of which worktrees."""
        injected = self._purger.injected
        if injected is None or not self._work.notes:
            return 0, ()
        try:
            return injected.quoting(self._work.notes)
        except (HivemindError, OSError) as error:
            self._fail("injection ledger", str(error))
            return 0, ()

    def _recalls(self) -> int:
        """Return how many counters there are."""
        return len(self._purger.state.recalls(self._work.ids | self._work.paths))

    def _look_beyond(self, worktrees: Sequence[str]) -> None:
        """Look where no purge gets."""
        notes = self._purger.places.notes
        paths = self._work.notes
        self._beyond += editors_copies(notes, paths, self._probes)
        self._beyond += that_quote(self._eraser, self._targets, self._probes)
        git = git_above(notes)
        if git is not None:
            self._beyond.append(git)
        if worktrees:
            why = "agents that read the section may keep it in logs of their own"
            self._beyond.append(Failed(what="transcripts", why=why))
        why = "copies that other programs made of the home folder are not reached"
        self._beyond.append(Failed(what="backups", why=why))

    def _receipt(
        self,
        *,
        is_dry_run: bool,
        worktrees: tuple[str, ...],
        reinstated: tuple[Affected, ...] = (),
    ) -> Receipt:
        """Return what became of it all."""
        return Receipt(
            is_dry_run=is_dry_run,
            memories=tuple(target.told() for target in self._targets),
            places=tuple(self._places),
            left=tuple(self._left),
            out_of_reach=tuple(self._beyond),
            reinstated=reinstated,
            worktrees=worktrees,
        )

    def _place(self, name: str, count: int, unit: str) -> None:
        """Note what was found in a place."""
        self._places.append(Place(name=name, count=count, unit=unit))

    def _fail(self, what: str, why: str) -> None:
        """Note what was not done."""
        self._left.append(Failed(what=what, why=why))
