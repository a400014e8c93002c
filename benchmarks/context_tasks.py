"""How much of what a task needs arrives within a budget, compared with recency alone.

    python -m benchmarks.context_tasks [--missed] [--model FOLDER] [PROJECT ...]

The projects in ``fixtures/working`` are made up: files, memories, messages and changes
that are not committed, each with its age in days. Beside each is a table of tasks with
the pieces that matter, chosen before anything was measured. Recency alone takes the
same pieces (the same sections of files, the same memories), the newest first. For each
task, the budget that it needs until the last piece has arrived is halved and given to
the context builder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hivemind_memory import environment, open_memory
from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.working import (
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MessageMemoryBlock,
    Priority,
    WorkingMemory,
)
from hivemind_memory.working.block_json import block_to_json
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
PROJECTS = (
    *("lendery", "ferrybell"),
    *("lockerly", "gridwatt", "clinote"),
    *("archivum", "reefcast"),
    *("ovenbird", "hutledger"),
)
BUDGETS = (1_000, 2_000, 4_000)
MEMORY, MESSAGE, CHANGE = "memory:", "message:", "change:"
_AT = "2026-01-01T12:00:00+00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something that matters to a task."""

    source: str
    """A path, or what begins with ``memory:``, ``message:`` or ``change:``."""

    words: str = ""
    """What its text must hold; empty for all but files."""

    def is_in(self, entries: Sequence[Entry]) -> bool:
        """Return whether it has arrived."""
        kind, colon, name = self.source.partition(":")
        if not colon:
            return any(
                entry["metadata"].get("source") == self.source
                and self.words in entry["content"]
                for entry in entries
            )
        wanted = {
            MEMORY: f"hm:{name}.md",
            MESSAGE: self.source,
            CHANGE: f"history:uncommitted:{name}",
        }[kind + colon]
        return any(
            entry["id"] == wanted or (kind == "memory" and wanted in entry["id"])
            for entry in entries
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task and the pieces that matter."""

    text: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file, memory, message or uncommitted change of a project."""

    name: str
    age_days: int
    about: str
    """Type of a memory, subject of a file's commit, sender and subject of a message."""

    text: str


def read_tasks(project: str) -> list[Task]:
    """Return the tasks of a project."""
    tasks = []
    for line in (DATA / f"{project}.tsv").read_text(encoding="utf-8").splitlines():
        text, _, rest = line.partition("\t")
        if text.startswith("#"):
            continue
        parts, pieces = rest.split("|"), []
        while parts:
            source = parts.pop(0)
            words = "" if ":" in source else parts.pop(0)
            pieces.append(Piece(source=source, words=words.replace("\\", "")))
        tasks.append(Task(text=text, pieces=tuple(pieces)))
    return tasks


def read_parts(project: str) -> list[Part]:
    """Return the parts of a project."""
    text = (DATA / f"{project}.txt").read_text(encoding="utf-8")
    found = []
    for part in text.split("\n=== "):
        head, _, body = part.removeprefix("=== ").partition("\n")
        name, age, *about = head.split(" | ")
        text = f"{body.rstrip()}\n"
        found.append(
            Part(name=name, age_days=int(age), about="".join(about), text=text)
        )
    return found


def lay_out(project: str, root: Path, home: Path, now: datetime) -> str:
    """Write the project as a repository and its memories, dated.

    Returns:
        Path of the file with the messages; empty: there are none.
    """
    notes = home / "memory"
    notes.mkdir(parents=True)
    git(root.parent, "init", "-q", str(root))
    messages = []
    for part in sorted(read_parts(project), key=lambda part: -part.age_days):
        at = now - timedelta(days=part.age_days)
        if part.name.startswith(MEMORY):
            key = part.name.removeprefix(MEMORY)
            dated = f"key: {key}\ncreated: {at.isoformat()}"
            head = f"---\ntype: {part.about}\n{dated}\n---\n"
            (notes / f"{key}.md").write_text(head + part.text, encoding="utf-8")
        elif part.name.startswith(MESSAGE):
            messages.append(block_to_json(message_block(part, at)))
        elif part.name.startswith(CHANGE):
            path = root / part.name.removeprefix(CHANGE)
            path.write_text(changed(part, path.read_text()), encoding="utf-8")
        else:
            path = root / part.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(part.text, encoding="utf-8")
            os.utime(path, (at.timestamp(), at.timestamp()))
            git(root, "add", "-A")
            subject = part.about or f"Change {part.name}"
            git(root, "commit", "-q", "-m", subject, at=at)
    if not messages:
        return ""
    blocks_file = root.parent / f"{project}.json"
    blocks_file.write_text(json.dumps(messages), encoding="utf-8")
    return str(blocks_file)


def message_block(part: Part, at: datetime) -> MessageMemoryBlock:
    """Return a message as a program would add it, with its text as the preview."""
    people, _, subject = part.about.partition(": ")
    sender, _, receiver = people.partition(" > ")
    return MessageMemoryBlock(
        id=part.name,
        from_agent=sender,
        to_agent=receiver,
        subject=subject,
        preview=part.text,
        timestamp=at,
    )


def changed(change: Part, text: str) -> str:
    """Return the text of a file after a change."""
    old, new = change.text.rstrip("\n").split("\n----\n")
    if old not in text:
        raise LookupError(f"{change.name}: {old!r} is not in the file")
    return text.replace(old, new)


def git(folder: Path, *words: str, at: datetime | None = None) -> None:
    """Run git as a made-up person at a time."""
    person = {"NAME": "ann", "EMAIL": "ann@example.org", "DATE": (at or _AT)}
    environ = dict(environment.git_environ())
    for role in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{role}_{key}": str(value) for key, value in person.items()}
    subprocess.run(["git", *words], cwd=folder, env=environ, check=True)


def newest_first(
    memory: Memory, project: str, root: Path, now: datetime
) -> list[tuple[Entry, int]]:
    """Return all sections, memories and so on with their costs, the newest first."""
    working = WorkingMemory(str(root), read_memory=read_memories_of(memory))
    for part in read_parts(project):
        for block in _blocks(part, root, now - timedelta(days=part.age_days)):
            working.add(block)
    built = working.build(10**9, strategy="recent", now=now)
    return [(entry, entry_tokens(entry, estimate_tokens)) for entry in built.entries]


def _blocks(part: Part, root: Path, at: datetime) -> Iterator[MemoryBlock]:
    """Yield the pieces that a part is cut into."""
    if part.name.startswith(MEMORY):
        place = f"hm:{part.name.removeprefix(MEMORY)}.md"
        yield KnowledgeMemoryBlock(topic="", location=place, timestamp=at)
    elif part.name.startswith(MESSAGE):
        yield replace(message_block(part, at), priority=Priority.MEDIUM)
    elif part.name.startswith(CHANGE):
        path = part.name.removeprefix(CHANGE)
        yield HistoryMemoryBlock(
            id=f"history:uncommitted:{path}",
            action_type="uncommitted change",
            action_detail=path,
            result=part.text,
            timestamp=at,
        )
    else:
        text = (root / part.name).read_text(encoding="utf-8")
        for section in merged_sections(sections_of(text, Path(part.name).suffix)):
            first, last = section.start_line, section.end_line
            yield FileMemoryBlock(
                location=part.name, start_line=first, end_line=last, timestamp=at
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


def measure(
    memory: Memory, project: str, root: Path, blocks_file: str, now: datetime
) -> Figures:
    """Build the context of every task of a project."""
    dated = newest_first(memory, project, root, now)
    found = Figures([], [], [], {budget: [] for budget in BUDGETS}, [])

    def entries(text: str, budget: int) -> list[Entry]:
        request = ContextRequest(
            max_tokens=budget, root=str(root), task=text, blocks_file=blocks_file
        )
        environ = environment.git_environ()
        return build_context(memory, request, environ=environ, now=now).built.entries

    for task in read_tasks(project):
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


def figures(project: str, model: str = "") -> Figures:
    """Lay a project out in a throw-away home, and measure.

    Args:
        project: Its name.
        model: Folder of a local model that compares by meaning; empty: none does.
    """
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / project, Path(folder) / "home"
        os.environ["HIVEMIND_HOME"] = str(home)
        os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "local" if model else "none"
        if model:
            os.environ["HIVEMIND_LOCAL_MODEL"] = model
        now = datetime.now(UTC)
        blocks_file = lay_out(project, root, home, now)
        with open_memory() as memory:
            memory.sync()
            memory.embed_pending()
            return measure(memory, project, root, blocks_file, now)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missed", action="store_true", help="list what is missing")
    parser.add_argument("--model", default="", help="folder of a local model")
    parser.add_argument("projects", nargs="*", default=PROJECTS, metavar="PROJECT")
    arguments = parser.parse_args()
    all_shares: list[float] = []
    for project in arguments.projects:
        started = time.perf_counter()
        found = figures(project, arguments.model)
        all_shares += found.half
        seconds = time.perf_counter() - started
        print(f"{project}: {len(found.half)} tasks, {seconds:.0f} s")
        report(found, lists_missed=arguments.missed)
    print(f"{len(all_shares)} tasks: {statistics.fmean(all_shares):.3f}")
    return 0


def report(found: Figures, *, lists_missed: bool) -> None:
    """Print what was measured for one project."""
    mean = statistics.fmean
    print(f"recency alone needs {statistics.median(found.needed):,.0f} tokens (median)")
    print("share of what matters     builder  recency")
    half = f"{mean(found.half):.3f}    {mean(found.recent_half):.3f}"
    print(f"  within half of that      {half}")
    for budget, shares in found.at.items():
        ours, theirs = (mean(part) for part in zip(*shares, strict=True))
        print(f"  within {budget:>5,} tokens      {ours:.3f}    {theirs:.3f}")
    for text, missing, budget in found.missed if lists_missed else ():
        print(f"{text} ({budget:,}): {', '.join(missing)}")


if __name__ == "__main__":
    sys.exit(main())
