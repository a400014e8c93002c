"""Shortens a text that is too long for its place, each kind in its own way.

Code keeps its definitions, knowledge its headings and first sentences, history its last
lines. A short text stays as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.markdown.text import split_lines
from hivemind_memory.model.display import count_text
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
)
from hivemind_memory.working.code_outline import HEADING, outline_code

COMPRESS_OVER_TOKENS = 2_000
HISTORY_LINES = 20

_PROSE = (".md", ".txt", ".rst", ".adoc", ".org", "")
_SENTENCE = re.compile(r".*?[.!?。！？](?=\s|$)|.+", re.DOTALL)
_HEAD_LINES, _TAIL_LINES = 40, 10

Summarizer = Callable[[str, MemoryBlock], str]
"""Takes a text and its block, returns a shorter text."""


class MemoryCompressor:
    """Shortens long texts."""

    def __init__(
        self,
        summarizer: Summarizer | None = None,
        *,
        over_tokens: int = COMPRESS_OVER_TOKENS,
        count_tokens: Callable[[str], int] = estimate_tokens,
    ) -> None:
        """Take what counts and shortens.

        Args:
            summarizer: Used for every text that is too long; None: the rules here.
            over_tokens: Shorter texts stay as they are.
            count_tokens: Counts the tokens of a text.
        """
        self.summarizer = summarizer
        self._over_tokens = over_tokens
        self._count = count_tokens

    def compress_if_needed(self, content: str, memory: MemoryBlock) -> str:
        """Return a text, shortened if it is long and can be."""
        # A token is seldom more than a dozen characters, never less than a quarter.
        if len(content) < self._over_tokens // 4:
            return content
        if self._count(content) <= self._over_tokens:
            return content
        if self.summarizer is not None:
            return self.summarizer(content, memory)
        shorter = self._compress(content, memory)
        return shorter if len(shorter) < len(content) else content

    def compress_code(self, content: str, memory: FileMemoryBlock) -> str:
        """Return imports and signatures with their lines; without any, both ends."""
        suffix = os.path.splitext(memory.location)[1].lower()
        outline = outline_code(content, suffix, memory.start_line or 1)
        return both_ends(content) if outline is None else outline

    def _compress(self, content: str, memory: MemoryBlock) -> str:
        """Return a text shortened by the rule of its kind."""
        if isinstance(memory, HistoryMemoryBlock):
            return last_lines(content)
        if isinstance(memory, KnowledgeMemoryBlock):
            return main_sentences(content)
        if isinstance(memory, FileMemoryBlock):
            suffix = os.path.splitext(memory.location)[1].lower()
            if suffix in _PROSE:
                return main_sentences(content)
            return self.compress_code(content, memory)
        return both_ends(content)


def main_sentences(text: str) -> str:
    """Return the headings of a text and the first sentence of each paragraph."""
    kept, is_begun = [], False
    for line in split_lines(text):
        if not line.strip():
            is_begun = False
        elif HEADING.match(line):
            kept.append(line)
            is_begun = False
        elif not is_begun:
            is_begun = True
            found = _SENTENCE.match(line)
            kept.append(found[0] if found else line)
    return "\n".join(kept)


def last_lines(text: str) -> str:
    """Return the last twenty lines of a text, and how many came before."""
    lines = split_lines(text)
    before = len(lines) - HISTORY_LINES
    if before <= 0:
        return text
    return "\n".join([f"… {count_text(before, 'earlier line')}", *lines[before:]])


def both_ends(text: str) -> str:
    """Return the beginning and the end of a text, and how much lies between."""
    lines = split_lines(text)
    between = len(lines) - _HEAD_LINES - _TAIL_LINES
    if between <= 0:
        return text
    gap = f"… {count_text(between, 'line')} …"
    return "\n".join([*lines[:_HEAD_LINES], gap, *lines[-_TAIL_LINES:]])
