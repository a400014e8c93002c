"""Builds the context of a task: memories, files, recent changes, and given blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import count_text
from hivemind_memory.model.filters import DEFAULT_FILTER, SearchFilter
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction import mask
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    Priority,
    utc_now,
)
from hivemind_memory.working.scoring import BALANCED, RELEVANT
from hivemind_memory.working.task_changes import (
    GitView,
    add_new_files,
    asks_for_changes,
    change_blocks,
    view_of,
)
from hivemind_memory.working.task_files import find_files
from hivemind_memory.working.task_links import linked_blocks, without_overlaps
from hivemind_memory.working.task_meaning import close_in_meaning
from hivemind_memory.working.task_memories import (
    MemorySource,
    find_memories,
    read_memories_of,
    related_memories,
)
from hivemind_memory.working.task_second_look import second_look
from hivemind_memory.working.task_words import MIN_COVERAGE, Coverage, TaskWords
from hivemind_memory.working.working_memory import BuiltContext, WorkingMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.memory import Memory

MAX_TASK_CHARS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is asked for."""

    max_tokens: int
    root: str = ""
    """Folder of the files; empty: none are read."""

    task: str = ""
    blocks_file: str = ""
    """File with blocks that are candidates, too; empty: none."""

    strategy: str = ""
    """Empty: ``relevant`` for a task, else ``balanced``."""

    search_filter: SearchFilter = DEFAULT_FILTER
    """Which memories are looked for, of those that the caller sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """A context, and what should be said of it."""

    built: BuiltContext
    notes: tuple[str, ...]


def build_context(
    memory: Memory,
    request: ContextRequest,
    *,
    environ: Mapping[str, str],
    count_tokens: Callable[[str], int] = estimate_tokens,
    now: datetime | None = None,
) -> TaskContext:
    """Return the context of a task.

    Args:
        memory: As the caller sees it.
        request: What is asked for.
        environ: For git.
        count_tokens: Counts the tokens of a text.
        now: The time; None: that of the system.

    Raises:
        UsageError: The request is wrong: the budget, the folder, a block.
        HivemindError: The file of blocks cannot be read.
    """
    if len(request.task) > MAX_TASK_CHARS:
        raise UsageError(f"The task is longer than {MAX_TASK_CHARS:,} characters.")
    working = open_working_memory(memory, request, count_tokens)
    now = now or utc_now()
    notes: list[str] = []
    if request.blocks_file:
        working.load(request.blocks_file)
        changes = working.opened_changes.items()
        notes += [mask(f"{name}: {what}") for name, what in changes]
    if request.task.strip():
        weigh_messages(working, TaskWords(request.task))
        blocks, found_notes = gather(
            working,
            MemorySource(memory, now, request.search_filter),
            task=request.task,
            environ=environ,
        )
        notes += found_notes
        for block in blocks:
            working.add(block)
    strategy = request.strategy or (RELEVANT if request.task.strip() else BALANCED)
    built = working.build(request.max_tokens, request.task, strategy, now=now)
    return TaskContext(built=built, notes=tuple(notes))


def open_working_memory(
    memory: Memory,
    request: ContextRequest,
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> WorkingMemory:
    """Return an empty working memory that reads what the caller may read.

    Notes are read through the memory alone, so the folder of the notes is refused.

    Raises:
        UsageError: There is no such folder, or it is the memory's own.
    """
    working = WorkingMemory(
        request.root or None,
        request.max_tokens,
        count_tokens=count_tokens,
        read_memory=read_memories_of(memory),
        refused=(memory.places.home, memory.places.notes),
    )
    if working.has_files:
        working.loader.root.check_usable()
    return working


def gather(
    working: WorkingMemory,
    source: MemorySource,
    *,
    task: str,
    environ: Mapping[str, str],
) -> tuple[list[MemoryBlock], list[str]]:
    """Return all blocks that a task may need, and what should be said of them."""
    words = TaskWords(task)
    memories = find_memories(source, task)
    blocks, notes = memories.blocks, memories.notes
    if not working.has_files:
        return blocks, notes
    view = view_of(working.loader.root.path, environ)
    with working.loader.root.walk() as walk:
        # Git knows nothing of folders that are refused, such as notes in a repository.
        view.diffs = [diff for diff in view.diffs if walk.may_enter(diff[0])]
        view.commits = [
            (short, at, subject, seen)
            for short, at, subject, files in view.commits
            if (seen := [path for path in files if walk.may_enter(path)]) or not files
        ]
    # Any other task finds new files by their words.
    whole = add_new_files(view, working.loader) if asks_for_changes(task) else set()
    unshown = len(view.changed) - len(view.diffs)
    if unshown > 0 and asks_for_changes(task):
        notes.append(f"changes of {count_text(unshown, 'file')} are not shown")
    if view.problem:
        notes.append(f"no files were read: {view.problem}")
    if view.is_ignored:
        notes.append("git ignores this folder, so it was read as a folder outside git")
    found = find_files(
        working.loader,
        words,
        task,
        listed=view.files,
        in_use=frozenset(view.changed),
    )
    _note_files_in_use(working, view)
    blocks += [*found.blocks, *change_blocks(view, words, task, source.now)]
    about = [*blocks, *_messages_about(working)]
    blocks += linked_blocks(about, found, working.loader, source)
    blocks += without_overlaps(found.weak, blocks)
    blocks += without_overlaps(
        second_look(
            about,
            found,
            working.loader,
            words,
            lambda text: related_memories(source, text),
        ),
        blocks,
    )
    notes += found.notes
    if memories.has_vectors:
        close, more = close_in_meaning(source.memory, task, found, working.loader)
        blocks += without_overlaps(close, blocks)
        notes += more
    return [block for block in blocks if not _is_of(whole, block)], notes


def _is_of(paths: Collection[str], block: MemoryBlock) -> bool:
    """Return whether a block is of one of some files."""
    return isinstance(block, FileMemoryBlock) and block.location in paths


def weigh_messages(working: WorkingMemory, words: TaskWords) -> None:
    """Let messages that have nothing to do with the task come after what has.

    A message that must be shown whatever the task is can be critical.
    """
    messages = [
        block
        for block in working.blocks
        if isinstance(block, MessageMemoryBlock) and block.rank is Priority.HIGH
    ]
    texts = working.loader.load_many(messages)
    counted = [
        words.count(
            f"{block.subject} {block.preview} {loaded.text}",
            f"{block.subject} {block.from_agent} {block.to_agent}",
        )
        for block, loaded in zip(messages, texts, strict=True)
    ]
    coverage = Coverage(words, counted)
    for block, found in zip(messages, counted, strict=True):
        share = coverage.of(found)
        kind = "a message" if block.read else "an unread message"
        if share >= MIN_COVERAGE:
            why = f"{kind}; words: " + ", ".join(words.found(found))
            rank = Priority.MEDIUM if block.read else Priority.HIGH
            confidence = block.confidence
        else:
            why = f"{kind}; it has few words of the task"
            rank, confidence = Priority.LOW, min(block.confidence, share)
        metadata = {"why": why, **block.metadata}
        working.add(
            replaced(block, priority=rank, confidence=confidence, metadata=metadata)
        )


def _messages_about(working: WorkingMemory) -> list[MemoryBlock]:
    """Return the messages about the task."""
    return [
        block
        for block in working.blocks
        if isinstance(block, MessageMemoryBlock) and block.rank is Priority.HIGH
    ]


def _note_files_in_use(working: WorkingMemory, view: GitView) -> None:
    """Let files that have changed count more."""
    for path in reversed(view.changed):
        working.scorer.add_recent_file(path)
