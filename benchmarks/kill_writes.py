"""Kill writers at random moments: is every acknowledged entry there, whole and once?

    python -m benchmarks.kill_writes --kills 10000
    python -m benchmarks.kill_writes --kills 500 --command "hm write --file {note} -"

A writer is a process that appends entries of 10 B to 70 kB and says so after each, or
one run of a command that reads the entry from standard input. It is killed with SIGKILL
after a random number of entries, or tears one of its writes: a random part of the bytes
arrives, and it dies. Now and then a stale editor has saved over the note before it
starts, so that what is killed is a recovery. Exits 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.written import Place, Verdict, content, verdict
from hivemind_memory.notes.recovery import recover
from tests.support.kill_rig import kill_victim

NOTE = "2026-11-21.md"
HUMAN = "# Human\n\nmy own text\n"
ROUNDS_PER_HOME = 20  # or the notes would grow without end


@dataclass(slots=True)
class Result:
    """What happened in all rounds."""

    kills: int = 0
    acknowledged: int = 0
    stale_saves: int = 0
    unfinished: int = 0
    """Kills that left an entry in doubt: those in the middle of a write."""

    problems: list[str] = field(default_factory=list)


def run(
    result: Result, base: Path, kills: int, rng: random.Random, command: str
) -> None:
    """Kill *kills* writers, with a fresh home every now and then."""
    acknowledged: set[str] = set()
    place = Place(base)
    for number in range(kills):
        if number % ROUNDS_PER_HOME == 0:
            acknowledged = set()
            place = Place(base / str(number))
            place.notes.mkdir(parents=True)
            (place.notes / NOTE).write_text(HUMAN)
        if rng.random() < 0.3:
            result.stale_saves += _save_stale(place, rng)
        kill = _kill_command if command else _kill_writer
        acknowledged |= kill(place, rng, command)
        result.kills += 1
        states = [entry.state for entry in place.journal.entries()]
        result.unfinished += any(state in ("begun", "returning") for state in states)
        _settle(place)
        _judge(result, place, verdict(place.notes, acknowledged))
        if number % ROUNDS_PER_HOME == ROUNDS_PER_HOME - 1 or number == kills - 1:
            result.acknowledged += len(acknowledged)
            shutil.rmtree(place.home)


def _kill_writer(place: Place, rng: random.Random, _: str) -> set[str]:
    """Let a process recover and write until it is killed; return what it wrote."""
    return set(kill_victim(rng, lambda victim, said: _write_on(place, victim, said)))


def _write_on(place: Place, rng: random.Random, said: int) -> None:
    """Write entry after entry, saying each id when it is acknowledged."""
    recover(place.journal, time.time())
    while True:
        os.write(said, f"{place.append(NOTE, content(rng))}\n".encode())


def _kill_command(place: Place, rng: random.Random, command: str) -> set[str]:
    """Run the command once and perhaps kill it; return the id if it said "saved"."""
    text = content(rng)
    digest = text.partition("\n")[0]
    arguments = shlex.split(command.format(note=NOTE))
    environment = {**os.environ, "HIVEMIND_HOME": str(place.home)}
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
    ) as process:
        try:
            process.communicate(text.encode(), timeout=rng.random() * 0.6)
        except subprocess.TimeoutExpired:
            process.kill()
    if process.returncode != 0:
        return set()
    pattern = re.compile(rf"<!-- hm id=(\S+) .*-->\n{digest}")
    found = [
        pattern.findall(note.read_text("utf-8")) for note in place.notes.glob("*.md")
    ]
    return {entry for ids in found for entry in ids} or {f"no entry for {digest}"}


def _save_stale(place: Place, rng: random.Random) -> bool:
    """Save over the note what it held some entries ago, as an editor would."""
    note = place.notes / NOTE
    text = note.read_text("utf-8")
    entries = [found.start() for found in re.finditer(r"\n\n\n<!-- hm id=", text)]
    if not entries:
        return False
    cut = rng.choice(entries[-3:])
    beside = note.with_name(".saving")
    beside.write_text(text[: cut + 1], "utf-8")
    os.replace(beside, note)
    return True


def _settle(place: Place) -> None:
    """Do what the next search does: nothing else is ever needed to repair."""
    recover(place.journal, time.time())


def _judge(result: Result, place: Place, found: Verdict) -> None:
    """Write down what is wrong."""
    if found:
        result.problems.append(f"kill {result.kills}: {found}")
    if not (place.notes / NOTE).read_text("utf-8").startswith(HUMAN):
        result.problems.append(f"kill {result.kills}: the person's text changed")
    states = {entry.state for entry in place.journal.entries()}
    if not states <= {"saved", "recovered"}:
        result.problems.append(f"kill {result.kills}: still in doubt: {states}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", default="", help="write by this, not in process")
    parser.add_argument("--dir", default=None, help="make the homes in this folder")
    arguments = parser.parse_args()
    result = Result()
    with tempfile.TemporaryDirectory(dir=arguments.dir) as base:
        rng = random.Random(arguments.seed)
        run(result, Path(base), arguments.kills, rng, arguments.command)
    for problem in result.problems:
        print(problem)
    print(
        f"seed {arguments.seed}: {result.kills} kills, {result.unfinished} during "
        f"a write, {result.stale_saves} stale saves, {result.acknowledged} entries "
        f"acknowledged, {len(result.problems)} problems"
    )
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
