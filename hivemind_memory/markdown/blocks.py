"""Reads a note in blocks of entries, and parses again only the blocks that changed.

Agents append to a note all day, and each entry would have the whole note read again. An
entry is parsed by itself, so a run of entries that has not changed makes the same
chunks again: those are kept, and only what follows the last equal block is read.

A note has the same blocks, and so the same chunks, whether it is read in parts or as a
whole.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from threading import Lock
from weakref import WeakValueDictionary

from hivemind_memory.files.digests import blake2b_digest
from hivemind_memory.markdown.entry import parse_provenance
from hivemind_memory.markdown.front_matter import FENCE, split_front_matter
from hivemind_memory.markdown.note_parser import block_chunks
from hivemind_memory.markdown.text import decode, split_lines
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.note import Chunk, Note, Provenance
from hivemind_memory.model.value import replaced
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.model.note import Growth
    from hivemind_memory.model.note_path import NotePath

BLOCK_CHARS = 4_000
"""A block ends at the first entry after so many characters. Looking for secrets costs
as much for a line as for this many."""

MAX_KEPT_CHARS = 500_000
"""Of the notes whose blocks are kept, those read longest ago forgotten first. Each
character takes some 15 bytes."""

_COMMENT_LINE = lazy_re(r"^<!-- hm [^\r\n]*", re.MULTILINE)
_BEFORE_ENTRY = lazy_re(r"\n\r?\n(?=<!-- hm )")


# A plain tuple, not a dataclass: there is one for every note that is read.
class _Block(NamedTuple):
    """A block that was read."""

    digest: bytes
    """Of its text in the note, which the chunks hold already, line by line."""

    char_count: int
    masked: str
    """Without its secrets, in a note that opens a front matter; else not kept."""

    first_line: int
    """Number of its first line, from 0."""

    line_count: int
    chunks: tuple[Chunk, ...]


class BlockReader:
    """Reads notes block by block, and keeps what it read. Threads may share one."""

    def __init__(
        self, mask: Callable[[str], str], *, limit_chars: int, overlap_chars: int
    ) -> None:
        """Keep nothing yet.

        Args:
            mask: Hides the secrets of a text, and leaves every line where it is.
            limit_chars: See ``note_parser.chunk_note``, as the next one.
            overlap_chars: The same.
        """
        self._mask = mask
        self._limit_chars = limit_chars
        self._overlap_chars = overlap_chars
        self._lock = Lock()
        self._kept: OrderedDict[NotePath, tuple[_Block, ...]] = OrderedDict()
        self._kept_chars = 0

    def count_new_chars(self, path: NotePath, data: bytes) -> int:
        """Return how many characters of a note differ from what was read before."""
        texts = blocks_of(decode(data))
        same = _count_equal(texts, self._kept.get(path, ()))
        return sum(map(len, texts[same:]))

    def read(self, path: NotePath, data: bytes) -> Note:
        """Return the note that *data* is, masked; any bytes are a note."""
        [note] = self.read_all([(path, data)])
        return note

    def read_all(self, noted: Sequence[tuple[NotePath, bytes]]) -> list[Note]:
        """Return the notes that some bytes are.

        All are masked before the first is cut: little is in a processor's cache, and
        to change the work with every note takes a third longer.

        Args:
            noted: Where each lies, none twice, and the whole file.
        """
        split = [blocks_of(decode(data)) for _, data in noted]
        kept = []
        for (path, _), texts in zip(noted, split, strict=True):
            known = self._kept.get(path, ())
            kept.append(known[: _count_equal(texts, known)] if known else ())
        masked = [
            [self._masked(text) for text in texts[len(same) :]]
            for texts, same in zip(split, kept, strict=True)
        ]
        return [
            self._cut(path, same, list(zip(texts[len(same) :], hidden, strict=True)))
            for (path, _), texts, same, hidden in zip(
                noted, split, kept, masked, strict=True
            )
        ]

    def read_grown(self, path: NotePath, data: bytes, growth: Growth) -> Note:
        """Return a note with those chunks alone that the index may not have yet.

        Args:
            path: Where it lies.
            data: The whole file.
            growth: Where to begin.
        """
        texts = blocks_of(decode(data)[growth.first_char :])
        line = growth.line_count
        chunks: list[Chunk] = []
        for text in texts:
            block = self._read_block(text, self._masked(text), line, has_front=False)
            chunks += block.chunks
            line += block.line_count
        return Note(
            path=path,
            chunks=tuple(chunks),
            line_count=line,
            grown_from=growth.digest,
            first_line=growth.line_count + 1,
        )

    def _cut(
        self, path: NotePath, same: Sequence[_Block], new: Sequence[tuple[str, str]]
    ) -> Note:
        """Return a note of blocks it had before, and (text, masked) of the others."""
        blocks = list(same)
        line = blocks[-1].first_line + blocks[-1].line_count if blocks else 0
        if blocks:
            has_front = bool(blocks[0].masked)
        else:
            has_front = bool(new) and new[0][1].startswith(FENCE)
        for text, masked in new:
            block = self._read_block(text, masked, line, has_front=has_front)
            blocks.append(block)
            line += block.line_count
        self._keep(path, tuple(blocks))
        front = split_front_matter("".join(block.masked for block in blocks))
        return Note(
            path=path,
            chunks=tuple(chunk for block in blocks for chunk in block.chunks),
            front_matter=front.values,
            has_broken_front_matter=front.is_broken,
            line_count=line,
        )

    def _masked(self, text: str) -> str:
        """Return a block without its secrets."""
        masked = self._mask(text)
        return masked if masked == text else self._masked_by_entry(text)

    def _read_block(
        self, text: str, masked: str, first_line: int, *, has_front: bool
    ) -> _Block:
        """Return a block, cut as it is without its secrets."""
        lines = split_lines(masked)
        return _Block(
            digest=_digest(text),
            char_count=len(text),
            masked=masked if has_front else "",
            first_line=first_line,
            line_count=len(lines),
            chunks=block_chunks(
                masked,
                lines,
                first_line=first_line,
                limit_chars=self._limit_chars,
                overlap_chars=self._overlap_chars,
            ),
        )

    def _masked_by_entry(self, text: str) -> str:
        """Return a block without its secrets, each entry masked by itself.

        What an entry says about secrets says nothing about the next one. Its comment
        says which entry it is, and whether it is forgotten: that stays.
        """
        parts, done = [], 0
        for line in _COMMENT_LINE.finditer(text):
            provenance = parse_provenance(line[0])
            if provenance is None:
                continue
            parts.append(self._mask(text[done : line.start()]))
            parts.append(self._masked_comment(line[0], provenance))
            done = line.end()
        return "".join([*parts, self._mask(text[done:])])

    def _masked_comment(self, line: str, provenance: Provenance) -> str:
        """Return a comment without secrets, as far as it still says the same."""
        masked = self._mask(line)
        says = parse_provenance(masked)
        if says is None:
            return line
        same = replaced(
            provenance,
            by=says.by,
            session=says.session,
            ref=says.ref,
            tags=says.tags,
        )
        return masked if says == same else line

    def _keep(self, path: NotePath, blocks: tuple[_Block, ...]) -> None:
        """Keep the blocks of a note; a single one would be read again anyway."""
        if len(blocks) < 2 and path not in self._kept:
            return
        with self._lock:
            self._drop(path)
            if len(blocks) > 1:
                self._kept[path] = blocks
                self._kept_chars += _chars_of(blocks)
            while self._kept_chars > MAX_KEPT_CHARS:
                self._drop(next(iter(self._kept)))

    def _drop(self, path: NotePath) -> None:
        """Forget the blocks of a note; the lock is held."""
        self._kept_chars -= _chars_of(self._kept.pop(path, ()))


_readers: WeakValueDictionary[tuple[str, int, int, object], BlockReader] = (
    WeakValueDictionary()
)
_readers_lock = Lock()


def shared_reader(
    root: str,
    mask: Callable[[str], str],
    *,
    masked_by: object,
    limit_chars: int,
    overlap_chars: int,
) -> BlockReader:
    """Return the reader that all memories of a process use for one folder of notes.

    A server has a memory for each project, and each of them reads every change: kept by
    each, the blocks took some 20 bytes for each letter, as often as there are projects.

    Args:
        root: The folder of the notes.
        mask: See ``BlockReader``, as for the next ones.
        masked_by: Another value, which can be hashed, once it masks something else.
        limit_chars: The same.
        overlap_chars: The same.
    """
    key = (root, limit_chars, overlap_chars, masked_by)
    with _readers_lock:
        reader = _readers.get(key)
        if reader is None:
            reader = _readers[key] = BlockReader(
                mask, limit_chars=limit_chars, overlap_chars=overlap_chars
            )
        return reader


def blocks_of(text: str) -> list[str]:
    r"""Return the blocks of a note: together, all of its text.

    >>> blocks_of("# Title\n\nShort.\n")
    ['# Title\n\nShort.\n']
    """
    if len(text) <= BLOCK_CHARS:
        return [text] if text else []
    blocks: list[str] = []
    start = 0
    # What looks like an entry within the front matter is not one.
    after = 0
    if text.startswith(FENCE):
        front = split_front_matter(text).line_count
        after = len("\n".join(split_lines(text)[:front]))
    while True:
        at = _next_entry(text, start, max(after, start + BLOCK_CHARS))
        if at < 0:
            break
        blocks.append(text[start:at])
        start = at
    if start < len(text):
        blocks.append(text[start:])
    return blocks


def _next_entry(text: str, start: int, after: int) -> int:
    """Return where the first entry after *after* begins; -1: there is none."""
    for blank in _BEFORE_ENTRY.finditer(text, after):
        at = blank.end()
        end = text.find("\n", at)
        if parse_provenance(text[at : end if end >= 0 else len(text)]) and (
            text[start:at].strip(" \t\r\n")
        ):
            return at
    return -1


def _count_equal(texts: Sequence[str], known: Sequence[_Block]) -> int:
    """Return how many blocks at the beginning are as they were."""
    count = 0
    for text, block in zip(texts, known, strict=False):
        if len(text) != block.char_count or _digest(text) != block.digest:
            break
        count += 1
    return count


def _chars_of(blocks: Sequence[_Block]) -> int:
    """Return how many characters some blocks have."""
    return sum(block.char_count for block in blocks)


def _digest(text: str) -> bytes:
    """Return what no other text has."""
    return blake2b_digest(text.encode("utf-8", "surrogatepass"), 16)
