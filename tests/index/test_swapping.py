"""One index takes the place of another, and what was paid for comes along."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.lock import index_lock
from hivemind_memory.index.sqlite.swap import copy_vectors, replace_index
from tests.index.conftest import Open, chunk_ids, found, put
from tests.index.test_vector_store import SPACE, best, fill, vector


@pytest.fixture
def new(tmp_path: Path) -> Iterator[SqliteIndex]:
    """Another index, made beside the one that answers."""
    index = SqliteIndex(str(tmp_path / "rebuild.db"), now=time.time)
    yield index
    index.close()


def swap(new: SqliteIndex, index_file: Path) -> None:
    with index_lock(str(index_file)):
        copy_vectors(str(index_file), new)
        replace_index(new, str(index_file))


def test_who_has_the_old_one_open_sees_the_new_one(
    open_index: Open, index_file: Path, new: SqliteIndex
) -> None:
    """No file is swapped under a process, and none has to be started again."""
    reader = open_index()
    put(reader, "# Old\n")
    put(new, "# New\n")

    swap(new, index_file)

    assert (found(reader, "old"), found(reader, "new")) == ([], ["note.md"])
    assert reader.is_still_there()


def test_a_reader_in_the_middle_keeps_its_state(
    open_index: Open, index_file: Path, new: SqliteIndex
) -> None:
    """Numbers of chunks mean something else afterwards."""
    reader = open_index()
    put(reader, "# Old\n")
    put(new, "# New\n")

    with reader.snapshot():
        before = found(reader, "old")
        swap(new, index_file)
        after = found(reader, "old")

    assert before == after == ["note.md"]
    assert found(reader, "old") == []


def test_what_was_paid_for_comes_along_and_is_linked(
    open_index: Open, index_file: Path, new: SqliteIndex
) -> None:
    """No rebuild costs money."""
    index = open_index()
    put(index, "# One\n\n\n# Two\n")
    fill(index.vector_store())
    index.set_meta("space:somewhere", "recipe")
    put(new, "# Two\n\n\n# Three\n")

    swap(new, index_file)

    assert fill(index.vector_store()) == ["# Three"]
    assert index.vector_store().dims(SPACE) == 64
    assert index.get_meta("space:somewhere") == "recipe"


def test_a_vectors_retriever_forgets_the_ids_of_a_replaced_index(
    open_index: Open, index_file: Path, new: SqliteIndex
) -> None:
    """As many vectors as before, and every number for another chunk."""
    index = open_index()
    for text in ("zero", "zero and one", "alpha text", "beta text"):
        put(index, f"{text}\n")
        put(index, f"{text}\n", "b.md")
    put(index, "beta text\n", "a.md")
    put(index, "alpha text\n", "b.md")
    fill(index.vector_store())
    put(index, "beta text\n", "note.md")
    assert best(index, "alpha text") == "alpha text"
    for path, text in (("a.md", "alpha text\n"), ("b.md", "beta text\n")):
        put(new, text, path)
    put(new, "beta text\n")

    swap(new, index_file)

    matches = index.view().find_vectors(SPACE, vector("alpha text"), limit=9, also=())
    assert matches is not None
    assert set(matches.cosines) == {
        number for (number,) in index.connection.execute("SELECT id FROM chunks")
    }
    assert best(index, "alpha text") == "alpha text"


@pytest.mark.parametrize("name", ["a b", "a?b=c", "a%20b", "a#b", "ä'b", 'q"q'])
def test_vectors_come_along_wherever_the_folder_lies(tmp_path: Path, name: str) -> None:
    """Characters that mean something in an address mean nothing in a path."""
    folder = tmp_path / name
    folder.mkdir()
    old_file = folder / "memory.db"
    with_old = SqliteIndex(str(old_file), now=time.time)
    put(with_old, "# One\n")
    fill(with_old.vector_store())
    new = SqliteIndex(str(folder / "rebuild.db"), now=time.time)
    put(new, "# One\n")

    swap(new, old_file)

    assert with_old.vector_store().count_pending(SPACE) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]
    with_old.close()
    new.close()


def test_an_index_that_is_gone_or_damaged_is_replaced_all_the_same(
    index_file: Path, new: SqliteIndex, open_index: Open
) -> None:
    """A rebuild is what heals."""
    put(new, "# New\n")
    index_file.write_bytes(b"this is no database" * 1000)

    swap(new, index_file)

    assert found(open_index(), "new") == ["note.md"]
    assert len(chunk_ids(open_index())) == 1
