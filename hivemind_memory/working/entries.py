"""Makes of blocks what a model is sent: entries of a JSON array, secrets masked.

An entry is ``{id, content, confidence, priority, metadata}``. What the block itself
says in its metadata never replaces what the entry says of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hivemind_memory.markdown.text import encodable
from hivemind_memory.redaction import holds_known, mask
from hivemind_memory.redaction.json_values import mask_json
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    TaskMemoryBlock,
)
from hivemind_memory.working.compression import MemoryCompressor
from hivemind_memory.working.json_values import json_safe
from hivemind_memory.working.loading import ContentLoader, LoadedText

Entry = dict[str, Any]

_PLAIN = re.compile(
    r"[a-z]{0,12}|[0-9-]{1,12}|[0-9-]{10}T[0-9:.]{5,15}(?:[+-][0-9:]+)?"
)
"""A word, lines or a time: no secret is so, and every entry has five of them."""


class ContextBuilder:
    """Makes entries of blocks."""

    def __init__(
        self, content_loader: ContentLoader, compressor: MemoryCompressor | None = None
    ) -> None:
        """Take what loads texts, and what shortens long ones."""
        self.content_loader = content_loader
        self._compressor = compressor or MemoryCompressor()

    def build_context(self, selected_memories: Iterable[MemoryBlock]) -> list[Entry]:
        """Return an entry for each block, in their order."""
        blocks = list(selected_memories)
        texts = self.content_loader.load_many(blocks)
        return [self.entry(*pair) for pair in zip(blocks, texts, strict=True)]

    def entry(self, block: MemoryBlock, loaded: LoadedText) -> Entry:
        """Return the entry of one block."""
        metadata = build_metadata(block)
        content = loaded.text
        if not loaded.is_error:
            content = self._compressor.compress_if_needed(content, block)
            if content is not loaded.text:
                metadata["compressed"] = True
            expected = block.digest if isinstance(block, FileMemoryBlock) else None
            if expected and loaded.digest and expected != loaded.digest:
                metadata["changed"] = True
        if loaded.note:
            metadata["note"] = loaded.note
        entry: Entry = {
            "id": block.id,
            "content": content,
            "confidence": block.confidence,
            "priority": block.rank.name.lower(),
            "metadata": metadata,
        }
        if loaded.is_error:
            entry["error"] = True
        return {key: _masked(value) for key, value in entry.items()}


def build_metadata(block: MemoryBlock) -> Entry:
    """Return the metadata of a block's entry; secrets in what it brings are masked."""
    at = block.timestamp.isoformat()
    metadata: Entry = {"type": block.type.value, "timestamp": at}
    if block.expiry is not None:
        metadata["expiry"] = block.expiry.isoformat()
    if isinstance(block, FileMemoryBlock):
        metadata["source"] = block.location
        if block.start_line is not None or block.end_line is not None:
            end = "" if block.end_line is None else block.end_line
            metadata["lines"] = f"{block.start_line or 1}-{end}"
    elif isinstance(block, TaskMemoryBlock):
        metadata |= {"task_id": block.task_id, "status": block.status}
        if block.project:
            metadata["project"] = block.project
    elif isinstance(block, MessageMemoryBlock):
        metadata |= {"from": block.from_agent, "to": block.to_agent}
        metadata |= {"subject": block.subject, "read": block.read}
        if block.full_path:
            metadata["source"] = block.full_path
    elif isinstance(block, KnowledgeMemoryBlock):
        metadata |= {"topic": block.topic, "source": block.location}
        if block.subtopic:
            metadata["subtopic"] = block.subtopic
    own = mask_json(json_safe(block.metadata))
    return {**(own if isinstance(own, dict) else {}), **metadata}


def entry_tokens(entry: Entry, count: Callable[[str], int]) -> int:
    """Return what an entry costs in the array that is sent, its separator included."""
    return count(f"{to_json(entry)}, ")


def to_json(value: Entry | Sequence[Entry]) -> str:
    """Return entries as they are sent."""
    return json.dumps(value, ensure_ascii=False)


def _masked(value: Any) -> Any:
    """Return a value with the secrets in its texts masked."""
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and not holds_known(value)
        return value if is_plain else mask(encodable(value))
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item) for item in value]
    return value
