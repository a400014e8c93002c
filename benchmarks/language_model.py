"""Is anything slower because of a language model that is slow, dead or lying?

    python -m benchmarks.language_model --rounds 2000

Five homes with the same notes, each with a leader of its own: without a model, and with
one that replies well, never, wrongly, or is not there. In each round a memory is saved
in every home, then each is searched, then, every 20 rounds, injected into a worktree:
the same call in all homes one right after the other and in another order each time, so
that all meet the same load.

For each call and home it prints the median of the wall clock and of the processor time
of the caller, and the median of how much longer it took than without a model in the
same round, with an interval of 95 % (by the ranks of the rounds, which assumes nothing
of how times are spread). The wall clock has the work of the leader and of everyone else
on the machine in it; the processor time is the caller's own.

Exits 1 if a call is certainly more than 3 % slower with a model. What a busy machine or
too few rounds leave open is marked, and no failure.
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
from math import ceil, sqrt
from pathlib import Path

from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.opening import open_injector
from tests.support.sandbox import Sandbox, ask

OFF = "no model"
MODES = {OFF: None, "replies": "", "never replies": "slow", "lies": "a-list"}
DEAD = "not there"
OPERATIONS = ("save", "search", "inject")
INJECT_EVERY = 20
"""Rounds: an injection takes as long as many searches."""

LIMIT = 0.03
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
        calls: dict[str, Callable[[Memory, Path], object]] = {
            "save": partial(save, number),
            "search": partial(search, number),
        }
        if number % INJECT_EVERY == 0:
            calls["inject"] = inject
        for operation, call in calls.items():
            for name in rng.sample([*memories], len(memories)):
                wall, used = time.perf_counter(), time.process_time()
                call(*memories[name])
                used, wall = time.process_time() - used, time.perf_counter() - wall
                took[name][operation].append((1000 * wall, 1000 * used))
    return took


def save(number: int, memory: Memory, _: Path) -> None:
    """Save a memory."""
    memory.save(NewMemory(key=f"k-{number}", content=text_of(number), type="fact"))


def search(number: int, memory: Memory, _: Path) -> None:
    """Search as a person does."""
    ask(memory, f"which host runs the {TOPICS[number % len(TOPICS)]}")


def inject(memory: Memory, worktree: Path) -> None:
    """Inject into a worktree."""
    open_injector(memory).inject(str(worktree))


def compare(
    values: Sequence[float], base: Sequence[float]
) -> tuple[float, float, float]:
    """Return by which share a call took longer, and the interval of 95 % of that.

    It is the median over rounds. Its interval is that of the sign test: the ranks that
    are 1.96 standard deviations of a binomial from the middle.
    """
    shares = sorted(one / other - 1 for one, other in zip(values, base, strict=True))
    count = len(shares)
    apart = ceil(0.98 * sqrt(count)) + 1
    low, high = max(0, count // 2 - apart), min(count - 1, count // 2 + apart)
    return statistics.median(shares), shares[low], shares[high]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2000)
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
    print(
        f"{given.rounds} rounds, {given.notes} memories at the beginning, seed"
        f" {given.seed}; medians, and how much longer than without a model"
    )
    return 1 if report(took) else 0


def report(took: dict[str, dict[str, list[tuple[float, float]]]]) -> bool:
    """Print what was measured; return whether a call is slower with a model."""
    is_slower = False
    for operation in OPERATIONS:
        for name, times in took.items():
            line = f"{operation:7} {name:14}"
            for at, what in enumerate(("wall", "processor")):
                own = [each[at] for each in times[operation]]
                line += f" {what} {statistics.median(own):7.2f} ms"
                if name == OFF:
                    continue
                share, low, high = compare(own, [t[at] for t in took[OFF][operation]])
                said = "slower" if low > LIMIT else "open" if high > LIMIT else "same"
                line += f" {share:+6.1%} [{low:+.1%}, {high:+.1%}] {said:6}"
                is_slower |= low > LIMIT
            print(line.rstrip())
    return is_slower


if __name__ == "__main__":
    sys.exit(main())
