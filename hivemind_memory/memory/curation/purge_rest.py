"""The part of a purge behind the notes: the index, half-written files, sections."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hivemind_memory.errors import HivemindError
from hivemind_memory.index.sqlite.scouring import Scoured, scour
from hivemind_memory.memory.curation.leavings import (
    remove_half_written,
    set_aside_indexes,
)
from hivemind_memory.model.access import may_read
from hivemind_memory.model.erasing import Failed, Place
from hivemind_memory.notes.os_locks import KernelLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.index.sqlite.scouring import IndexCounts
    from hivemind_memory.memory.curation.eraser import Eraser
    from hivemind_memory.memory.curation.purge_plan import Work
    from hivemind_memory.memory.places import Places
    from hivemind_memory.model.ports import Injected

REBUILD_WAIT_S = 10.0
_AGAIN = "purge again to finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What became of the index."""

    scoured: Scoured
    files: int
    left: tuple[Failed, ...]


def places_in_index(counts: IndexCounts) -> list[Place]:
    """Return what is, or was, in the index."""
    return [
        Place(name="index", count=counts.chunks, unit="chunks with their postings"),
        Place(name="vectors", count=counts.vectors, unit="vectors"),
        Place(name="free pages", count=counts.free_pages, unit="pages of the index"),
    ]


def clean_index(places: Places, work: Work) -> Cleaned:
    """Leave nothing of it in the index, nor beside it.

    No rebuild goes on meanwhile: one that has read the notes before would bring the
    old text back with it.
    """
    if not os.path.isdir(places.index):
        return Cleaned(scoured=Scoured(), files=0, left=())
    lock = KernelLock(f"{places.rebuild_file}.lock")
    try:
        if not lock.acquire(wait_s=REBUILD_WAIT_S):
            holder = lock.holder() or "another process"
            why = f"{holder} is rebuilding the index from notes as they were; {_AGAIN}"
            left = (Failed(what="index", why=why),)
            return Cleaned(scoured=Scoured(), files=0, left=left)
    except OSError as error:
        left = (Failed(what=lock.path, why=str(error.strerror)),)
        return Cleaned(scoured=Scoured(), files=0, left=left)
    problems = []
    removed = 0
    try:
        for path in set_aside_indexes(places):
            try:
                os.unlink(path)
                removed += 1
            except OSError as error:
                problems.append(Failed(what=path, why=str(error.strerror)))
        scoured = scour(places.index_file, work.hashes, since_s=work.since_s)
    finally:
        lock.release()
    if scoured.problem:
        why = f"{scoured.problem}; {_AGAIN}"
        problems.append(Failed(what=places.index_file, why=why))
    return Cleaned(scoured=scoured, files=removed, left=tuple(problems))


def take_half_written(eraser: Eraser, notes: str) -> tuple[int, list[Failed]]:
    """Take away what a killed process wrote beside a note.

    Returns:
        How many there were, and those that stay and that the caller may know of.
    """
    removed, still = remove_half_written(notes, eraser.desk.clocks.now)
    why = f"a program is writing it now; {_AGAIN}"
    told = (
        path
        for path in still
        if may_read(eraser.desk.caller, path[len(notes) :].replace(os.sep, "/")[1:])
    )
    return removed, [Failed(what=path, why=why) for path in told]


def renew_sections(injected: Injected | None, worktrees: Iterable[str]) -> list[Failed]:
    """Write the sections anew that quoted it; return what could not be."""
    left = []
    for worktree in worktrees if injected is not None else ():
        try:
            problem = injected.renew(worktree) if injected is not None else ""
        except HivemindError as error:
            problem = str(error)
        if problem:
            left.append(Failed(what=worktree, why=problem))
    return left
