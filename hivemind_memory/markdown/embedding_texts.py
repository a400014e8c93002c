"""The texts of a chunk that get a vector, and what names a text in the cache."""

from __future__ import annotations

import hashlib

from hivemind_memory.markdown.subchunks import split_subchunks


def embedding_texts(body: str) -> list[str]:
    """Return the texts of a chunk that get a vector: its body, and its subchunks.

    A chunk of one subchunk has one text.
    """
    subchunks = split_subchunks(body)
    return [body, *subchunks] if len(subchunks) > 1 else [body]


def text_hash(text: str) -> str:
    """Return the name of a text in the vector cache: its SHA-256, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
