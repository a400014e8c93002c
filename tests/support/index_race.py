"""Processes that change notes, sync and search at once, and what they miss."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf

from tests.support.sandbox import Sandbox, ask

NOTES_PER_WRITER = 8
FIRST_CHANGE_S = 120


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
    for file in sorted(told.glob("*.json")):
        said = json.loads(file.read_text())
        outcome.steps += said["steps"]
        outcome.problems += said["problems"]
    if len(list(told.glob("*.json"))) != len(jobs) + 1:
        outcome.problems.append("a process ended without a report")
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
    step = -1
    for step in steps:
        path = f"{name}-{rng.randrange(NOTES_PER_WRITER)}.md"
        word = f"x{name.replace('-', '')}s{step}x"
        file = sandbox.notes / path
        if rng.random() < 0.4:
            memory.write(word, file=path)
        elif rng.random() < 0.5:
            sandbox.save_over(path, f"{word}\n")
        else:
            sandbox.save(f"{path}.new", f"{word}\n").replace(file)
            if rng.random() < 0.3:
                other = sandbox.notes / f"{name}-moved-{step % 3}.md"
                file.replace(other)
        beside = events.with_suffix(".tmp")
        beside.write_text(word)
        beside.replace(events)
    memory.close()
    return {"steps": step + 1, "problems": []}


def _search(
    sandbox: Sandbox,
    name: str,
    steps: Iterator[int],
    rng: random.Random,
    plan: RacePlan,
) -> dict[str, object]:
    """Search for the last finished change of a writer, which must be found."""
    memory = sandbox.memory()
    problems = []
    told = [sandbox.home / f"writer-{number}.events" for number in range(plan.writers)]
    end_s = time.monotonic() + FIRST_CHANGE_S
    while not all(events.exists() for events in told):
        if time.monotonic() > end_s:
            return {"steps": 0, "problems": [f"{name}: a writer did not begin"]}
        time.sleep(0.005)
    done = 0
    for _ in steps:
        done += 1
        events = rng.choice(told)
        word = events.read_text()
        answer = ask(memory, word)
        # By its parts a word finds other notes as well.
        is_found = any(word in hit.snippet for hit in answer.hits)
        # Each word is written once, so what holds it now has held it all the time,
        # unless the writer has replaced the note since: then nothing holds it.
        if not is_found and answer.report.is_fresh and _holds(sandbox, word):
            problems.append(f"{name} missed {word}")
    memory.close()
    return {"steps": done, "problems": problems}


def _watch(
    sandbox: Sandbox, _: str, __: Iterator[int], ___: random.Random, ____: RacePlan
) -> dict[str, object]:
    """Sync again and again, as ``hm watch`` does."""
    memory = sandbox.memory()
    steps = 0
    while not (sandbox.home / "stop").exists():
        memory.sync()
        steps += 1
    memory.close()
    return {"steps": steps, "problems": []}


def _holds(sandbox: Sandbox, word: str) -> bool:
    """Return whether a note holds a word; one that is renamed meanwhile does not."""
    for file in sandbox.notes.glob("*.md"):
        try:
            if word in file.read_text():
                return True
        except FileNotFoundError:
            continue
    return False
