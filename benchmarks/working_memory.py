"""What working memory costs: selecting 10,000 blocks, loading 1,000 files of 20 kB.

    python -m benchmarks.working_memory [--rounds 5]

Times are the best of some rounds in one process; loading is compared with reading the
same files once with ``open`` and ``read``.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hivemind_memory.working import (
    ContentLoader,
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    Priority,
    TaskMemoryBlock,
    WorkingMemory,
)
from hivemind_memory.working.scoring import RelevanceScorer, sort_key
from hivemind_memory.working.selection import select_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BLOCKS = 10_000
FILES = 1_000
FILE_BYTES = 20_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def some_blocks(rng: random.Random) -> list[MemoryBlock]:
    """Return blocks of several kinds and all priorities but critical."""
    made: list[MemoryBlock] = []
    for number in range(BLOCKS):
        common = {
            "confidence": rng.random(),
            "timestamp": NOW - timedelta(seconds=rng.randrange(90_000)),
            "priority": rng.choice([Priority.HIGH, Priority.MEDIUM, Priority.LOW]),
        }
        kind = number % 4
        if kind == 0:
            made.append(FileMemoryBlock(location=f"src/{number}.py", **common))
        elif kind == 1:
            topic = f"rounding of sum {number % 50}"
            block = KnowledgeMemoryBlock(topic=topic, location=f"hm:{number}", **common)
            made.append(block)
        elif kind == 2:
            made.append(TaskMemoryBlock(task_id=str(number), description="d", **common))
        else:
            detail = f"ran {number}"
            block = HistoryMemoryBlock(action_type="a", action_detail=detail, **common)
            made.append(block)
    return made


def best_s(work: Callable[[], object], rounds: int) -> float:
    """Return the shortest time that some work took, in seconds."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def selecting(rounds: int) -> None:
    """Print what selecting costs."""
    blocks = some_blocks(random.Random(7))
    costs = {block.id: 20 + hash(block.id) % 200 for block in blocks}

    def select() -> None:
        order = sort_key(RelevanceScorer("rounding of sums"), "balanced", NOW)
        select_blocks(
            blocks,
            max_tokens=100_000,
            cost=lambda block: costs[block.id],
            order=order,
            least_tokens=20,
        )

    print(f"{1000 * best_s(select, rounds):8.1f} ms  {BLOCKS:,} blocks, costs known")
    memory = WorkingMemory("/", max_tokens=8_000, read_memory=lambda name: name)
    for block in blocks:
        if not isinstance(block, FileMemoryBlock):
            memory.add(block)
    took = best_s(lambda: memory.build(now=NOW), rounds)
    count = len(memory.blocks)
    what = "entries made and counted, 8,000 tokens"
    print(f"{1000 * took:8.1f} ms  {count:,} blocks, {what}")
    each = best_s(lambda: FileMemoryBlock(location="a.py", timestamp=NOW), 50)
    print(f"{1e6 * each:8.1f} us  to make a block; nothing is pooled")


def loading(rounds: int) -> None:
    """Print what loading costs, cold and warm."""
    rng = random.Random(7)
    words = [f"word{number}" for number in range(500)]
    with tempfile.TemporaryDirectory() as folder:
        root, blocks = Path(folder), []
        for number in range(FILES):
            path = root / f"{number % 20}" / f"{number}.py"
            path.parent.mkdir(exist_ok=True)
            text = ""
            while len(text) < FILE_BYTES:
                text += f"{rng.choice(words)} = {rng.choice(words)}\n"
            path.write_text(text[:FILE_BYTES])
            blocks.append(FileMemoryBlock(location=f"{number % 20}/{number}.py"))
        paths = [root / block.location for block in blocks]
        time.sleep(2.1)  # files that changed just now are read again in any case
        plain = best_s(lambda: [path.read_bytes() for path in paths], rounds)
        cold = best_s(lambda: ContentLoader(folder).load_many(blocks), rounds)
        pooled = best_s(lambda: _pooled(folder, blocks), rounds)
        loader = ContentLoader(folder)
        loader.load_many(blocks)
        warm = best_s(lambda: loader.load_many(blocks), rounds)
    print(f"{1000 * plain:8.1f} ms  {FILES:,} files of 20 kB read once")
    for name, took in (("cold", cold), ("cold, four threads", pooled), ("warm", warm)):
        print(f"{1000 * took:8.1f} ms  loaded {name}: {took / plain:.2f} of that")


def _pooled(folder: str, blocks: Sequence[FileMemoryBlock]) -> None:
    """Load in four threads."""
    loader = ContentLoader(folder)
    parts = [blocks[start::4] for start in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(loader.load_many, parts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    selecting(rounds)
    loading(rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
