"""Steps of the contract: put a note into an index, find it, fill in vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from hivemind_memory.index.port import FileRecord, Index, IndexView
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.terms import QueryTerm
from hivemind_memory.notes.memory_header import header_of
from hivemind_memory.providers.vectors import pack
from hivemind_memory.testing import hash_text

OpenIndex = Callable[[], Index]
SPACE = "a space"
TODAY = 20_000


def put(index: Index, path: str, text: str, *, is_utf8: bool = True) -> int:
    """Index a note as a sync does; return the chunks written."""
    name = NotePath(path)
    note = parse_note(name, text.encode(), limit_chars=800)
    bodies = (chunk.body for chunk in note.chunks)
    record = FileRecord(
        signature=(1, 2, len(text), 4),
        digest=hashlib.sha256(text.encode()).hexdigest(),
        is_settled=True,
        day=TODAY - 10,
        scope=scope_of(path),
        header=header_of(name, note.front_matter, bodies, {}),
        is_utf8=is_utf8,
    )
    return index.replace([(note, record)])


def found(view: IndexView, *words: str) -> list[str]:
    """Return the notes in which a view finds any of the words."""
    matches = view.find_words([QueryTerm(word) for word in words], limit=100)
    return sorted(one.place.path for one in matches.candidates)


def vector(text: str) -> bytes:
    return pack(hash_text(text))


def fill(index: Index) -> list[str]:
    """Store a vector for every text that has none; return the texts."""
    store, texts = index.vector_store(), []
    while pending := store.pending_texts(SPACE, 3):
        texts += [text for _, text in pending]
        store.store(SPACE, 64, {name: vector(text) for name, text in pending})
    return texts
