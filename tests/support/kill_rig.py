"""Kills a process that writes, syncs and rebuilds, and looks at what it leaves.

One warm process forks the victims, so that a kill costs some 50 ms and not a start.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from hivemind_memory.index.sqlite import notes as index_notes
from tests.support.sandbox import House, ask, difference_from_fresh

ENTRY = re.compile(r"^<!-- hm id=([0-9A-Z]{26}) ", re.MULTILINE)
NOTES = ("a.md", "deep/b.md", "2026-01-02.md")
STEP_CHUNKS = 6
"""In the place of 1,000: small notes are large ones and go in by steps."""

LONGEST_S = 0.045
ROUNDS_PER_HOME = 25  # or the notes would grow without end


@dataclass
class Tally:
    """What happened in all rounds."""

    kills: int = 0
    acknowledged: int = 0
    found_unfinished: int = 0
    """Kills that left a note half staged, a rebuild, or a log to be replayed."""

    problems: list[str] = field(default_factory=list)


def kill_often(base: Path, kills: int, seed: int) -> Tally:
    """Kill *kills* processes; return what was found."""
    rng = random.Random(seed)
    tally = Tally()
    acknowledged: set[str] = set()
    house = House(base / "home")
    with mock.patch.object(index_notes, "STEP_CHUNKS", STEP_CHUNKS):
        for number in range(kills):
            if number % ROUNDS_PER_HOME == 0:
                tally.acknowledged += len(acknowledged)
                acknowledged = set()
                shutil.rmtree(house.home)
                house = House(base / "home")
                house.save("person.md", "# A person\n\nwrote this\n")
            acknowledged |= _kill_one(house, rng)
            tally.kills += 1
            tally.found_unfinished += _is_unfinished(house)
            found = _what_is_wrong(house, acknowledged)
            tally.problems += [f"kill {number}: {problem}" for problem in found]
    tally.acknowledged += len(acknowledged)
    return tally


def _kill_one(house: House, rng: random.Random) -> set[str]:
    """Let a process work for a moment; return the entries that it acknowledged."""
    seed, life_s = rng.getrandbits(64), rng.random() * LONGEST_S
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        _work(house, random.Random(seed), writer)
    os.close(writer)
    time.sleep(life_s)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(reader, "rb") as said:
        lines = said.readlines()
    errors = [line.decode() for line in lines if line.startswith(b"!")]
    if errors:
        raise AssertionError(errors)
    return {line.decode().strip() for line in lines if line.endswith(b"\n")}


def _work(house: House, rng: random.Random, said: int) -> None:
    """Write, edit, sync, ask and rebuild until somebody puts an end to it."""
    try:
        memory = house.memory()
        while True:
            deed = rng.random()
            if deed < 0.6:
                text = f"remember {rng.randrange(1000)} " + "word " * rng.randrange(40)
                entry = memory.write(text, file=rng.choice(NOTES))
                os.write(said, f"{entry.id}\n".encode())
            elif deed < 0.75:
                parts = (
                    f"part {n} {rng.randrange(99)}" for n in range(rng.randrange(20))
                )
                house.save_over(f"large{rng.randrange(2)}.md", "\n\n\n".join(parts))
                memory.sync()
            elif deed < 0.8:
                (house.notes / f"large{rng.randrange(2)}.md").unlink(missing_ok=True)
            elif deed < 0.95:
                ask(memory, f"remember {rng.randrange(1000)}")
            else:
                memory.rebuild()
    except BaseException as error:  # noqa: BLE001 - the parent is to hear of all
        os.write(said, f"! {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def _is_unfinished(house: House) -> bool:
    """Whether the killed process left something to be put right."""
    if Path(house.places.rebuild_file).exists():
        return True
    if not house.index_file.exists():
        return False
    from hivemind_memory.index.sqlite.index import SqliteIndex

    index = SqliteIndex(str(house.index_file), now=time.time)
    try:
        return index.has_unfinished()
    finally:
        index.close()


def _what_is_wrong(house: House, acknowledged: set[str]) -> list[str]:
    """Sync as the next process would, and compare with the truth."""
    with house.memory() as memory:
        memory.sync()
        found = difference_from_fresh(house, memory, ("remember part",))
        shutil.rmtree(house.home / "fresh-0")
    texts = [file.read_text() for file in house.notes.rglob("*.md")]
    there = [entry for text in texts for entry in ENTRY.findall(text)]
    lost = acknowledged - set(there)
    if lost:
        found.append(f"lost {sorted(lost)}")
    if len(there) != len(set(there)):
        found.append("an entry is there twice")
    if (house.notes / "person.md").read_text() != "# A person\n\nwrote this\n":
        found.append("a person's note changed")
    return found
