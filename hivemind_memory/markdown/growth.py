"""Finds where a note has to be read again that has only grown since it was indexed.

Agents append to a note all day. What stands before the last blocks of what is indexed
already makes the same chunks again: nothing of it is parsed, kept in memory or compared
with the index.
"""

from __future__ import annotations

from hivemind_memory.markdown.blocks import blocks_of
from hivemind_memory.markdown.front_matter import FENCE
from hivemind_memory.markdown.text import decode, split_lines
from hivemind_memory.model.note import Growth

_READ_AGAIN = 2
"""Blocks of the old text that are read again: the last one may have ended elsewhere,
and what becomes of the chunk before it depends on how it begins."""


def growth_of(data: bytes, *, size: int, digest: str) -> Growth | None:
    """Return how a note has grown; None: all of it has to be read.

    Args:
        data: The whole file.
        size: Bytes that are indexed; *data* begins with them.
        digest: Their SHA-256.
    """
    text, old = decode(data), decode(data[:size])
    # What a front matter says is said of every chunk.
    if text.startswith(FENCE) or not text.startswith(old):
        return None
    blocks = blocks_of(text)
    end = kept = 0
    for block in blocks:
        end += len(block)
        if end > len(old):
            break
        kept += 1
    same = blocks[: max(0, kept - _READ_AGAIN)]
    if not same:
        return None
    first_char = sum(map(len, same))
    return Growth(
        digest=digest,
        first_char=first_char,
        line_count=sum(len(split_lines(block)) for block in same),
        again=old[first_char:],
    )
