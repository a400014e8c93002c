"""Kill a writer at every single call to the system, and in the middle of every write.

    python -m benchmarks.kill_each_call
    python -m benchmarks.kill_each_call --injections [--every 7]

For each operation (a write, a first write, a recovery, a write that also looks after
old entries) a process is killed before its first call, its second, and so on until it
gets through. Then the next search and the next write must find everything whole,
without a repair by hand. With ``--injections``, what is killed injects a section into a
worktree, or takes it out again: git must see no change then. Exits 1 if anything is
wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.written import AT, Place, content, verdict
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.recovery import recover
from hivemind_memory.notes.writer import NoteWriter
from tests.inject.repos import (
    GIT_OF_NOBODY,
    absent,
    edited,
    ignored,
    tracked,
    untracked,
)
from tests.support.killed_injection import kill_injections
from tests.support.sandbox import Sandbox

NOTE = "a.md"
HUMAN = "# Human\n\nmy own text\n"
CALLS = ["open", "write", "fsync", "ftruncate", "unlink", "rmdir", "mkdir", "replace"]
HALF = 10_000  # bytes of a write that arrive before a kill in its middle
NOW_S = 1_800_000_000.0
MAX_PROBLEMS = 20
KINDS = {make.__name__: make for make in (tracked, edited, untracked, ignored, absent)}


def append(place: Place, seed: str, *, note: str = NOTE, now_s: float = NOW_S) -> str:
    """Write one entry of several pages; return its id."""
    folder = NotesFolder(str(place.notes))
    writer = NoteWriter(folder, place.journal, lambda: now_s, lambda: os.urandom(10))
    text = content(random.Random(seed), smallest=30_000, largest=40_000)
    return writer.append(NotePath(note), text, at=AT).id


def vanish(place: Place) -> None:
    """Save over the note, a while ago."""
    (place.notes / NOTE).write_text(HUMAN)
    os.utime(place.notes / NOTE, (NOW_S + 60, NOW_S + 60))


def prepare_vanished(place: Place) -> set[str]:
    """Leave two acknowledged entries that are in no note."""
    entries = {append(place, "one"), append(place, "two")}
    vanish(place)
    return entries


OPERATIONS: dict[str, tuple[Callable[[Place], set[str]], Callable[[Place], object]]] = {
    "a write": (
        lambda place: {append(place, "one")},
        lambda place: append(place, "two"),
    ),
    "a first write": (
        lambda _: set(),
        lambda place: append(place, "one", note="new/folder/b.md"),
    ),
    "a recovery": (
        prepare_vanished,
        lambda place: recover(place.journal, NOW_S + 90),
    ),
    "a write that looks after old entries": (
        prepare_vanished,
        lambda place: append(place, "three", now_s=NOW_S + 3600),
    ),
}


def kill_at(number: int, *, is_half: bool) -> None:
    """Make this process kill itself at its call of that number, or write."""
    count = [0]

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **names: Any) -> Any:
            count[0] += 1
            if count[0] == number:
                if is_half:
                    real(args[0], bytes(args[1])[:HALF])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **names)

        return call

    for name in ["write"] if is_half else CALLS:
        setattr(os, name, dying(getattr(os, name)))


def killed_once(place: Place, name: str, number: int, *, is_half: bool) -> bool | str:
    """Kill one operation; return whether it got through, or what is wrong after it."""
    place.notes.mkdir(parents=True)
    (place.notes / NOTE).write_text(HUMAN)
    os.utime(place.notes / NOTE, (NOW_S - 60, NOW_S - 60))
    prepare, operate = OPERATIONS[name]
    acknowledged = prepare(place)
    pid = os.fork()
    if pid == 0:
        kill_at(number, is_half=is_half)
        try:
            operate(place)
        except BaseException as error:  # noqa: BLE001 - the parent reports it
            print(f"{type(error).__name__}: {error}", flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    is_through = status == 0
    if not is_through and not os.WIFSIGNALED(status):
        return f"{name}, call {number}: it failed by itself"
    recover(place.journal, NOW_S + 120)
    found = verdict(place.notes, acknowledged)
    acknowledged.add(append(place, "later", now_s=NOW_S + 180))
    after = verdict(place.notes, acknowledged)
    states = {entry.state for entry in place.journal.entries()}
    if found or after or not states <= {"saved", "recovered"}:
        return f"{name}, call {number}: {found} {after} {states}"
    if not (place.notes / NOTE).read_text().startswith(HUMAN):
        return f"{name}, call {number}: the person's text changed"
    empty = [note for note in place.notes.rglob("*.md") if not note.stat().st_size]
    return f"{name}, call {number}: empty {empty}" if empty else is_through


def kill_writers(base: Path) -> tuple[int, list[str]]:
    """Kill each operation at each call; return how often, and what was wrong."""
    problems, points = [], 0
    for name in OPERATIONS:
        for is_half in (False, True):
            outcome: bool | str = False
            number = 0
            while outcome is not True and len(problems) < MAX_PROBLEMS:
                number += 1
                place = Place(base / f"{name}-{is_half}-{number}")
                outcome = killed_once(place, name, number, is_half=is_half)
                if isinstance(outcome, str):
                    problems.append(outcome)
            points += number - 1
    return points, problems


def kill_injectors(base: Path, every: int, kinds: str) -> tuple[int, list[str]]:
    """Kill injections in some kinds of file; return how often, and what was wrong."""
    os.environ.update(GIT_OF_NOBODY)
    sandbox = Sandbox(base / "home")
    sandbox.save("global.md", "# Global\n\nTabs are four spaces.\n")
    points, problems = 0, []
    for make in (KINDS[name] for name in kinds.split(",")):
        for is_eject in (False, True):
            trees = base / f"{make.__name__}-{is_eject}"
            trees.mkdir()
            for found in kill_injections(
                sandbox.home, trees, make, every=every, is_eject=is_eject
            ):
                points += 1
                problems += found
                if len(problems) >= MAX_PROBLEMS:
                    return points, problems
    return points, problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", default=None, help="make the homes in this folder")
    parser.add_argument("--injections", action="store_true", help="kill these")
    parser.add_argument("--every", type=int, default=1, help="one call of so many")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of the file")
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=given.dir) as base:
        if given.injections:
            points, problems = kill_injectors(Path(base), given.every, given.kinds)
        else:
            points, problems = kill_writers(Path(base))
    for problem in problems:
        print(problem)
    took_s = time.monotonic() - started
    print(f"{points} kills in {took_s:.1f} s, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
