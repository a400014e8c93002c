"""Takes English endings off words, as the full-text engine does."""

from __future__ import annotations

import threading
from functools import cache, lru_cache

import apsw

from hivemind_memory.sqlite.connection import IN_MEMORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_lock = threading.Lock()


@lru_cache(maxsize=16_384)
def english_stem(word: str) -> str:
    """Return a word in small letters without its English ending.

    >>> [english_stem(word) for word in ("stopped", "cities", "city", "rows")]
    ['stop', 'citi', 'citi', 'row']
    """
    with _lock:  # a connection serves one thread at a time
        return next(iter(_tokenizer()(word)), word)


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """Return the engine's own rule for English words."""
    tokenize = apsw.Connection(IN_MEMORY).fts5_tokenizer("porter", ["ascii"])

    def tokens_of(text: str) -> list[str]:
        found: list[str] = tokenize(  # type: ignore[assignment]
            text.encode(),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        return found

    return tokens_of
