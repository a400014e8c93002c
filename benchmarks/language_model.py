"""Is a save or a search slower because of a language model that is slow, dead or lying?

    python -m benchmarks.language_model --rounds 300

Five homes with the same notes, each with a leader of its own: without a model, and with
one that replies well, never, wrongly, or is not there. In each round a memory is saved
and searched in every home, in another order, so that all meet the same load. Prints the
medians, and how they differ from those without a model.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from tests.support.sandbox import Sandbox, ask

OFF = "no model"
MODES = {OFF: None, "replies": "", "never replies": "slow", "lies": "a-list"}
DEAD = "not there"
TOPICS = ("deploy", "database", "backup", "review", "invoice", "login", "cache")


@contextmanager
def server(fault: str) -> Iterator[str]:
    """Run a language model that always fails so; yield its address."""
    command = [sys.executable, "-m", "tests.support.chat_server", "--fault", fault]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().partition(" ")[0] + "/v1"
        finally:
            process.kill()


@contextmanager
def leader(home: Path, url: str) -> Iterator[None]:
    """Lead meanwhile, in a process of its own."""
    environ = os.environ | {
        "HIVEMIND_HOME": str(home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "HIVEMIND_LLM_PROVIDER": "openai" if url else "none",
        "HIVEMIND_LLM_MODEL": "m",
        "HIVEMIND_LLM_BASE_URL": url,
        "HIVEMIND_LLM_CALLS_PER_DAY": "1000000",
    }
    command = [sys.executable, "-m", "hivemind_memory.cli", "watch"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environ, stdout=quiet, stderr=quiet) as process:
        try:
            time.sleep(2)
            yield
        finally:
            process.kill()


def text_of(number: int) -> str:
    """Return the text of a memory that is like others."""
    topic = TOPICS[number % len(TOPICS)]
    return f"The {topic} of service {number} runs on host {number % 17} at night."


def fill(memory: Memory, count: int) -> None:
    """Save memories before a leader runs."""
    for number in range(count):
        key = f"old-{number}"
        memory.save(NewMemory(key=key, content=text_of(number), type="fact"))


def measure(
    memories: dict[str, Memory], rounds: int, rng: random.Random
) -> dict[str, tuple[list[float], list[float]]]:
    """Return the milliseconds of saves and searches of each home, round by round."""
    took: dict[str, tuple[list[float], list[float]]] = {
        name: ([], []) for name in memories
    }
    for number in range(rounds):
        for name in rng.sample([*memories], len(memories)):
            memory, (saves, searches) = memories[name], took[name]
            new = NewMemory(key=f"k-{number}", content=text_of(number), type="fact")
            before = time.perf_counter()
            memory.save(new)
            between = time.perf_counter()
            ask(memory, f"which host runs the {TOPICS[number % len(TOPICS)]}")
            after = time.perf_counter()
            saves.append(1000 * (between - before))
            searches.append(1000 * (after - between))
        time.sleep(0.02)  # so that leaders have something to do meanwhile
    return took


def ratio(values: list[float], base: list[float], rng: random.Random) -> str:
    """Return the ratio of two medians with its interval of 95 %, over paired rounds."""
    found = statistics.median(values) / statistics.median(base)
    pairs = list(zip(values, base, strict=True))
    drawn = []
    for _ in range(400):
        some = rng.choices(pairs, k=len(pairs))
        drawn.append(
            statistics.median(one for one, _ in some)
            / statistics.median(other for _, other in some)
        )
    drawn.sort()
    low, high = drawn[10], drawn[-11]
    return (
        f"{100 * (found - 1):+.1f} % [{100 * (low - 1):+.1f}, {100 * (high - 1):+.1f}]"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as base, ExitStack() as stack:
        memories: dict[str, Memory] = {}
        urls = {
            name: "" if fault is None else stack.enter_context(server(fault))
            for name, fault in MODES.items()
        }
        urls[DEAD] = "http://127.0.0.1:9/v1"
        for name, url in urls.items():
            sandbox = Sandbox(Path(base) / name.replace(" ", "-"))
            memories[name] = stack.enter_context(sandbox.memory())
            fill(memories[name], given.notes)
            stack.enter_context(leader(sandbox.home, url))
        measure(memories, 10, rng)  # warm
        took = measure(memories, given.rounds, rng)
    print(f"{given.rounds} rounds, {given.notes} memories at the beginning, medians")
    for name, (saves, searches) in took.items():
        line = (
            f"{name:14} save {statistics.median(saves):7.2f} ms"
            f"  search {statistics.median(searches):6.2f} ms"
        )
        if name != OFF:
            line += f"  save {ratio(saves, took[OFF][0], rng)}"
            line += f"  search {ratio(searches, took[OFF][1], rng)}"
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
