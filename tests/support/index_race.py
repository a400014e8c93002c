"""Processes that change notes, sync and search at once, and what they miss.

A search compares the index with the notes, so it heals what an older reading did to the
index. To see that, the watcher stops after a scan or a reading until a newer version is
indexed, and each process asks the index as it is before it compares it again. Every
second half second neither it nor a new process compares all notes: that would index
what a searching process has to index because the kernel names it. Files have the times
of a disk whose clock ticks once a second, so a signature alone does not tell two edits
in place apart.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any
from unittest import mock

from hivemind_memory.files import descriptors, folder, scan
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.memory import sync
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query
from hivemind_memory.model.snapshot import FileSignature
from hivemind_memory.notes import append
from tests.support.sandbox import Sandbox, ask

NOTES_PER_WRITER = 8
FIRST_CHANGE_S = 120
TICK_NS = 1_000_000_000
PHASE_S = 0.5
PAUSE_S = 0.02
"""After each change, or the writers are done before the others have searched much."""

LAST_ASKED = 50
"""Words that a writer removed last; they are searched for once all is quiet."""

LATE = "late.md"
COLD = "searcher-0"
_WORD = re.compile(r"x\w+s\d{6}x")


@dataclass(frozen=True, kw_only=True)
class RacePlan:
    """How many processes of each kind, and how many steps all of them do together."""

    steps: int
    writers: int = 2
    searchers: int = 3
    seconds: float = inf
    """Processes that are not done by then stop, and the count says so."""


@dataclass
class RaceOutcome:
    """What the processes did and missed."""

    steps: int = 0
    problems: list[str] = field(default_factory=list)


def race(sandbox: Sandbox, plan: RacePlan, seed: int) -> RaceOutcome:
    """Run all processes until their steps are done; return what went wrong."""
    told = sandbox.home / "told"
    told.mkdir()
    with coarse_clock():
        return _race(sandbox, plan, seed)


@contextmanager
def coarse_clock() -> Iterator[None]:
    """Have the times of files tick once a second, in this process and its children."""
    real, tick = descriptors.signature_of, TICK_NS

    def signature_of(status: os.stat_result) -> FileSignature:
        mtime, ctime, size, inode = real(status)
        return mtime // tick * tick, ctime // tick * tick, size, inode

    with (
        mock.patch.object(folder, "signature_of", signature_of),
        mock.patch.object(append, "signature_of", signature_of),
        mock.patch.object(scan, "_signature_of", signature_of),
    ):
        yield


def _race(sandbox: Sandbox, plan: RacePlan, seed: int) -> RaceOutcome:
    """Run the processes; see ``race``."""
    told = sandbox.home / "told"
    share = max(1, plan.steps // (plan.writers + plan.searchers))
    with sandbox.memory() as memory:
        memory.sync()
    jobs: list[tuple[Callable[..., dict[str, object]], str]] = [
        *((_write, f"writer-{number}") for number in range(plan.writers)),
        *((_search, f"searcher-{number}") for number in range(plan.searchers)),
    ]
    children = [
        _start(job, sandbox, name, share, random.Random(f"{seed} {name}"), plan)
        for job, name in jobs
    ]
    watcher = _start(_watch, sandbox, "watcher", share, random.Random(seed), plan)
    for child in children:
        os.waitpid(child, 0)
    (sandbox.home / "stop").touch()
    os.waitpid(watcher, 0)
    outcome = RaceOutcome()
    removed: list[str] = []
    for file in sorted(told.glob("*.json")):
        said = json.loads(file.read_text())
        outcome.steps += said["steps"]
        outcome.problems += said["problems"]
        removed += said.get("removed", [])[-LAST_ASKED:]
    if len(list(told.glob("*.json"))) != len(jobs) + 1:
        outcome.problems.append("a process ended without a report")
    with sandbox.memory() as memory:
        memory.sync()
        for word in removed:
            outcome.problems += _still_shown(sandbox, memory, "the end", word)
    return outcome


def _start(
    job: Callable[..., dict[str, object]],
    sandbox: Sandbox,
    name: str,
    steps: int,
    rng: random.Random,
    plan: RacePlan,
) -> int:
    """Fork a process that does a job and reports; return its id."""
    pid = os.fork()
    if pid:
        return pid
    report: dict[str, object] = {"steps": 0, "problems": [f"{name} was cut off"]}
    try:
        report = job(sandbox, name, _until(steps, plan.seconds), rng, plan)
    except BaseException as error:  # noqa: BLE001 - the parent reports every failure
        report = {"steps": 0, "problems": [f"{name}: {type(error).__name__}: {error}"]}
    finally:
        (sandbox.home / "told" / f"{name}.json").write_text(json.dumps(report))
        os._exit(0)


def _until(steps: int, seconds: float) -> Iterator[int]:
    """Yield the numbers of steps, until the time is over."""
    end_s = time.monotonic() + seconds
    for step in range(steps):
        if time.monotonic() > end_s:
            return
        yield step


def _write(
    sandbox: Sandbox, name: str, steps: Iterator[int], rng: random.Random, _: RacePlan
) -> dict[str, object]:
    """Edit, rename, delete and write notes; announce each finished change."""
    memory = sandbox.memory()
    events = sandbox.home / f"{name}.events"
    removed: list[str] = []
    step = -1
    for step in steps:
        path = f"{name}-{rng.randrange(NOTES_PER_WRITER)}.md"
        before = _words(sandbox, name)
        word = f"x{name.replace('-', '')}s{step:06}x"
        file = sandbox.notes / path
        kind = rng.random()
        if kind < 0.3:
            memory.write(word, file=path)
        elif kind < 0.5:
            sandbox.save(f"{name}-in-place.md", f"{word}\n")
        elif kind < 0.75:
            sandbox.save_over(path, f"{word}\n")
        elif kind < 0.85:
            file.unlink(missing_ok=True)
            word = ""
        else:
            sandbox.save(f"{path}.new", f"{word}\n").replace(file)
            if rng.random() < 0.3:
                other = sandbox.notes / f"{name}-moved-{step % 3}.md"
                file.replace(other)
        if word:
            _announce(events, word)
        if gone := sorted(before - _words(sandbox, name)):
            removed += gone
            _announce(events.with_suffix(".gone"), gone[0])
        time.sleep(PAUSE_S)
    before = _words(sandbox, name)
    for number in range(0, NOTES_PER_WRITER, 2):
        (sandbox.notes / f"{name}-{number}.md").unlink(missing_ok=True)
    removed += before - _words(sandbox, name)
    memory.close()
    return {"steps": step + 1, "problems": [], "removed": removed}


def _words(sandbox: Sandbox, name: str) -> set[str]:
    """Return the words that are in the notes of a writer."""
    files = sandbox.notes.glob(f"{name}-*.md")
    return {word for file in files for word in _WORD.findall(file.read_text())}


def _is_healed() -> bool:
    """Return whether processes compare all notes now, and so index what others miss."""
    return int(time.monotonic() / PHASE_S) % 2 == 0


def _announce(file: Path, word: str) -> None:
    """Tell the others of a change that is finished."""
    beside = file.with_name(f"{file.name}.tmp")
    beside.write_text(word)
    beside.replace(file)


def _search(
    sandbox: Sandbox,
    name: str,
    steps: Iterator[int],
    rng: random.Random,
    plan: RacePlan,
) -> dict[str, object]:
    """Search for the last finished change of a writer, which must be found.

    What a writer removed last must not be, in another search now and then.
    """
    memory = sandbox.memory()
    problems = []
    told = [sandbox.home / f"writer-{number}.events" for number in range(plan.writers)]
    end_s = time.monotonic() + FIRST_CHANGE_S
    while not all(events.exists() for events in told):
        if time.monotonic() > end_s:
            return {"steps": 0, "problems": [f"{name}: a writer did not begin"]}
        time.sleep(0.005)
    done = fresh = 0
    for _ in steps:
        done += 1
        if name == COLD and _is_healed():  # as a command, which asks once and ends
            memory.close()
            memory = sandbox.memory()
        problems += _undone(sandbox, memory, name)
        events = rng.choice(told)
        if rng.random() < 0.3:
            gone = events.with_suffix(".gone")
            if gone.exists():
                problems += _still_shown(sandbox, memory, name, gone.read_text())
        word = events.read_text()
        before = _holding(sandbox, word)
        answer = ask(memory, word)
        # By its parts a word finds other notes as well.
        is_found = any(word in hit.snippet for hit in answer.hits)
        fresh += answer.report.is_fresh
        if is_found or not answer.report.is_fresh:
            continue
        # A note that the writer has replaced meanwhile need not be found. Nor need the
        # entry that it held, and that another process has put back since.
        if kept := before & _holding(sandbox, word):
            took_s = answer.report.took_ms / 1000
            problems.append(f"{name} missed {word} of {kept} in {took_s:.1f} s")
    if done > 20 and not fresh:
        problems.append(f"{name}: no answer was fresh, so nothing could be missed")
    memory.close()
    return {"steps": done, "problems": problems}


def _still_shown(sandbox: Sandbox, memory: Memory, name: str, word: str) -> list[str]:
    """Return what is wrong with the answer to a search for a word that was removed."""
    if _holding(sandbox, word):
        return []  # another process has put its entry back
    answer = ask(memory, word)
    is_found = any(word in hit.snippet for hit in answer.hits)
    may_be_old = not answer.report.is_fresh and name != "the end"
    if not is_found or may_be_old or _holding(sandbox, word):
        return []
    return [f"{name} was shown {word}, which is in no note"]


def _watch(
    sandbox: Sandbox, name: str, __: Iterator[int], ___: random.Random, ____: RacePlan
) -> dict[str, object]:
    """Sync again and again, as ``hm watch`` does, each time too late for one note."""
    memory, faster = sandbox.memory(), sandbox.memory()
    note = sandbox.notes / LATE
    steps = 0
    problems: list[str] = []

    def overtake() -> None:
        note.write_text(f"newer{steps}newer\n")
        faster.sync()
        _announce(sandbox.home / "indexed", f"newer{steps}newer")

    while not (sandbox.home / "stop").exists():
        if not _is_healed():
            time.sleep(0.02)
            continue
        if steps % 2:
            note.write_text(f"older{steps}older\n")
            method = "read"
        else:
            note.unlink(missing_ok=True)
            method = "snapshot"
        with (
            # As when many notes have changed: who is faster does not wait for the lock.
            mock.patch.object(sync, "QUICK_NOTES", -1),
            mock.patch.object(NotesFolder, method, _then(method, overtake)),
        ):
            memory.sync()
        problems += _undone(sandbox, memory, name)
        steps += 1
    memory.close()
    faster.close()
    return {"steps": steps, "problems": problems}


def _then(method: str, overtake: Callable[[], None]) -> Callable[..., Any]:
    """Return a method of the folder, followed by *overtake* the first time."""
    real = getattr(NotesFolder, method)
    todo = [overtake]

    def call(notes: NotesFolder, path: str = LATE, **options: Any) -> Any:
        given = (notes, path) if method == "read" else (notes,)
        result = real(*given, **options)
        if todo and path == LATE:
            todo.pop()()
        return result

    return call


def _undone(sandbox: Sandbox, memory: Memory, name: str) -> list[str]:
    """Return what was indexed last and is not found, though its note still holds it."""
    told = sandbox.home / "indexed"
    if not told.exists():
        return []
    word = told.read_text()
    hits = memory.search(Query(text=word, min_score=0.0), is_fresh=False).hits
    is_found = any(word in hit.snippet for hit in hits)
    return [] if is_found or not _holding(sandbox, word) else [f"{name}: {word} undone"]


def _holding(sandbox: Sandbox, word: str) -> set[str]:
    """Return the notes that hold a word; one that is renamed meanwhile does not."""
    found = set()
    for file in sandbox.notes.glob("*.md"):
        try:
            if word in file.read_text():
                found.add(file.name)
        except FileNotFoundError:
            continue
    return found
