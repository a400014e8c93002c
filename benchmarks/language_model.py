"""Is anything slower because of a language model that is slow, dead or lying?

    python -m benchmarks.language_model --rounds 300

Five homes with the same notes, each with a leader of its own: without a model, and with
one that replies well, never, wrongly, or is not there. In each round a memory is saved,
searched, and injected into a worktree in every home, in another order, so that all meet
the same load. Prints the medians of the wall clock and of the processor time of the
caller, and how they differ from those without a model, over paired rounds with an
interval of 95 %. Exits 1 if the processor time is certainly more than 3 % above it.

The wall clock has the work of the leader and of everyone else on the machine in it; the
processor time is the caller's own.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.opening import open_injector
from tests.support.sandbox import Sandbox, ask

OFF = "no model"
MODES = {OFF: None, "replies": "", "never replies": "slow", "lies": "a-list"}
DEAD = "not there"
OPERATIONS = ("save", "search", "inject")
INJECT_EVERY = 4
"""Rounds: an injection takes as long as many searches."""

LIMIT = 0.03
DRAWS = 400
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


def options_of(url: str) -> dict[str, object]:
    """Return the options of a home, for its callers as for its leader."""
    if not url:
        return {}
    model = {"llm_provider": "openai", "llm_model": "m", "llm_base_url": url}
    return {**model, "llm_calls_per_day": 1_000_000}


def make_repository(folder: Path) -> Path:
    """Make a repository with a commit."""
    folder.mkdir()
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    (folder / "README.md").write_text("# Shop\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "first")):
        subprocess.run(("git", "-C", str(folder), *words), check=True)
    return folder


def measure(
    memories: dict[str, tuple[Memory, Path]], rounds: int, rng: random.Random
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return home -> operation -> wall and processor time of each round, in ms."""
    took: dict[str, dict[str, list[tuple[float, float]]]] = {
        name: {operation: [] for operation in OPERATIONS} for name in memories
    }
    for number in range(rounds):
        for name in rng.sample([*memories], len(memories)):
            memory, worktree = memories[name]
            new = NewMemory(key=f"k-{number}", content=text_of(number), type="fact")
            query = f"which host runs the {TOPICS[number % len(TOPICS)]}"
            calls: dict[str, Callable[[], object]] = {
                "save": partial(memory.save, new),
                "search": partial(ask, memory, query),
            }
            if number % INJECT_EVERY == 0:
                calls["inject"] = partial(open_injector(memory).inject, str(worktree))
            for operation, call in calls.items():
                wall, used = time.perf_counter(), time.process_time()
                call()
                used, wall = time.process_time() - used, time.perf_counter() - wall
                took[name][operation].append((1000 * wall, 1000 * used))
        time.sleep(0.02)  # so that leaders have something to do meanwhile
    return took


def compare(
    values: Sequence[float], base: Sequence[float], rng: random.Random
) -> tuple[float, float, float]:
    """Return by which share one median is above another, and its interval of 95 %."""
    found = statistics.median(values) / statistics.median(base)
    pairs = list(zip(values, base, strict=True))
    drawn = []
    for _ in range(DRAWS):
        some = rng.choices(pairs, k=len(pairs))
        drawn.append(
            statistics.median(one for one, _ in some)
            / statistics.median(other for _, other in some)
        )
    drawn.sort()
    return found - 1, drawn[DRAWS // 40] - 1, drawn[-DRAWS // 40 - 1] - 1


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as base, ExitStack() as stack:
        memories: dict[str, tuple[Memory, Path]] = {}
        urls = {
            name: "" if fault is None else stack.enter_context(server(fault))
            for name, fault in MODES.items()
        }
        urls[DEAD] = "http://127.0.0.1:9/v1"
        for name, url in urls.items():
            sandbox = Sandbox(Path(base) / name.replace(" ", "-"))
            sandbox.flags |= options_of(url)
            memory = stack.enter_context(sandbox.memory())
            worktree = make_repository(Path(base) / f"shop-{len(memories)}")
            memories[name] = memory, worktree
            fill(memory, given.notes)
            stack.enter_context(leader(sandbox.home, url))
        measure(memories, 10, rng)  # warm
        took = measure(memories, given.rounds, rng)
    print(f"{given.rounds} rounds, {given.notes} memories at the beginning, medians")
    is_slower = False
    for operation in OPERATIONS:
        for name, times in took.items():
            line = f"{operation:7} {name:14}"
            for at, what in enumerate(("wall", "processor")):
                own = [each[at] for each in times[operation]]
                line += f" {what} {statistics.median(own):7.2f} ms"
                if name == OFF:
                    continue
                base_times = [each[at] for each in took[OFF][operation]]
                share, low, high = compare(own, base_times, rng)
                line += f" {share:+.1%} [{low:+.1%}, {high:+.1%}]"
                is_slower |= what == "processor" and low > LIMIT
            print(line)
    return 1 if is_slower else 0


if __name__ == "__main__":
    sys.exit(main())
