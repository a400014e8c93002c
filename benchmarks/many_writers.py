"""Many processes write into a few notes while stale editors save over them.

    python -m benchmarks.many_writers --writers 12 --entries 10000
    python -m benchmarks.many_writers --writers 12 --seconds 1800 --editors 2

An editor holds one note in memory, adds a person's line now and then, and saves, by
renaming or in place, whatever others have written meanwhile. A mover takes entries from
the last note to the one before, as a person who tidies up. Lookers do what a search
does first. Exits 1 unless every acknowledged entry is there, whole and once, and every
line of every editor too. An entry that came back must have been in a note that was
replaced: what a writer put into a file without a name was never in its note.

With ``--in-place`` the editors save from the start of the file. An entry that is
written in the very moment between emptying and filling leaves a torn end that nobody
can tell from the person's text; there torn pieces are counted and do not fail the run.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks.written import (
    RECOVERED,
    Place,
    content,
    first_entry,
    id_of,
    ids_in,
    is_settled,
    verdict,
)
from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.notes.recovery import recover


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many do what."""

    writers: int
    entries: int
    seconds: float
    editors: int
    movers: int
    lookers: int
    notes: int
    largest: int
    in_place: bool


def run(place: Place, plan: Plan, seed: int) -> list[str]:
    """Let all of them work; return what is wrong and a last line of figures."""
    place.notes.mkdir(parents=True)
    for number in range(plan.notes):
        (place.notes / f"note-{number}.md").write_text(f"# Note {number}\n")
    said = place.home / "said"
    said.mkdir()
    started = time.monotonic()
    editors = [_start(_edit, place, plan, seed, n) for n in range(plan.editors)]
    movers = [_start(_move, place, plan, seed, n) for n in range(plan.movers)]
    lookers = [_start(_look, place, plan, seed, n) for n in range(plan.lookers)]
    writers = [_start(_write, place, plan, seed, n) for n in range(plan.writers)]
    failed = [pid for pid in writers if os.waitpid(pid, 0)[1]]
    took_s = time.monotonic() - started
    for pid in editors + movers + lookers:
        os.kill(pid, signal.SIGTERM)
        failed += [pid] if os.waitpid(pid, 0)[1] not in (0, signal.SIGTERM) else []
    recover(place.journal, time.time())
    return [*_problems(place, plan, failed), _figures(place, took_s)]


