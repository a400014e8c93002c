"""Kills processes that write memories under ids of their own, and looks what is left.

Each id has one text at a time, numbered by its writes. Whatever is killed: the text of
an id is whole, once, and not older than what was acknowledged.
"""

from __future__ import annotations

import os
import random
import shutil
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from hivemind_memory.memory.memory import Memory
from hivemind_memory.plugin_api.memories import question_in, search_rows, write_row
from hivemind_memory.plugin_api.namespaces import put_namespace, readable
from hivemind_memory.plugin_api.rows import NewRow
from tests.support.kill_rig import die_between_statements, kill_victim
from tests.support.sandbox import Sandbox, difference_from_fresh

NAMES = ("workspace:web", "team:red")
IDS = [str(uuid.UUID(int=number, version=4)) for number in range(4)]
STATEMENT_SHARE = 0.3
"""Of all victims, these die between two statements of SQLite, at the latest."""


@dataclass
class Result:
    """What happened in all rounds."""

    kills: int = 0
    acknowledged: int = 0
    in_doubt: int = 0
    """Kills after which an id has a text that was not acknowledged."""

    problems: list[str] = field(default_factory=list)


def text_of(own: str, version: int) -> str:
    """Return the text of a write of an id."""
    words = " ".join(["kiwi"] * (version * 37 % 400))
    return f"{own} version {version} begins\n{words}\nand ends {version}"


def name_of(own: str) -> str:
    """Return the namespace in which an id is."""
    return NAMES[IDS.index(own) % len(NAMES)]


def kill_upserts(base: Path, kills: int, seed: int) -> Result:
    """Kill *kills* processes; return what was found."""
    rng = random.Random(seed)
    result = Result()
    sandbox = Sandbox(base / "home")
    known: dict[str, int] = {}
    with sandbox.memory() as memory:
        for name in NAMES:
            put_namespace(memory, name, kind=name.partition(":")[0])
    for number in range(kills):
        first = 1_000 * (number + 1)
        for line in _kill_one(sandbox, rng, first):
            what, _, version = line.partition(" ")
            known[what] = int(version)
            result.acknowledged += 1
        result.kills += 1
        with sandbox.memory() as memory:
            found, is_in_doubt = _what_is_wrong(sandbox, memory, known)
        result.in_doubt += is_in_doubt
        result.problems += [f"kill {number}: {problem}" for problem in found]
    return result


def _kill_one(sandbox: Sandbox, rng: random.Random, first: int) -> list[str]:
    """Let a process write until it is killed; return what it acknowledged."""
    stops_between_statements = rng.random() < STATEMENT_SHARE

    def work(victim: random.Random, said: int) -> None:
        if stops_between_statements:
            die_between_statements(victim)
        _write_on(sandbox, victim, said, first)

    lines = kill_victim(rng, work)
    errors = [line for line in lines if line.startswith("!")]
    if errors:
        raise AssertionError(errors)
    return lines


def _write_on(sandbox: Sandbox, rng: random.Random, said: int, version: int) -> None:
    """Write again and again, saying each write that is acknowledged."""
    try:
        memory = sandbox.memory()
        while True:
            version += 1
            if rng.random() < 0.1:
                what = rng.choice(NAMES)
                kind, metadata = what.partition(":")[0], f'{{"version":{version}}}'
                put_namespace(memory, what, kind=kind, metadata=metadata)
            else:
                what = rng.choice(IDS)
                row = NewRow(id=what, content=text_of(what, version))
                write_row(memory, name_of(what), row)
            os.write(said, f"{what} {version}\n".encode())
    except BaseException as error:  # noqa: BLE001 - the parent reports all of them
        os.write(said, f"! {type(error).__name__}: {error}\n".encode())


def _what_is_wrong(
    sandbox: Sandbox, memory: Memory, known: dict[str, int]
) -> tuple[list[str], bool]:
    """Return what is wrong, and whether something is there that nobody was told of.

    What is newer than what was acknowledged is known from then on.
    """
    problems, is_in_doubt = [], False
    for name, namespace in readable(memory).items():
        metadata = namespace.metadata or '{"version":0}'
        version = int(metadata.removeprefix('{"version":').removesuffix("}"))
        if version < known.get(name, 0):
            problems.append(f"{name} lost {known[name]}, has {version}")
    question = question_in(memory, NAMES, limit=100)
    rows = search_rows(memory, question)
    for own in IDS:
        texts = [row.content for row in rows if row.id == own]
        if not texts and own not in known:
            continue
        if len(texts) != 1:
            problems.append(f"{own} is there {len(texts)} times")
            continue
        version = int(texts[0].split("\n")[0].split(" ")[2])
        if texts[0] != text_of(own, version):
            problems.append(f"{own} is not whole: {texts[0]!r}")
        if version < known.get(own, 0):
            problems.append(f"{own} lost {known[own]}, has {version}")
        is_in_doubt |= version > known.get(own, 0)
        known[own] = version
    memory.sync()
    problems += difference_from_fresh(sandbox, memory, ("kiwi begins",))
    shutil.rmtree(sandbox.home / "fresh-0")
    return problems, is_in_doubt
