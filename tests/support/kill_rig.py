"""Kills processes that write, sync and rebuild, and checks what they leave behind.

One warm process forks the victims, so that a kill costs some 50 ms and not a start. A
victim is killed after it has acknowledged a random number of entries and then lived for
a random fraction of the time that an entry took it, or it dies in the middle of a
write. So however slow the machine is, as many entries are acknowledged, and kills fall
everywhere in an operation.
"""

from __future__ import annotations

import io
import os
import random
import re
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import apsw

from hivemind_memory.index.sqlite import notes as index_notes
from hivemind_memory.memory import note_indexer
from tests.support.sandbox import Sandbox, ask, difference_from_fresh

ENTRY = re.compile(r"^<!-- hm id=([0-9A-Z]{26}) ", re.MULTILINE)
NOTES = ("a.md", "deep/b.md", "2026-01-02.md")
STEP_CHUNKS = 6
"""Instead of 1,000: so small notes are indexed in steps, as large ones are."""

BATCH_NOTES, BATCH_CHUNKS = 4, 3
"""Instead of 500: so a few small notes take several batches, as thousands do."""

MANY_NOTES = 10
"""Notes that change at once."""

MAX_ACKNOWLEDGED = 3
"""The most entries that a victim acknowledges before it is killed from outside."""

MAX_WRITES = 24
"""A victim that tears a write does so in one of its first so many: some 4 entries."""

FIRST_S = 0.02
"""How long a victim lives at most that is to acknowledge nothing."""

STATEMENT_SHARE = 0.4
"""Of all victims, these die between two statements of SQLite, at the latest."""

MAX_STATEMENTS = 150
"""Such a victim dies before one of its next so many writing statements."""

TIMEOUT_S = 120.0
ROUNDS_PER_HOME = 25  # or the notes would grow without end


@dataclass
class Result:
    """What happened in all rounds."""

    kills: int = 0
    acknowledged: int = 0
    found_unfinished: int = 0
    """Kills that left a note half staged, a rebuild, or a log to be replayed."""

    problems: list[str] = field(default_factory=list)


def kill_often(base: Path, kills: int, seed: int) -> Result:
    """Kill *kills* processes; return what was found."""
    rng = random.Random(seed)
    result = Result()
    acknowledged: set[str] = set()
    sandbox = Sandbox(base / "home")
    with (
        mock.patch.object(index_notes, "STEP_CHUNKS", STEP_CHUNKS),
        mock.patch.multiple(
            note_indexer, BATCH_NOTES=BATCH_NOTES, BATCH_CHUNKS=BATCH_CHUNKS
        ),
    ):
        for number in range(kills):
            if number % ROUNDS_PER_HOME == 0:
                result.acknowledged += len(acknowledged)
                acknowledged = set()
                shutil.rmtree(sandbox.home)
                sandbox = Sandbox(base / "home")
                sandbox.save("person.md", "# A person\n\nwrote this\n")
            acknowledged |= _kill_one(sandbox, rng)
            result.kills += 1
            result.found_unfinished += _is_unfinished(sandbox)
            found = _what_is_wrong(sandbox, acknowledged)
            result.problems += [f"kill {number}: {problem}" for problem in found]
    result.acknowledged += len(acknowledged)
    return result


def _kill_one(sandbox: Sandbox, rng: random.Random) -> set[str]:
    """Let a process work for a while; return the entries that it acknowledged."""
    stops_between_statements = rng.random() < STATEMENT_SHARE

    def work(victim: random.Random, said: int) -> None:
        if stops_between_statements:
            die_between_statements(victim)
        _work(sandbox, victim, said)

    lines = kill_victim(rng, work)
    errors = [line for line in lines if line.startswith("!")]
    if errors:
        raise AssertionError(errors)
    return set(lines)


def kill_victim(
    rng: random.Random, work: Callable[[random.Random, int], object]
) -> list[str]:
    """Fork a process that works until it is killed; return what it acknowledged.

    Every other victim is killed from outside. The others kill themselves in the middle
    of a write, which a signal cannot do: the system finishes a write that it has begun.

    Args:
        rng: Decides when the victim dies.
        work: Gets a generator of its own and a descriptor, to which it writes a line
            for each thing that it acknowledges. It does not return.
    """
    seed, is_torn, share = rng.getrandbits(64), rng.random() < 0.5, rng.random()
    wanted = sys.maxsize if is_torn else rng.randint(0, MAX_ACKNOWLEDGED)
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        victim = random.Random(seed)
        if is_torn:
            tear_a_write(victim)
        try:
            work(victim, writer)
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as said:
        began_s = time.monotonic()
        told = _read_lines(said, wanted)
        took_s = (time.monotonic() - began_s) / wanted if wanted else FIRST_S
        time.sleep(share * took_s)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        lines = (told + said.readall()).splitlines(keepends=True)
    return [line.decode().strip() for line in lines if line.endswith(b"\n")]


