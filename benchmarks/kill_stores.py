"""Kill writers of the key-value store and of the vault: is all that they said there?

    python -m benchmarks.kill_stores --kills 200

A writer is a process that sets, deletes and lets expire keys, or sets values of the
vault, and says so after each. It is killed with SIGKILL after a random number of them,
between two statements, or in the middle of a write. Exits 1 if something acknowledged
is gone, if a version was given twice, or if a value of the vault is in another file.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hivemind_memory.errors import HivemindError
from hivemind_memory.state.key_values import KeyValueStore
from hivemind_memory.state.state_file import StateFile
from hivemind_memory.vault.vault import Vault
from tests.support.kill_rig import die_between_statements, kill_victim

KEYS = ("a", "b", "c")
ROUNDS_PER_HOME = 25
STATEMENT_SHARE = 0.3
MARK = "vault-secret-"


@dataclass(slots=True)
class Result:
    """What happened in all rounds."""

    kills: int = 0
    acknowledged: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Said:
    """What the writers of one home have acknowledged."""

    versions: dict[str, set[int]] = field(default_factory=dict)
    last: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Key -> version and value of its last write; an empty value: deleted."""

    vault: dict[str, int] = field(default_factory=dict)
    """Key -> number of the last value; numbers only grow."""


def run(result: Result, base: Path, kills: int, rng: random.Random) -> None:
    """Kill *kills* writers, with a fresh home every now and then."""
    said, home = Said(), base / "home"
    for number in range(kills):
        if number % ROUNDS_PER_HOME == 0:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(mode=0o700)
            said = Said()
        is_vault = rng.random() < 0.4
        first = number * 1_000_000

        def work(
            victim: random.Random,
            out: int,
            *,
            is_vault: bool = is_vault,
            first: int = first,
        ) -> None:
            if is_vault:
                write_vault(home, victim, out, first)
            else:
                write_keys(home, victim, out, first)

        lines = kill_victim(rng, work)
        result.kills += 1
        result.acknowledged += len(lines)
        found = [*take(said, lines), *check(home, said)]
        result.problems += [f"kill {number}: {problem}" for problem in found]


def write_keys(home: Path, rng: random.Random, out: int, number: int) -> None:
    """Set and delete keys until the process is killed."""
    if rng.random() < STATEMENT_SHARE:
        die_between_statements(rng)
    store = KeyValueStore(StateFile(str(home / "state.db")))
    while True:
        number += 1
        key = rng.choice(KEYS)
        if rng.random() < 0.3:
            if store.delete("", key, number):
                os.write(out, f"deleted {key}\n".encode())
            continue
        done = store.set("", key, str(number), now_ms=number)
        os.write(out, f"set {key} {done.version} {number}\n".encode())


def write_vault(home: Path, rng: random.Random, out: int, number: int) -> None:
    """Set values of the vault until the process is killed."""
    vault = Vault(str(home))
    while True:
        number += 1
        key = rng.choice(KEYS)
        vault.set(key, f"{MARK}{number:012}", now_s=number, is_secret=True)
        os.write(out, f"vault {key} {number}\n".encode())


def take(said: Said, lines: list[str]) -> list[str]:
    """Add what a writer acknowledged; return what cannot be."""
    found = []
    for line in lines:
        what, key, *rest = line.split()
        if what == "vault":
            said.vault[key] = int(rest[0])
        elif what == "deleted":
            said.last[key] = (said.last.get(key, (0, ""))[0], "")
        else:
            version = int(rest[0])
            if version in said.versions.setdefault(key, set()):
                found.append(f"{key} got version {version} twice")
            said.versions[key].add(version)
            said.last[key] = (version, rest[1])
    return found


def check(home: Path, said: Said) -> list[str]:
    """Return what was acknowledged and is not there, and what is where it must not."""
    found = []
    state = StateFile(str(home / "state.db"))
    for key, (version, text) in said.last.items():
        there = KeyValueStore(state).get("", key, 1)
        # The last write may have been done and not said.
        is_newer = there is not None and there.version > version
        if text and not is_newer and (there is None or there.text != text):
            later = there is None and not _has_counter(state, key, version)
            if there is not None or later:
                found.append(f"{key}: version {version} is gone")
        if not text and there is not None and not is_newer:
            found.append(f"{key} was deleted, and is there")
    state.close()
    for key, number in said.vault.items():
        try:
            value = Vault(str(home)).get(key)[1]
        except HivemindError as error:
            found.append(f"{key} of the vault: {error}")
            continue
        if int(value.removeprefix(MARK)) < number:
            found.append(f"{key} of the vault: {number} is gone")
    for path in home.rglob("*"):
        is_elsewhere = path.is_file() and path.parent.name != "vault"
        if is_elsewhere and MARK.encode() in path.read_bytes():
            found.append(f"{path.name} holds a value of the vault")
    return found


def _has_counter(state: StateFile, key: str, version: int) -> bool:
    """Return whether a key that is absent was deleted after a version."""
    rows = state.run(
        lambda connection: connection.execute(
            "SELECT version FROM key_values WHERE key = ? AND scope = ''", (key,)
        ).fetchall()
    )
    return bool(rows) and int(str(rows[0][0])) >= version


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    result = Result()
    with tempfile.TemporaryDirectory() as base:
        run(result, Path(base), arguments.kills, random.Random(arguments.seed))
    for problem in result.problems[:20]:
        print(problem)
    print(
        f"{result.kills} kills, {result.acknowledged} acknowledged,"
        f" {len(result.problems)} problems"
    )
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
