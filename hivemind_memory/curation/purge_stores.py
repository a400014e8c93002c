"""The part of a purge behind the notes: the index, half-written files, sections.

Copies of a text that are no note: half-written files, set-aside indexes, editors'.

Ours are taken away. Others' are named, for they are not ours to delete.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import PARTIAL_FILE
from hivemind_memory.files.paths import SUFFIX
from hivemind_memory.model.curation import FailedItem, PurgeCount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from hivemind_memory.curation.context import ForgetContext
    from hivemind_memory.curation.purge_plan import PurgePlan
    from hivemind_memory.index.port import IndexCounts, IndexEngine, VacuumResult
    from hivemind_memory.model.ports import InjectionRecords


_AGAIN = "purge again to finish"


def index_counts(counts: IndexCounts) -> list[PurgeCount]:
    """Return what is, or was, in the index."""
    return [
        PurgeCount(
            name="index", count=counts.chunks, unit="chunks with their postings"
        ),
        PurgeCount(name="vectors", count=counts.vectors, unit="vectors"),
        PurgeCount(
            name="free pages", count=counts.free_pages, unit="pages of the index"
        ),
    ]


def clean_index(engine: IndexEngine, plan: PurgePlan) -> VacuumResult:
    """Remove every trace of it from the index and the files beside it."""
    result = engine.vacuum(plan.hashes, since_s=plan.since_s)
    problems = tuple((file, f"{why}; {_AGAIN}") for file, why in result.problems)
    return result._replace(problems=problems)


def remove_partial_notes(
    forget_context: ForgetContext, notes: str
) -> tuple[int, list[FailedItem]]:
    """Take away what a killed process wrote beside a note.

    Returns:
        How many there were, and those that stay and that the caller may know of.
    """
    removed, still = remove_partial_files(notes, forget_context.context.clocks.now)
    why = f"a program is writing it now; {_AGAIN}"
    told = (
        path
        for path in still
        if may_read(
            forget_context.context.caller, path[len(notes) :].replace(os.sep, "/")[1:]
        )
    )
    return removed, [FailedItem(what=path, why=why) for path in told]


def renew_sections(
    injected: InjectionRecords | None, worktrees: Iterable[str]
) -> list[FailedItem]:
    """Write the sections anew that quoted it; return what could not be."""
    left = []
    for worktree in worktrees if injected is not None else ():
        try:
            problem = injected.refresh_section(worktree) if injected is not None else ""
        except HivemindError as error:
            problem = str(error)
        if problem:
            left.append(FailedItem(what=worktree, why=problem))
    return left


_IN_WORK_S = 5.0
"""A file that is written beside its note has its name within so long."""

_PAUSE_S = 0.1
_LOOKS = 80
_MAX_BYTES = 64 * 1024 * 1024
_MIN_PROBE_CHARS = 8


def partial_files(folder: str) -> list[str]:
    """Return the files below a folder that a killed process never gave their name."""
    found = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            os.path.join(parent, name) for name in files if PARTIAL_FILE.fullmatch(name)
        ]
    return sorted(found)


def remove_partial_files(
    folder: str, now: Callable[[], float]
) -> tuple[int, list[str]]:
    """Take such files away; return how many, and those that somebody still writes."""
    removed = 0
    left: list[str] = []
    for _ in range(_LOOKS):
        left = []
        for path in partial_files(folder):
            with suppress(OSError):
                if abs(now() - os.stat(path).st_mtime) < _IN_WORK_S:
                    left.append(path)
                    continue
                os.unlink(path)
                removed += 1
        if not left:
            break
        time.sleep(_PAUSE_S)
    return removed, left


def probes_of(texts: Collection[str]) -> list[str]:
    """Return a line of each text by which a copy of it shows: the longest."""
    lines = (
        max((line.strip() for line in text.split("\n")), key=len) for text in texts
    )
    return sorted({line for line in lines if len(line) >= _MIN_PROBE_CHARS})


def editors_copies(
    notes: str, paths: Collection[str], probes: Sequence[str]
) -> Iterator[FailedItem]:
    """Yield what editors keep beside some notes and what holds one of the lines."""
    wanted = [probe.encode() for probe in probes]
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder.setdefault(folder, []).append(name)
    for folder, names in sorted(by_folder.items()):
        try:
            there = sorted(os.listdir(os.path.join(notes, folder)))
        except OSError:
            continue
        for other in there:
            is_note = other.endswith(SUFFIX) and not other.startswith(".")
            if is_note or not any(name in other for name in names):
                continue
            path = os.path.join(notes, folder, other)
            if _holds(path, wanted):
                why = "an editor's own copy holds the text: close the editor, delete it"
                yield FailedItem(what=path, why=why)


def git_above(notes: str) -> FailedItem | None:
    """Return the git repository in which the notes lie, if there is one."""
    folder = notes
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            why = (
                "the notes lie in a git repository: its history, stashes and remotes "
                "keep what was committed; `git filter-repo` rewrites it"
            )
            return FailedItem(what=folder, why=why)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _holds(path: str, wanted: Sequence[bytes]) -> bool:
    """Return whether a regular file holds one of some texts."""
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES)
    except OSError:
        return False
    return any(one in data for one in wanted)
