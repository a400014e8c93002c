"""Working memory: what a program has in view now, and what of it fits into a prompt.

The blocks are references; texts are loaded when they are selected, and the budget
counts what is really sent. Files are read below one root, and memories as their caller
sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.errors import UsageError
from hivemind_memory.model.value import replaced
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    Priority,
    utc_now,
)
from hivemind_memory.working.compression import (
    COMPRESS_OVER_TOKENS,
    MemoryCompressor,
    Summarizer,
)
from hivemind_memory.working.entries import (
    ContextBuilder,
    Entry,
    entry_tokens,
    to_json,
)
from hivemind_memory.working.janitor import Cleanup, clean_up
from hivemind_memory.working.loading import (
    CACHE_TTL_S,
    MEMORY_PREFIX,
    ContentLoader,
    LoadedText,
    ReadMemory,
)
from hivemind_memory.working.scoring import BALANCED, RelevanceScorer, sort_key
from hivemind_memory.working.selection import Selection, check_budget, select_blocks
from hivemind_memory.working.snapshot import (
    CHANGED,
    MISSING,
    Difference,
    Moment,
    difference,
    read_snapshot,
    write_snapshot,
)

DEFAULT_MAX_TOKENS = 100_000
JSON = "json"

_MIN_ENTRY: Entry = {
    "id": "",
    "content": "",
    "confidence": 0,
    "priority": "low",
    "metadata": {"type": "rom", "timestamp": "2026-01-01T00:00:00+00:00"},
}
"""No entry costs less. Without room for it no further block is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltContext:
    """A context, and how it came about."""

    entries: list[Entry]
    selection: Selection

    @property
    def text(self) -> str:
        """The array as it is sent."""
        return to_json(self.entries)


