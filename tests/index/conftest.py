"""An index file of its own for each test, and notes to put into it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.index.port import FileRecord
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.note import Note
from hivemind_memory.model.note_path import NotePath

Open = Callable[[], SqliteIndex]


@pytest.fixture
def index_file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def open_index(index_file: Path) -> Iterator[Open]:
    """Return a function that opens the index as another process would."""
    opened: list[SqliteIndex] = []

    def make() -> SqliteIndex:
        opened.append(SqliteIndex(str(index_file), now=time.time))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def index(open_index: Open) -> SqliteIndex:
    return open_index()


def note_of(text: str, path: str = "note.md") -> Note:
    return parse_note(NotePath(path), text.encode(), limit_chars=800)


def put(index: SqliteIndex, text: str, path: str = "note.md") -> int:
    """Index a note as a sync does; return the chunks that were written."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    row = FileRecord(
        signature=(1, 2, len(text), 4), digest=digest, is_settled=True, day=20000
    )
    return index.replace([(note_of(text, path), row)])


def chunk_ids(index: SqliteIndex) -> dict[str, int]:
    """Return first line of a chunk's text -> its number in the index."""
    rows = index.connection.execute("SELECT text, id FROM chunks")
    return {text.strip().split("\n")[0]: number for text, number in rows}


def found(index: SqliteIndex, *words: str) -> list[str]:
    """Return the notes that hold any of the words."""
    from hivemind_memory.model.terms import QueryTerm

    matches = index.view().find_words([QueryTerm(word) for word in words], limit=10_000)
    return sorted(match.place.path for match in matches.candidates)
