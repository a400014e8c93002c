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
from tests.support.sandbox import House, ask, difference_from_fresh

NOTES = ("a.md", "b.md", "deep/c.md")
RETURNED = "within ten minutes is back in"
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

    def __init__(self, house: House, plan: Plan) -> None:
        self._end = time.monotonic() + plan.seconds
        self._plan = plan
        self._over = house.home / "over"

    def is_done(self, *counts: int) -> bool:
        """Return whether it is time to stop, having done something so often."""
        if self._plan.seconds:
            return time.monotonic() >= self._end
        return min(counts) >= self._plan.share

    def is_over(self) -> bool:
        """Return whether all who write and search have stopped."""
        if self._plan.seconds:
            return time.monotonic() >= self._end
        return self._over.exists()

    @staticmethod
    def end(house: House) -> None:
        """Tell the others that all who write and search have stopped."""
        (house.home / "over").touch()


def work_together(house: House, plan: Plan, seed: int) -> Outcome:
    """Let all of them work, then look at what there is."""
    # What loads with the first write and search is loaded before the processes part:
    # they are to meet each other, not twelve times the same imports.
    with House(house.home.parent / "warm").memory() as memory:
        memory.write("remember this", file=NOTES[0])
        ask(memory, "remember")
    said = house.home / "said"
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
            house,
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
            Shift.end(house)
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
    outcome.problems += _what_is_wrong(house, outcome)
    return outcome


def _start(
    job: Callable[..., dict[str, object]],
    house: House,
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
        told = job(house, rng, number, Shift(house, plan))
        told.setdefault("problems", [])
    except BaseException as error:  # noqa: BLE001 - the parent is to hear of all
        told = {"problems": [f"{job.__name__}: {type(error).__name__}: {error}"]}
    finally:
        (said / f"{job.__name__}-{number}").write_text(json.dumps(told))
        os._exit(0)


def _write_and_search(
    house: House, rng: random.Random, number: int, shift: Shift
) -> dict[str, object]:
    """Write an entry, or ask for one of one's own."""
    written: list[str] = []
    write_ms: list[float] = []
    search_ms: list[float] = []
    problems: list[str] = []
    memory = house.memory()
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
    house: House, rng: random.Random, number: int, shift: Shift
) -> dict[str, object]:
    """Save an old buffer over a note, with one line more each time."""
    path = NOTES[number % len(NOTES)]
    note = house.notes / path
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
        house.save_over(path, buffer)
    return {"saves": saves}


def _rebuild(
    house: House, rng: random.Random, _: int, shift: Shift
) -> dict[str, object]:
    """Make the index again and again, under everybody's eyes."""
    with house.memory() as memory:
        while not shift.is_over():
            time.sleep(rng.uniform(0.05, 0.3))
            memory.rebuild()
    return {}


def _what_is_wrong(house: House, outcome: Outcome) -> list[str]:
    """Compare what was acknowledged with what is there."""
    with house.memory() as memory:
        memory.sync()
        found = difference_from_fresh(house, memory, ("remember person",))
    texts = [file.read_text() for file in house.notes.rglob("*.md")]
    there = [entry for text in texts for entry in ENTRY.findall(text)]
    lost = set(outcome.written) - set(there)
    if lost:
        found.append(f"lost {sorted(lost)}")
    people = {line for text in texts for line in text.splitlines() if "person" in line}
    if len(people) < outcome.saves:
        found.append(f"{outcome.saves - len(people)} lines of a person are gone")
    return found
