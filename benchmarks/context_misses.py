"""Why pieces that matter to a task are missing from its context, by kind.

    python -m benchmarks.context_misses [PROJECT ...]

Within half of what recency alone needs, as ``context_tasks`` measures. A missing piece
is *no candidate*: nothing of its file was found; *another section*: others of its file
were; *no room*: it was a candidate, and others took the budget.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.context_tasks import (
    PROJECTS,
    Piece,
    lay_out,
    needed,
    newest_first,
    read_tasks,
)
from hivemind_memory import environment, open_memory
from hivemind_memory.working import FileMemoryBlock
from hivemind_memory.working.task_context import ContextRequest, build_context
from hivemind_memory.working.task_words import TaskWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.working.working_memory import BuiltContext


def why_missing(piece: Piece, built: BuiltContext, root: Path) -> str:
    """Return the kind of a piece that has not arrived."""
    blocks = [left.block for left in built.selection.left_out]
    if ":" in piece.source:
        name = piece.source.partition(":")[2]
        is_left = any(f"{name}.md" in block.id or name in block.id for block in blocks)
        return "no room" if is_left else "no candidate"
    of_file = [
        block
        for block in (*built.selection.blocks, *blocks)
        if isinstance(block, FileMemoryBlock) and block.location == piece.source
    ]
    lines = (root / piece.source).read_text(encoding="utf-8").split("\n")
    for block in of_file:
        first, last = block.start_line or 1, block.end_line or len(lines)
        if piece.words in "\n".join(lines[first - 1 : last]):
            return "no room"
    return "another section" if of_file else "no candidate"


def shared_words(task: str, piece: Piece, root: Path, memory_text: str) -> list[str]:
    """Return the words of a task that a missing piece or its file has."""
    is_file = ":" not in piece.source
    text = (root / piece.source).read_text() if is_file else memory_text
    words = TaskWords(task)
    return words.found(words.count(text, piece.source))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("projects", nargs="*", default=PROJECTS, metavar="PROJECT")
    kinds: Counter[str] = Counter()
    for project in parser.parse_args().projects:
        with tempfile.TemporaryDirectory() as folder:
            root, home = Path(folder) / project, Path(folder) / "home"
            os.environ["HIVEMIND_HOME"] = str(home)
            os.environ["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
            now = datetime.now(UTC)
            blocks_file = lay_out(project, root, home, now)
            with open_memory() as memory:
                dated = newest_first(memory, project, root, now)
                for task in read_tasks(project):
                    budget = max(1, needed(dated, task.pieces) // 2)
                    request = ContextRequest(
                        max_tokens=budget,
                        root=str(root),
                        task=task.text,
                        blocks_file=blocks_file,
                    )
                    built = build_context(
                        memory, request, environ=environment.git_environ(), now=now
                    ).built
                    used = 100 * built.selection.used_tokens // budget
                    for piece in task.pieces:
                        if piece.is_in(built.entries):
                            continue
                        kind = why_missing(piece, built, root)
                        path = home / "memory" / f"{piece.source[7:]}.md"
                        text = path.read_text() if path.exists() else ""
                        shared = shared_words(task.text, piece, root, text)
                        word = "a word" if shared else "no word"
                        full = "full" if used >= 90 else "not full"
                        kinds[f"{kind}, {word} shared, budget {full}"] += 1
                        print(
                            f"{kind}: {piece.source} | {task.text} | {shared} "
                            f"| {used} % of {budget:,}"
                        )
    for kind, count in kinds.most_common():
        print(f"{count:>4} {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