def tear_a_write(rng: random.Random) -> None:
    """Make this process write only a part of one of its next writes, and die."""
    left = rng.randint(1, MAX_WRITES)
    real_write = os.write

    def write(fd: int, data: bytes) -> int:
        nonlocal left
        left -= 1
        if left <= 0 and len(data) > 1:
            real_write(fd, bytes(data)[: rng.randrange(1, len(data))])
            os.kill(os.getpid(), signal.SIGKILL)
        return real_write(fd, data)

    os.write = write


def die_between_statements(rng: random.Random) -> None:
    """Make this process die before one of the next statements that change a table.

    A process that is killed from outside is rarely between two statements of one
    note: they take microseconds.
    """
    left = rng.randint(1, MAX_STATEMENTS)

    def count(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        nonlocal left
        if sql.lstrip()[:6].upper() in {"INSERT", "UPDATE", "DELETE"}:
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return True

    def trace(connection: apsw.Connection) -> None:
        connection.exec_trace = count

    apsw.connection_hooks.append(trace)


def _read_lines(said: io.FileIO, wanted: int) -> bytes:
    """Read until there are so many lines, or the process has ended."""
    told = b""
    while told.count(b"\n") < wanted:
        if not select.select([said], [], [], TIMEOUT_S)[0]:
            raise AssertionError(f"a victim did nothing for {TIMEOUT_S} s")
        part = said.read(4096)
        if not part:
            break
        told += part
    return told


def _work(sandbox: Sandbox, rng: random.Random, said: int) -> None:
    """Write, edit, sync, search and rebuild until the process is killed."""
    try:
        memory = sandbox.memory()
        while True:
            action = rng.random()
            if action < 0.6:
                text = f"remember {rng.randrange(1000)} " + "word " * rng.randrange(40)
                entry = memory.write(text, file=rng.choice(NOTES))
                os.write(said, f"{entry.id}\n".encode())
            elif action < 0.65:
                for number in range(MANY_NOTES):
                    text = f"one of many {number} {rng.randrange(1000)}\n"
                    sandbox.save_over(f"many/{number}.md", text)
                memory.sync()
            elif action < 0.75:
                parts = (
                    f"part {n} {rng.randrange(99)}" for n in range(rng.randrange(20))
                )
                sandbox.save_over(f"large{rng.randrange(2)}.md", "\n\n\n".join(parts))
                memory.sync()
            elif action < 0.8:
                (sandbox.notes / f"large{rng.randrange(2)}.md").unlink(missing_ok=True)
            elif action < 0.95:
                ask(memory, f"remember {rng.randrange(1000)}")
            else:
                memory.rebuild()
    except BaseException as error:  # noqa: BLE001 - the parent reports all of them
        os.write(said, f"! {type(error).__name__}: {error}\n".encode())


def _is_unfinished(sandbox: Sandbox) -> bool:
    """Return whether the killed process left something unfinished."""
    if Path(sandbox.places.rebuild_file).exists():
        return True
    if not sandbox.index_file.exists():
        return False
    from hivemind_memory.index.sqlite.index import SqliteIndex

    index = SqliteIndex(str(sandbox.index_file), now=time.time)
    try:
        return index.has_unfinished()
    finally:
        index.close()


def _what_is_wrong(sandbox: Sandbox, acknowledged: set[str]) -> list[str]:
    """Sync as the next process would, and compare with a fresh index."""
    with sandbox.memory() as memory:
        memory.sync()
        found = difference_from_fresh(sandbox, memory, ("remember part",))
        shutil.rmtree(sandbox.home / "fresh-0")
    texts = [file.read_text() for file in sandbox.notes.rglob("*.md")]
    there = [entry for text in texts for entry in ENTRY.findall(text)]
    lost = acknowledged - set(there)
    if lost:
        found.append(f"lost {sorted(lost)}")
    if len(there) != len(set(there)):
        found.append("an entry is there twice")
    if (sandbox.notes / "person.md").read_text() != "# A person\n\nwrote this\n":
        found.append("a person's note changed")
    return found
