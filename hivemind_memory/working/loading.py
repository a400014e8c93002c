"""Loads the text of blocks: files by range of lines, memories through the memory.

A file is read again only if its signature has changed; what changed less than two
seconds before it was read is read again in any case, because its times may not tell. A
failure is a text that says so, and never an exception: one missing file must not cost a
program its whole context.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from time import time

from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.files.descriptors import read_at, signature_of
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.section_text import with_blank_sections
from hivemind_memory.markdown.text import decode, split_lines
from hivemind_memory.model.display import count_text
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction import mask
from hivemind_memory.working.blocks import (
    ContextMemoryBlock,
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    StatusMemoryBlock,
    TaskMemoryBlock,
)
from hivemind_memory.working.json_values import json_safe
from hivemind_memory.working.masking import masked_part
from hivemind_memory.working.root_folder import RootFolder, Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.snapshot import FileSignature

MEMORY_PREFIX = "hm:"
"""What begins the location of a memory."""

CACHE_TTL_S = 300.0
CACHE_BYTES = 64 << 20
MAX_FILE_BYTES = 2 << 20
"""Of a larger file the beginning and the end are loaded."""

_ENDS_BYTES = 64 << 10
_SETTLED_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedText:
    """The text of a block."""

    text: str
    digest: str = ""
    """Of all bytes of its file; empty: it is of no file, or only of a part."""

    is_error: bool = False
    """The text says why there is none."""

    note: str = ""
    """What is missing from it, or should be known of it."""

    why: str = ""
    """Why there is none, in an error."""


ReadMemory = Callable[[str], str | LoadedText]
"""Takes key, id or path of a memory and returns its text; raises ``HivemindError``."""


@dataclass(slots=True)
class _CachedFile:
    """A file that was read."""

    signature: FileSignature
    whole: LoadedText
    size: int
    read_s: float
    is_settled: bool
    """It had not changed for a while, so that any change shows in its signature."""


class ContentLoader:
    """Loads the text of blocks below a root. Threads may share one."""

    def __init__(
        self,
        filesystem_root: str | None,
        cache_ttl: float = CACHE_TTL_S,
        *,
        read_memory: ReadMemory | None = None,
        refused: Collection[str] = (),
        now: Callable[[], float] = time,
    ) -> None:
        """Read nothing yet.

        Args:
            filesystem_root: The folder that files are read from; None: none are.
            cache_ttl: Seconds that the text of a file is kept.
            read_memory: Reads what ``hm:`` names; None: that is an error.
            refused: Folders that are never read.
            now: Seconds since the epoch.
        """
        self.root = RootFolder(filesystem_root, refused)
        self._ttl_s = cache_ttl
        self._read_memory = read_memory
        self._now = now
        self._cache: OrderedDict[str, _CachedFile] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()

    def load_content(self, memory: MemoryBlock) -> str:
        """Return the text of a block, or why there is none."""
        return self.load(memory).text

    def load(self, block: MemoryBlock) -> LoadedText:
        """Return the text of a block."""
        return self.load_many((block,))[0]

    def load_many(self, blocks: Iterable[MemoryBlock]) -> list[LoadedText]:
        """Return the texts of some blocks, in their order."""
        with self.batch() as load:
            return [load(block) for block in blocks]

    @contextmanager
    def batch(self) -> Iterator[Callable[[MemoryBlock], LoadedText]]:
        """Lend what loads a block; the folders stay open for the next ones."""
        with self.root.walk() as walk:
            yield lambda block: self._load(walk, block)

    def digest_of(self, location: str) -> str:
        """Return the digest of a file as it is now; empty: it cannot be read."""
        with self.root.walk() as walk:
            return self._file(walk, location).digest

    def _load(self, walk: Walk, block: MemoryBlock) -> LoadedText:
        """Return the text of one block of a batch."""
        if isinstance(block, FileMemoryBlock):
            whole = self._file(walk, block.location)
            return _ranged(whole, block.start_line, block.end_line)
        if isinstance(block, KnowledgeMemoryBlock):
            if block.location.startswith(MEMORY_PREFIX):
                return self._memory(block.location.removeprefix(MEMORY_PREFIX))
            return self._file(walk, block.location)
        if isinstance(block, MessageMemoryBlock) and block.full_path:
            loaded = self._file(walk, block.full_path)
            if loaded.is_error and block.preview:
                return LoadedText(text=block.preview, note="only its beginning is left")
            return loaded
        return LoadedText(text=own_text(block))

    def _memory(self, name: str) -> LoadedText:
        """Return the text of a memory."""
        if self._read_memory is None:
            return _failed("no memory is open here")
        try:
            found = self._read_memory(name)
        except HivemindError as error:
            return _failed(str(error))
        return found if isinstance(found, LoadedText) else LoadedText(text=found)

    def _file(self, walk: Walk, location: str) -> LoadedText:
        """Return all of a file, from the cache if it has not changed."""
        try:
            path = self.root.relative(location)
            status = walk.status(path)
            signature = signature_of(status)
            now_s = self._now()
            with self._lock:
                known = self._cache.get(path)
                if (
                    known is not None
                    and known.signature == signature
                    and known.is_settled
                    and now_s - known.read_s < self._ttl_s
                ):
                    self._cache.move_to_end(path)
                    return known.whole
            if stat.S_ISLNK(status.st_mode):
                return _failed("it is a link, and links are not followed")
            fd = walk.open_file(path)
            try:
                # Of the open file: another one may have its name by now.
                signature = signature_of(os.fstat(fd))
                whole = _read(fd, signature[2])
            finally:
                os.close(fd)
        except UsageError as error:
            return _failed(str(error))
        except OSError as error:
            return _failed(cause_of(error)[0])
        if not whole.is_error:
            changed_s = max(signature[0], signature[1]) / 1e9
            is_settled = changed_s < now_s - _SETTLED_S
            self._keep(path, _CachedFile(signature, whole, 0, now_s, is_settled))
        return whole

    def _keep(self, path: str, cached: _CachedFile) -> None:
        """Remember a file; the least recently used ones make room."""
        cached.size = len(cached.whole.text) + len(path) + 200
        with self._lock:
            former = self._cache.pop(path, None)
            self._cached_bytes += cached.size - (former.size if former else 0)
            self._cache[path] = cached
            while self._cached_bytes > CACHE_BYTES and len(self._cache) > 1:
                self._cached_bytes -= self._cache.popitem(last=False)[1].size


def own_text(block: MemoryBlock) -> str:
    """Return the text that is in a block itself."""
    if isinstance(block, StatusMemoryBlock):
        value = json_safe(block.value)
        text = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
        return f"{block.status_type}: {text}"
    if isinstance(block, TaskMemoryBlock):
        needs = ", ".join(block.dependencies)
        return f"{block.description}\nNeeds: {needs}" if needs else block.description
    if isinstance(block, MessageMemoryBlock):
        return block.preview
    if isinstance(block, HistoryMemoryBlock):
        parts = (block.action_type, block.action_detail, block.result)
        return ": ".join(part for part in parts if part)
    return block.summary if isinstance(block, ContextMemoryBlock) else ""


def _read(fd: int, size: int) -> LoadedText:
    """Return what an open file holds; of a very large one, both ends.

    A section that was injected into it stays out: it may have been made for another
    caller, and the memories are there for their own sake.
    """
    if size > MAX_FILE_BYTES:
        head = read_at(fd, 0, _ENDS_BYTES)
        tail = read_at(fd, size - 2 * _ENDS_BYTES, 2 * _ENDS_BYTES)
        missing = f"… {size - 2 * _ENDS_BYTES:,} bytes …"
        if b"\0" in head:
            return _failed("it is not text")
        text = f"{_shown_end(head)}\n{missing}\n{_shown_end(tail)[-_ENDS_BYTES:]}"
        return LoadedText(text=text, note=f"only the beginning and the end: {missing}")
    data = read_at(fd, 0, MAX_FILE_BYTES + 1)
    if b"\0" in data:
        return _failed("it is not text")
    return LoadedText(
        text=with_blank_sections(decode(data)),
        digest=blake2b(data, digest_size=16).hexdigest(),
    )


def _shown_end(data: bytes) -> str:
    """Return one end of a large file without sections and secrets.

    Of the end more is read than is shown, so that what begins above it is recognized.
    """
    return mask(with_blank_sections(decode(data)))


def _ranged(whole: LoadedText, start: int | None, end: int | None) -> LoadedText:
    """Return some lines of a file: both ends included, the first one is 1.

    Their secrets are masked: a part of one would not be recognized later.
    """
    if whole.is_error or (start is None and end is None):
        return whole
    first = start or 1
    lines = split_lines(whole.text)
    last = len(lines) if end is None else min(end, len(lines))
    chosen = masked_part(lines, first - 1, last) if first <= last else []
    note = whole.note
    if first > len(lines):
        note = f"the file has {count_text(len(lines), 'line')}"
    return replaced(whole, text="\n".join(chosen), note=note)


def _failed(why: str) -> LoadedText:
    """Return the text of what could not be loaded."""
    text = f"[Error loading content: {why}]"
    return LoadedText(text=text, is_error=True, why=why.rstrip("."))
