"""A purge: the text goes from every place in reach, and a receipt says from which.

Each step stands for itself: what fails is in the receipt, the others are done all the
same, and the same purge again finishes. A search may still find the text until its
note is changed and indexed, which comes first.

The part of a purge that goes through the notes and the journal.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from hivemind_memory.curation.forget import forget
from hivemind_memory.curation.links import unlink_purged
from hivemind_memory.curation.lookup import Target, notes_in
from hivemind_memory.curation.purge_plan import (
    Work,
    hashes_in,
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
    NoteNotFoundError,
    NotSavedError,
    StateUnusableError,
)
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, Affected, Failed, Receipt, Which
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.entry_edits import change_entries, without_entries
from hivemind_memory.notes.memory_file import remove_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hivemind_memory.curation.context import Eraser
    from hivemind_memory.memory.sync import ChunkSettings


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


_ATTEMPTS = 10
_MOST_QUOTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of the entries."""

    journal_texts: int = 0
    left: tuple[Failed, ...] = ()


def take_files(
    eraser: Eraser, targets: Sequence[Target], work: Work, chunking: ChunkSettings
) -> list[Failed]:
    """Take the files of memories and whole notes away; return what is left."""
    left = []
    for target in targets:
        if target.kind == ENTRY:
            continue
        try:
            with eraser.desk.turn(target.scope, target.key):
                _take_file(eraser, target, work, chunking)
        except NoteNotFoundError:
            continue
        except HivemindError as error:
            left.append(Failed(what=target.path, why=str(error)))
    return left


def _take_file(
    eraser: Eraser, target: Target, work: Work, chunking: ChunkSettings
) -> None:
    """Take one file away, whatever was saved to it since the look."""
    folder = eraser.desk.folder
    for attempt in range(_ATTEMPTS):
        data, stamp = folder.read(target.path)
        work.hashes |= hashes_in(target.path, data, None, chunking)
        try:
            remove_note(folder, target.path, expected=stamp)
        except NotSavedError:
            if folder.stamp(target.path) == stamp or attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def take_entries(eraser: Eraser, targets: Sequence[Target], work: Work) -> Taken:
    """Take entries out of their notes, and all that is meant out of the journal."""
    ids: dict[NotePath, set[str]] = {}
    for target in targets:
        if target.kind == ENTRY:
            ids.setdefault(target.path, set()).add(target.id)
    gone = {*work.ids, *_journalled(eraser, work)}
    texts = count_journal(eraser, work)
    desk = eraser.desk
    try:
        changed = change_entries(
            desk.folder,
            eraser.journal,
            ids,
            without_entries,
            now_s=desk.clocks.now(),
            final=gone,
        )
    except HivemindError as error:
        return Taken(left=(Failed(what="entries and journal", why=str(error)),))
    left = [Failed(what=what, why=str(why)) for what, why in changed.failed.items()]
    if changed.journal_problem is not None:
        left.append(Failed(what="journal", why=str(changed.journal_problem)))
    return Taken(journal_texts=texts, left=tuple(left))


def count_journal(eraser: Eraser, work: Work) -> int:
    """Return how many texts of it the journal keeps."""
    gone = {*work.ids, *_journalled(eraser, work)}
    return sum(entry.id in gone for entry in eraser.journal.entries())


def _journalled(eraser: Eraser, work: Work) -> Iterator[str]:
    """Yield the ids of entries that were written to notes that go as a whole."""
    for entry in eraser.journal.entries():
        is_ours = entry.root == eraser.desk.folder.root
        if is_ours and not work.paths.isdisjoint((entry.path, entry.target)):
            yield entry.id


def change_others(
    eraser: Eraser, targets: Sequence[Target], work: Work
) -> list[Failed]:
    """Take what is purged out of the front matter of other memories."""
    purged = {one: Target(kind=ENTRY, path=NotePath(""), id=one) for one in work.ids}
    purged |= {target.id: target for target in targets if target.id}
    gone = {target.path for target in targets if target.kind != ENTRY}
    left: list[Failed] = []
    for path, data in notes_in(eraser.desk, eraser.desk.caller.scopes):
        has_header = data.startswith((b"---", b"\xef\xbb\xbf---"))
        if path in gone or not has_header:
            continue
        if not any(one.encode() in data for one in purged):
            continue
        error = unlink_purged(eraser.desk, path, purged)
        if error is not None:
            left.append(Failed(what=path, why=str(error)))
        work.notes.add(path)
    return left


def that_quote(
    eraser: Eraser, targets: Sequence[Target], probes: Sequence[str]
) -> Iterator[Failed]:
    """Yield notes that hold a line of it and are not ours to change."""
    gone = {(one.path, line) for one in targets for line in _lines(one)}
    whole = {one.path for one in targets if one.kind != ENTRY}
    found = 0
    for path, data in notes_in(eraser.desk, eraser.desk.caller.scopes):
        text = decode(data) if probes else ""
        if path in whole or not any(probe in text for probe in probes):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if (path, number) in gone or not any(probe in line for probe in probes):
                continue
            found += 1
            if found <= _MOST_QUOTED:
                why = "the same words stand here: change it by hand if they must go"
                yield Failed(what=f"{path}:{number}", why=why)


def _lines(target: Target) -> range:
    """Return the lines on which a target stands."""
    return range(target.first_line, target.last_line + 1)