def _start(
    work: Callable[[Place, Plan, random.Random, int], None],
    place: Place,
    plan: Plan,
    seed: int,
    number: int,
) -> int:
    """Return the id of a process that does *work* and ends."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        rng = random.Random(f"{seed} {work.__name__} {number}")
        work(place, plan, rng, number)
        status = 0
    finally:
        os._exit(status)


def _write(place: Place, plan: Plan, rng: random.Random, number: int) -> None:
    """Append entries, and write down which were acknowledged and how fast."""
    until = time.monotonic() + plan.seconds if plan.seconds else float("inf")
    with (place.home / "said" / f"writer-{number}").open("w") as said:
        for _ in range(plan.entries):
            if time.monotonic() > until:
                break
            note = f"note-{rng.randrange(plan.notes)}.md"
            text = content(rng, largest=plan.largest)
            started = time.monotonic()
            try:
                entry = place.append(note, text)
            except NotSavedError as error:
                said.write(f"refused {error}\n")
            else:
                said.write(f"{entry} {(time.monotonic() - started) * 1000:.1f}\n")
            said.flush()


def _edit(place: Place, plan: Plan, rng: random.Random, number: int) -> None:
    """Save an old buffer over the note, with one line more each time."""
    note = place.notes / f"note-{number % plan.notes}.md"
    log = (place.home / "said" / f"editor-{number}").open("w")
    buffer = note.read_text("utf-8")
    count = 0
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        time.sleep(rng.uniform(0.02, 0.2))
        if rng.random() < 0.5:
            buffer = note.read_text("utf-8")
            continue
        count += 1
        heading, _, rest = buffer.partition("\n")
        buffer = f"{heading}\nline {number}-{count}\n{rest}"
        if plan.in_place:
            note.write_text(buffer, "utf-8")
        else:
            beside = note.with_name(f".saving-{number}")
            beside.write_text(buffer, "utf-8")
            _save_over(place, beside, note)
        log.write(f"line {number}-{count}\n")
        log.flush()


def _move(place: Place, plan: Plan, rng: random.Random, number: int) -> None:
    """Paste the oldest entry of one note at the end of another, then cut it out."""
    source = place.notes / f"note-{plan.notes - 1}.md"
    target = place.notes / f"note-{plan.notes - 2}.md"
    log = (place.home / "said" / f"mover-{number}").open("w")
    while True:
        time.sleep(rng.uniform(0.02, 0.2))
        rest, entry = first_entry(source.read_text("utf-8"))
        there = target.read_text("utf-8")
        # Nobody knows of an entry, and takes it elsewhere, while it is being written.
        if not is_settled(rest) or not is_settled(there):
            continue
        if id_of(entry) not in _acknowledged(place):
            continue
        pasted = there.rstrip("\n") + "\n\n" + entry
        for note, text in ((target, pasted), (source, rest)):
            beside = note.with_name(f".moving-{number}")
            beside.write_text(text, "utf-8")
            _save_over(place, beside, note)
        log.write("moved\n")
        log.flush()


def _save_over(place: Place, beside: Path, note: Path) -> None:
    """Put a file in the place of a note, and write down which entries that held."""
    log = place.home / "said" / f"replaced-{note.stem}"
    with log.open("a") as said:
        fcntl.flock(said, fcntl.LOCK_EX)
        with note.open("rb") as old:
            os.replace(beside, note)
            said.write("".join(f"{entry}\n" for entry in ids_in(old.read())))


def _look(place: Place, _: Plan, rng: random.Random, __: int) -> None:
    """Do what a search does first."""
    while True:
        time.sleep(rng.uniform(0.02, 0.2))
        try:
            recover(place.journal, time.time())
        except HivemindError:
            continue  # the next scan does it


def _problems(place: Place, plan: Plan, failed: list[int]) -> list[str]:
    """Return all that is wrong."""
    problems = [f"process {pid} failed" for pid in failed]
    if plan.movers and not any((place.home / "said" / "mover-0").read_text()):
        problems.append("the mover has moved nothing")
    found = verdict(place.notes, _acknowledged(place))
    if plan.in_place:
        print(f"torn by editors that save in place: {len(found.torn)}")
        found.torn = []
    else:
        problems += _never_in_place(place)
    if found:
        problems.append(f"{found}")
    for log in sorted((place.home / "said").glob("editor-*")):
        number = int(log.name.partition("-")[2])
        text = (place.notes / f"note-{number % plan.notes}.md").read_text("utf-8")
        lines = set(text.splitlines())
        gone = [line for line in log.read_text().splitlines() if line not in lines]
        problems += [f"lost a person's {line}" for line in gone]
    return problems


def _never_in_place(place: Place) -> list[str]:
    """Return which entries came back though no note that was replaced held them."""
    back = place.notes / RECOVERED
    logs = (place.home / "said").glob("replaced-*")
    held = {entry for log in logs for entry in log.read_text().split()}
    gone = set(ids_in(back.read_bytes())) - held if back.exists() else set()
    return [f"{len(gone)} entries were never in their notes"] if gone else []


def _acknowledged(place: Place) -> set[str]:
    """Return the ids that the writers got back."""
    return {
        line.split()[0]
        for log in (place.home / "said").glob("writer-*")
        for line in log.read_text().splitlines()
        if not line.startswith("refused")
    }


def _figures(place: Place, took_s: float) -> str:
    """Return what happened, in one line."""
    lines = [
        line
        for log in (place.home / "said").glob("writer-*")
        for line in log.read_text().splitlines()
    ]
    times = sorted(
        float(line.split()[1]) for line in lines if not line.startswith("refused")
    )
    edits = sum(
        len(log.read_text().splitlines())
        for log in (place.home / "said").glob("editor-*")
    )
    moves = sum(
        len(log.read_text().splitlines())
        for log in (place.home / "said").glob("mover-*")
    )
    back = place.notes / RECOVERED
    recovered = len(ids_in(back.read_bytes())) if back.exists() else 0
    return (
        f"{len(times)} entries acknowledged in {took_s:.1f} s, "
        f"{len(lines) - len(times)} refused, {edits} saves of editors, "
        f"{moves} entries moved, "
        f"{recovered} entries recovered; p50 {times[len(times) // 2]:.1f} ms, "
        f"p99 {times[len(times) * 99 // 100]:.1f} ms"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writers", type=int, default=12)
    parser.add_argument("--entries", type=int, default=1_000_000_000)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--editors", type=int, default=0)
    parser.add_argument("--movers", type=int, default=0)
    parser.add_argument("--lookers", type=int, default=0)
    parser.add_argument("--notes", type=int, default=4)
    parser.add_argument("--largest", type=int, default=70_000)
    parser.add_argument("--in-place", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", default=None, help="work in this folder")
    given = parser.parse_args()
    if given.entries == parser.get_default("entries") and not given.seconds:
        parser.error("say --entries or --seconds")
    if given.movers > 1:
        parser.error("one mover at most: two would paste the same entry")
    plan = Plan(**{one.name: getattr(given, one.name) for one in fields(Plan)})
    with tempfile.TemporaryDirectory(dir=given.dir) as base:
        *problems, figures = run(Place(Path(base) / "home"), plan, given.seed)
    for problem in problems:
        print(problem[:2000])
    print(f"seed {given.seed}: {figures}; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
