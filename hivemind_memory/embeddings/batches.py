"""Cuts what is to be embedded into requests that a provider takes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TEXT_LIMIT_BYTES = 8_000
"""What is sent of one text. A token is at least one byte in every tokenizer in use, so
this is below OpenAI's 8,191 tokens in any script; of a note in English it is 8,000
characters, ten times the usual chunk."""


def cut_text(text: str, limit_bytes: int = TEXT_LIMIT_BYTES) -> str:
    """Return the beginning of *text*, at most *limit_bytes* of UTF-8, whole characters.

    A lone surrogate, which no request can carry, becomes a question mark.

    >>> cut_text("größer", 4)
    'grö'
    """
    data = text.encode("utf-8", "replace")
    return data[:limit_bytes].decode("utf-8", "ignore")


def split_batches(
    texts: Sequence[str], *, max_texts: int, max_chars: int
) -> Iterator[list[str]]:
    """Yield *texts* in order, in lists of at most *max_texts* and *max_chars* together.

    A text that alone has more characters comes alone.
    """
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) >= max_texts or chars + len(text) > max_chars):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch
