"""Many processes that write to, search and edit one memory at the same time."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.kill_rig import ENTRY
from tests.support.sandbox import Sandbox, ask, difference_from_fresh

NOTES = ("a.md", "b.md", "deep/c.md")
RETURNED = "within 10 minutes is back in"
"""Part of the notice that an entry was removed and has come back."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many do what, for how long or how often."""

    seconds: float = 0.0
    """How long all of them work; 0: until each process has done its share."""

    share: int = 0
    """Writes, and as many searches, that each process has to do.

    An editor saves as often, and goes on while others are at work."""

    processes: int = 12
    editors: int = 1
    rebuilders: int = 0


@dataclass
class Outcome:
    """What all of them did."""

    written: list[str] = field(default_factory=list)
    write_ms: list[float] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)
    shares: list[tuple[int, int]] = field(default_factory=list)
    """How often each process has written and searched."""

    saves: int = 0
    problems: list[str] = field(default_factory=list)


class Shift:
    """Tells a process when its work is done."""

    def __init__(self, sandbox: Sandbox, plan: Plan) -> None:
        self._end = time.monotonic() + plan.seconds
        self._plan = plan
        self._over = sandbox.home / "over"

    def is_done(self, *counts: int) -> bool:
        """Return whether it is time to stop after so many rounds."""
        if self._plan.seconds:
            return time.monotonic() >= self._end
        return min(counts) >= self._plan.share

    def is_over(self) -> bool:
        """Return whether all writers and searchers have stopped."""
        if self._plan.seconds:
            return time.monotonic() >= self._end
        return self._over.exists()

    @staticmethod
    def end(sandbox: Sandbox) -> None:
        """Tell the others that all writers and searchers have stopped."""
        (sandbox.home / "over").touch()


def work_together(sandbox: Sandbox, plan: Plan, seed: int) -> Outcome:
    """Run all of them, then check the result."""
    # What loads with the first write and search is loaded before the processes part:
    # they are to meet each other, not twelve times the same imports.
    with Sandbox(sandbox.home.parent / "warm").memory() as memory:
        memory.write("remember this", file=NOTES[0])
        ask(memory, "remember")
    said = sandbox.home / "said"
    said.mkdir()
    jobs: list[tuple[Callable[..., dict[str, object]], int]] = [
        *((_write_and_search, number) for number in range(plan.processes)),
        *((_save_stale, number) for number in range(plan.editors)),
        *((_rebuild, number) for number in range(plan.rebuilders)),
    ]
    # All of them begin at one moment, on a memory that has no index yet.
    start = time.time() + 0.3
    children = [
        _start(
            job,
            sandbox,
            plan,
            said,
            random.Random(f"{seed} {job.__name__} {number}"),
            number,
            start,
        )
        for job, number in jobs
    ]
    for place, child in enumerate(children):
        if place == plan.processes:
            Shift.end(sandbox)
        os.waitpid(child, 0)
    outcome = Outcome()
    for file in said.iterdir():
        told = json.loads(file.read_text())
        outcome.written += told.get("written", ())
        outcome.write_ms += told.get("write_ms", ())
        outcome.search_ms += told.get("search_ms", ())
        if "written" in told:
            done = (len(told["written"]), len(told["search_ms"]))
            outcome.shares.append(done)
        outcome.saves += told.get("saves", 0)
        outcome.problems += told["problems"]
    if len(list(said.iterdir())) != len(jobs):
        outcome.problems.append("a process ended without a word")
    outcome.problems += _what_is_wrong(sandbox, outcome)
    return outcome


def _start(
    job: Callable[..., dict[str, object]],
    sandbox: Sandbox,
    plan: Plan,
    said: Path,
    rng: random.Random,
    number: int,
    start: float,
) -> int:
    """Return the id of a process that does a job and writes down how it went."""
    pid = os.fork()
    if pid:
        return pid
    told: dict[str, object] = {}
    try:
        time.sleep(max(0.0, start - time.time()))
        told = job(sandbox, rng, number, Shift(sandbox, plan))
        told.setdefault("problems", [])
    except BaseException as error:  # noqa: BLE001 - the parent is to hear of all
        told = {"problems": [f"{job.__name__}: {type(error).__name__}: {error}"]}
    finally:
        (said / f"{job.__name__}-{number}").write_text(json.dumps(told))
        os._exit(0)


def _write_and_search(
    sandbox: Sandbox, rng: random.Random, number: int, shift: Shift
) -> dict[str, object]:
    """Write an entry, or search for one written before."""
    written: list[str] = []
    write_ms: list[float] = []
    search_ms: list[float] = []
    problems: list[str] = []
    memory = sandbox.memory()
    while not shift.is_done(len(written), len(search_ms)):
        started = time.monotonic()
        if rng.random() < 0.5:
            word = f"p{number}n{len(written)}"
            entry = memory.write(f"remember {word}", file=rng.choice(NOTES))
            write_ms.append(1000 * (time.monotonic() - started))
            written.append(entry.id)
            if not entry.is_indexed:
                problems.append(f"{entry.id} was not indexed at once")
            continue
        asked = f"p{number}n{rng.randrange(len(written))}" if written else "remember"
        answer = ask(memory, asked)
        search_ms.append(1000 * (time.monotonic() - started))
        if written and not answer.hits:
            problems.append(f"{asked} was not found")
        # The editors save over entries, which come back and are announced.
        problems += [
            warning for warning in answer.report.warnings if RETURNED not in warning
        ]
        if not answer.report.is_fresh:
            problems.append("an answer was not fresh")
    memory.close()
    return {
        "written": written,
        "write_ms": write_ms,
        "search_ms": search_ms,
        "problems": problems,
    }


def _save_stale(
    sandbox: Sandbox, rng: random.Random, number: int, shift: Shift
) -> dict[str, object]:
    """Save an old buffer over a note, with one line more each time."""
    path = NOTES[number % len(NOTES)]
    note = sandbox.notes / path
    while not note.exists() and not shift.is_over():
        time.sleep(0.005)
    buffer, saves = note.read_text() if note.exists() else "", 0
    while note.exists() and not (shift.is_over() and shift.is_done(saves)):
        time.sleep(rng.uniform(0.02, 0.1))
        if rng.random() < 0.5:
            buffer = note.read_text()
            continue
        saves += 1
        buffer = f"line {saves} of person {number}\n{buffer}"
        sandbox.save_over(path, buffer)
    return {"saves": saves}


def _rebuild(
    sandbox: Sandbox, rng: random.Random, _: int, shift: Shift
) -> dict[str, object]:
    """Rebuild the index again and again while the others use it."""
    with sandbox.memory() as memory:
        while not shift.is_over():
            time.sleep(rng.uniform(0.05, 0.3))
            memory.rebuild()
    return {}


def _what_is_wrong(sandbox: Sandbox, outcome: Outcome) -> list[str]:
    """Compare what was acknowledged with what is there."""
    with sandbox.memory() as memory:
        memory.sync()
        found = difference_from_fresh(sandbox, memory, ("remember person",))
    texts = [file.read_text() for file in sandbox.notes.rglob("*.md")]
    there = [entry for text in texts for entry in ENTRY.findall(text)]
    lost = set(outcome.written) - set(there)
    if lost:
        found.append(f"lost {sorted(lost)}")
    people = {line for text in texts for line in text.splitlines() if "person" in line}
    if len(people) < outcome.saves:
        found.append(f"{outcome.saves - len(people)} lines of a person are gone")
    return found
