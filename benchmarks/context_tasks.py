"""How much of what a task needs arrives within a budget, compared with recency alone.

    python -m benchmarks.context_tasks [--missed]

The project in ``fixtures/working/lendery.txt`` is made up: files and memories, each
with its age in days. ``tasks.tsv`` has tasks with the pieces that matter, chosen before
anything was measured. Recency alone takes the same pieces (the same sections of files,
the same memories), the newest first. For each task, the budget that it needs until the
last piece has arrived is halved and given to the context builder.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hivemind_memory import environment, open_memory
from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.working import FileMemoryBlock, KnowledgeMemoryBlock, WorkingMemory
from hivemind_memory.working.code_outline import sections_of
from hivemind_memory.working.entries import entry_tokens
from hivemind_memory.working.task_context import ContextRequest, build_context
from hivemind_memory.working.task_files import merged_sections
from hivemind_memory.working.task_memories import read_memories_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hivemind_memory import Memory
    from hivemind_memory.working import MemoryBlock
    from hivemind_memory.working.entries import Entry

DATA = Path(__file__).parents[1] / "fixtures" / "working"
BUDGETS = (1_000, 2_000, 4_000)
_AT = "2026-01-01T12:00:00+00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something that matters to a task."""

    source: str
    """A path, or ``memory:`` and a key."""

    words: str = ""
    """What its text must hold; empty for a memory."""

    def is_in(self, entries: Sequence[Entry]) -> bool:
        """Return whether it has arrived."""
        if self.source.startswith("memory:"):
            key = self.source.removeprefix("memory:")
            return any(f"hm:{key}.md" in one["id"] for one in entries)
        return any(
            entry["metadata"].get("source") == self.source
            and self.words in entry["content"]
            for entry in entries
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task and the pieces that matter."""

    text: str
    pieces: tuple[Piece, ...]


def read_tasks() -> list[Task]:
    """Return the tasks of the fixture."""
    tasks = []
    for line in (DATA / "tasks.tsv").read_text(encoding="utf-8").splitlines():
        text, _, rest = line.partition("\t")
        if text.startswith("#"):
            continue
        parts, pieces = rest.split("|"), []
        while parts:
            source = parts.pop(0)
            words = "" if source.startswith("memory:") else parts.pop(0)
            pieces.append(Piece(source=source, words=words.replace("\\", "")))
        tasks.append(Task(text=text, pieces=tuple(pieces)))
    return tasks


def parts_of_fixture() -> Iterator[tuple[str, int, str, str]]:
    """Yield name, age in days, type of a memory, and text of each part."""
    text = (DATA / "lendery.txt").read_text(encoding="utf-8")
    for part in text.split("\n=== ")[0:]:
        head, _, body = part.removeprefix("=== ").partition("\n")
        name, age, *kind = head.split(" | ")
        yield name, int(age), "".join(kind), f"{body.rstrip()}\n"


def lay_out(root: Path, home: Path, now: datetime) -> None:
    """Write the project and its memories, dated, the project as a repository."""
    notes = home / "memory"
    notes.mkdir(parents=True)
    git(root.parent, "init", "-q", str(root))
    for name, age, kind, text in sorted(parts_of_fixture(), key=lambda one: -one[1]):
        at = now - timedelta(days=age)
        if name.startswith("memory:"):
            key = name.removeprefix("memory:")
            head = f"---\ntype: {kind}\nkey: {key}\ncreated: {at.isoformat()}\n---\n"
            (notes / f"{key}.md").write_text(head + text, encoding="utf-8")
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (at.timestamp(), at.timestamp()))
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"Change {name}", at=at)


def git(folder: Path, *words: str, at: datetime | None = None) -> None:
    """Run git as a made-up person at a time."""
    person = {"NAME": "ann", "EMAIL": "ann@example.org", "DATE": (at or _AT)}
    environ = dict(environment.git_environ())
    for role in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{role}_{key}": str(value) for key, value in person.items()}
    subprocess.run(["git", *words], cwd=folder, env=environ, check=True)


def newest_first(memory: Memory, root: Path, now: datetime) -> list[tuple[Entry, int]]:
    """Return all sections and memories with their costs, the newest first."""
    working = WorkingMemory(str(root), read_memory=read_memories_of(memory))
    for name, age, _, text in parts_of_fixture():
        at = now - timedelta(days=age)
        for block in _blocks(name, text, at):
            working.add(block)
    built = working.build(10**9, strategy="recent", now=now)
    return [(entry, entry_tokens(entry, estimate_tokens)) for entry in built.entries]


def _blocks(name: str, text: str, at: datetime) -> Iterator[MemoryBlock]:
    """Yield the pieces that a file or a memory is cut into."""
    if name.startswith("memory:"):
        place = f"hm:{name.removeprefix('memory:')}.md"
        yield KnowledgeMemoryBlock(topic="", location=place, timestamp=at)
        return
    for section in merged_sections(sections_of(text, Path(name).suffix)):
        first, last = section.start_line, section.end_line
        yield FileMemoryBlock(
            location=name, start_line=first, end_line=last, timestamp=at
        )


def share_in(pieces: Sequence[Piece], entries: Sequence[Entry]) -> float:
    """Return the share of the pieces that have arrived."""
    return sum(piece.is_in(entries) for piece in pieces) / len(pieces)


def within(dated: Sequence[tuple[Entry, int]], budget: int) -> list[Entry]:
    """Return what recency alone takes within a budget."""
    taken, used = [], 0
    for entry, tokens in dated:
        if used + tokens <= budget:
            taken.append(entry)
            used += tokens
    return taken


def needed(dated: Sequence[tuple[Entry, int]], pieces: Sequence[Piece]) -> int:
    """Return the budget that recency alone needs for all pieces."""
    used, missing = 0, list(pieces)
    for entry, tokens in dated:
        used += tokens
        missing = [piece for piece in missing if not piece.is_in([entry])]
        if not missing:
            return used
    raise LookupError(f"no piece has {missing}")


@dataclass(slots=True)
class Figures:
    """What was measured for each task."""

    half: list[float]
    """Share of what matters within half of what recency needs."""

    recent_half: list[float]
    needed: list[int]
    at: dict[int, list[tuple[float, float]]]
    """Budget -> shares of the builder and of recency."""

    missed: list[tuple[str, list[str], int]]


def measure(memory: Memory, root: Path, now: datetime) -> Figures:
    """Build the context of every task."""
    dated = newest_first(memory, root, now)
    found = Figures([], [], [], {budget: [] for budget in BUDGETS}, [])

    def entries(text: str, budget: int) -> list[Entry]:
        request = ContextRequest(max_tokens=budget, root=str(root), task=text)
        environ = environment.git_environ()
        return build_context(memory, request, environ=environ, now=now).built.entries

    for task in read_tasks():
        most = needed(dated, task.pieces)
        got = entries(task.text, max(1, most // 2))
        found.needed.append(most)
        found.half.append(share_in(task.pieces, got))
        found.recent_half.append(share_in(task.pieces, within(dated, most // 2)))
        missing = [piece.source for piece in task.pieces if not piece.is_in(got)]
        if missing:
            found.missed.append((task.text, missing, most // 2))
        for budget in BUDGETS:
            shares = (
                share_in(task.pieces, entries(task.text, budget)),
                share_in(task.pieces, within(dated, budget)),
            )
            found.at[budget].append(shares)
    return found


def figures() -> Figures:
    """Lay the fixture out in a throw-away home, and measure."""
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "lendery", Path(folder) / "home"
        os.environ["HIVEMIND_HOME"] = str(home)
        os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
        now = datetime.now(UTC)
        lay_out(root, home, now)
        with open_memory() as memory:
            return measure(memory, root, now)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missed", action="store_true", help="list what is missing")
    arguments = parser.parse_args()
    started = time.perf_counter()
    found = figures()
    mean = statistics.fmean
    print(f"{len(found.half)} tasks, {time.perf_counter() - started:.0f} s")
    print(f"recency alone needs {statistics.median(found.needed):,.0f} tokens (median)")
    print("share of what matters     builder  recency")
    half = f"{mean(found.half):.3f}    {mean(found.recent_half):.3f}"
    print(f"  within half of that      {half}")
    for budget, shares in found.at.items():
        ours, theirs = (mean(part) for part in zip(*shares, strict=True))
        print(f"  within {budget:>5,} tokens      {ours:.3f}    {theirs:.3f}")
    for text, missing, budget in found.missed if arguments.missed else ():
        print(f"{text} ({budget:,}): {', '.join(missing)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