class WorkingMemory:
    """Blocks, and the context that is made of them. Not for several threads at once."""

    def __init__(
        self,
        root: str | None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        cache_ttl: float = CACHE_TTL_S,
        *,
        count_tokens: Callable[[str], int] = estimate_tokens,
        read_memory: ReadMemory | None = None,
        refused: Collection[str] = (),
        summarizer: Summarizer | None = None,
        compress_over_tokens: int = COMPRESS_OVER_TOKENS,
    ) -> None:
        """Hold no block yet.

        Args:
            root: Folder that files are read from; nothing outside it is. None: no file
                is read.
            max_tokens: The budget of a context that is built without one.
            cache_ttl: Seconds that the text of a file is kept.
            count_tokens: Counts the tokens of a text.
            read_memory: Reads what ``hm:`` names, see ``read_memories_of``.
            refused: Folders that are never read.
            summarizer: Shortens long texts; None: the rules of ``compression``.
            compress_over_tokens: Shorter texts stay as they are.

        Raises:
            UsageError: The budget is not a whole number above 0.
        """
        check_budget(max_tokens)
        self.max_tokens = max_tokens
        self.scorer = RelevanceScorer()
        self.opened_changes: dict[str, str] = {}
        """Id -> ``changed`` or ``missing``, of files since the snapshot was written."""

        self._opened_digests: dict[str, str] = {}
        """Id -> the digest that the snapshot has of a file that has changed since."""

        self._count = count_tokens
        self._blocks: dict[str, MemoryBlock] = {}
        self._priced: dict[str, tuple[MemoryBlock, LoadedText, Entry, int]] = {}
        """Id -> block, text, entry and cost of the last context that was built."""

        self.loader = ContentLoader(
            root, cache_ttl, read_memory=read_memory, refused=refused
        )
        """Loads texts, and keeps those of files."""

        self._builder = ContextBuilder(
            self.loader,
            MemoryCompressor(
                summarizer, over_tokens=compress_over_tokens, count_tokens=count_tokens
            ),
        )
        self._least = count_tokens(to_json(_MIN_ENTRY))

    @property
    def has_files(self) -> bool:
        """Whether files are read."""
        return bool(self.loader.root.path)

    @property
    def blocks(self) -> tuple[MemoryBlock, ...]:
        """All blocks, in the order in which they came."""
        return tuple(self._blocks.values())

    def add(self, block: MemoryBlock) -> MemoryBlock:
        """Add a block, replacing any with the same id; return it as stored.

        Its location becomes one below the root.

        Raises:
            UsageError: The location is not below the root.
        """
        kept = self._located(block)
        self.remove(kept.id)
        self._blocks[kept.id] = kept
        return kept

    def remove(self, memory_id: str) -> bool:
        """Remove a block; return whether there was one."""
        self.opened_changes.pop(memory_id, None)
        return self._blocks.pop(memory_id, None) is not None

    def update_confidence(self, memory_id: str, confidence: float) -> bool:
        """Change the confidence of a block; return whether there is one.

        Raises:
            UsageError: It is not a number from 0 to 1.
        """
        known = self._blocks.get(memory_id)
        if known is not None:
            self._blocks[memory_id] = replaced(known, confidence=confidence)
        return known is not None

    def mark_read(self, memory_id: str) -> bool:
        """Note that a message was read; return whether there is such a message.

        One that was of high priority is of medium priority from then on.
        """
        known = self._blocks.get(memory_id)
        if not isinstance(known, MessageMemoryBlock):
            return False
        rank = Priority.MEDIUM if known.rank is Priority.HIGH else known.rank
        self._blocks[memory_id] = replaced(known, read=True, priority=rank)
        return True

    def select(
        self,
        max_tokens: int | None = None,
        current_task: str = "",
        strategy: str = BALANCED,
        *,
        now: datetime | None = None,
    ) -> Selection:
        """Return which blocks fit.

        Args:
            max_tokens: The budget; None: that of this memory.
            current_task: Text of the task; its words raise knowledge about it.
            strategy: ``balanced``, ``recent`` or ``relevant``.
            now: The time; None: that of the system.

        Raises:
            UsageError: There is no such strategy, or the budget is not above 0.
        """
        return self.build(max_tokens, current_task, strategy, now=now).selection

    def build(
        self,
        max_tokens: int | None = None,
        current_task: str = "",
        strategy: str = BALANCED,
        *,
        now: datetime | None = None,
    ) -> BuiltContext:
        """Return the context with what was left out; see ``select``."""
        entries: dict[str, Entry] = {}
        former, self._priced = self._priced, {}
        self.scorer.set_task(current_task)
        order = sort_key(self.scorer, strategy, now or utc_now())
        with self.loader.batch() as load:

            def cost(block: MemoryBlock) -> int:
                loaded = load(block)
                known = former.get(block.id)
                if known is None or known[:2] != (block, loaded):
                    entry = self._builder.entry(block, loaded)
                    known = block, loaded, entry, entry_tokens(entry, self._count)
                self._priced[block.id] = known
                entries[block.id] = known[2]
                return known[3]

            selection = select_blocks(
                self._blocks.values(),
                max_tokens=self.max_tokens if max_tokens is None else max_tokens,
                cost=cost,
                order=order,
                least_tokens=self._least,
            )
        chosen = [entries[picked.block.id] for picked in selection.selected]
        return BuiltContext(entries=chosen, selection=selection)

    def build_context(
        self,
        max_tokens: int | None = None,
        current_task: str = "",
        selection_strategy: str = BALANCED,
        format_type: str = JSON,
    ) -> str:
        """Return the context as a JSON array.

        Raises:
            UsageError: There is no such strategy or format, or no such budget.
        """
        if format_type != JSON:
            raise UsageError(f"format_type must be {JSON!r}, not {format_type!r}.")
        return self.build(max_tokens, current_task, selection_strategy).text

    def cleanup(self, now: datetime | None = None) -> Cleanup:
        """Remove blocks that no longer count; return what was kept and removed."""
        done = clean_up(self._blocks.values(), now or utc_now())
        for removal in done.removed:
            self.remove(removal.block.id)
        return done

    def moment(self) -> Moment:
        """Return the blocks with the digests of their files, as they are now."""
        digests = {
            block.id: self.loader.digest_of(path)
            for block in self._blocks.values()
            if (path := _path_of(block))
        }
        return Moment(blocks=dict(self._blocks), digests=digests)

    def diff(self, before: Moment) -> Difference:
        """Return what has changed since an earlier moment."""
        return difference(before, self.moment())

    def save(self, path: str) -> None:
        """Write everything to one file.

        A file that had changed when the blocks were loaded counts as changed until its
        block is added again.

        Raises:
            NotSavedError: The system refused; what was there is as it was.
        """
        now = self.moment()
        before = {id_: self._opened_digests[id_] for id_ in self.opened_changes}
        saved = replaced(now, digests={**now.digests, **before})
        write_snapshot(path, saved, self.scorer.recent_files)

    def load(self, path: str) -> None:
        """Add the blocks of a file, and note which of their files have changed since.

        Raises:
            UsageError: It holds no blocks, or one lies outside the root.
            HivemindError: It cannot be read.
        """
        saved, recent = read_snapshot(path)
        located = [(self._located(block), old) for old, block in saved.blocks.items()]
        for block, old in located:
            self.remove(block.id)
            self._blocks[block.id] = block
            if old in saved.digests and (location := _path_of(block)):
                now = self.loader.digest_of(location)
                if now != saved.digests[old]:
                    self.opened_changes[block.id] = CHANGED if now else MISSING
                    self._opened_digests[block.id] = saved.digests[old]
        for location in recent:
            self.scorer.add_recent_file(location)

    @classmethod
    def open(
        cls, path: str, root: str, max_tokens: int = DEFAULT_MAX_TOKENS
    ) -> WorkingMemory:
        """Return a working memory as a file holds it; see ``load``."""
        memory = cls(root, max_tokens)
        memory.load(path)
        return memory

    def _located(self, block: MemoryBlock) -> MemoryBlock:
        """Return a block with its path below the root, and the id that goes with it."""
        location = _path_of(block)
        if not location:
            return block
        path = self.loader.root.relative(location)
        if path == location:
            return block
        new_id = "" if block.id == block.usual_id() else block.id
        if isinstance(block, MessageMemoryBlock):
            return replaced(block, full_path=path, id=new_id)
        assert isinstance(block, FileMemoryBlock | KnowledgeMemoryBlock)  # noqa: S101
        return replaced(block, location=path, id=new_id)


def _path_of(block: MemoryBlock) -> str:
    """Return the path of the file that a block refers to; empty: to none."""
    if isinstance(block, FileMemoryBlock):
        return block.location
    if isinstance(block, KnowledgeMemoryBlock):
        is_memory = block.location.startswith(MEMORY_PREFIX)
        return "" if is_memory else block.location
    return block.full_path if isinstance(block, MessageMemoryBlock) else ""
