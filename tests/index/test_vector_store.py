"""Which texts want a vector, and that each is paid for once and kept right."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from hivemind_memory.errors import EmbeddingInvalidError
from hivemind_memory.index.sqlite import vector_store
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.vector_store import SqliteVectorStore
from hivemind_memory.markdown.subchunks import text_hash
from hivemind_memory.model.matches import VectorMatches
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.providers.vectors import pack
from hivemind_memory.testing import FakeEmbedder, hash_text
from tests.index.conftest import Open, chunk_ids, put

SPACE = FakeEmbedder().fingerprint


def vector(text: str) -> bytes:
    return pack(hash_text(text))


def fill(store: SqliteVectorStore, space: str = SPACE) -> list[str]:
    """Give a vector to all that wait; return their texts."""
    sent = []
    while waiting := store.pending_texts(space, 3):
        sent += [text for _, text in waiting]
        store.store(space, 64, {name: vector(text) for name, text in waiting})
    return sent


def ask(index: SqliteIndex, text: str) -> VectorMatches:
    matches = index.view().find_vectors(SPACE, vector(text), limit=50, also=())
    assert matches is not None
    return matches


def best(index: SqliteIndex, text: str) -> str:
    """Return the first line of the chunk that is nearest to a text."""
    cosines = ask(index, text).cosines
    number = max(cosines, key=lambda chunk: cosines[chunk])
    return next(name for name, chunk in chunk_ids(index).items() if chunk == number)


@pytest.fixture
def store(index: SqliteIndex) -> SqliteVectorStore:
    return index.vector_store()


def test_each_waiting_text_comes_with_its_own_hash(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """One text may be a whole chunk here and one bullet of a chunk there.

    The vector of the one must never be kept under the name of the other.
    """
    put(index, "- shared line\n- another line\n", "a.md")
    put(index, "shared line\n\n\n- shared line\n", "b.md")
    put(index, "another paragraph\n\n- shared line\n\nand the end\n", "c.md")

    waiting = store.pending_texts(SPACE, 100)

    assert [name for name, text in waiting] == [text_hash(text) for _, text in waiting]
    assert len({name for name, _ in waiting}) == len(waiting)
    assert len(waiting) == store.count_pending(SPACE)


def test_every_text_is_sent_once_and_then_none_waits(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """A text that stands in ten notes is one text."""
    for number in range(10):
        put(index, f"# Title\n\n- shared line\n- line {number}\n", f"{number}.md")

    sent = fill(store)

    assert len(sent) == len(set(sent))
    assert sum(text.removeprefix("- ") == "shared line" for text in sent) == 1
    assert (store.count_pending(SPACE), store.pending_texts(SPACE, 9)) == (0, [])
    assert store.count_vectors(SPACE) == 10


def test_a_text_that_comes_back_costs_nothing(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """Renamed, undone, moved to another note: it was paid for."""
    put(index, "the same text\n", "a.md")
    fill(store)
    index.remove([NotePath("a.md")])
    put(index, "the same text\n", "b.md")

    assert fill(store) == []
    assert store.count_vectors(SPACE) == 1


def test_a_second_edit_of_the_newest_note_is_seen_by_a_reader(
    open_index: Open,
) -> None:
    """The serial numbers of links must not fall when the newest chunk goes."""
    writer, reader = open_index(), open_index()
    store = writer.vector_store()
    put(writer, "first words\n", "a.md")
    fill(store)
    put(writer, "second words\n", "b.md")
    fill(store)
    assert best(reader, "second words") == "second words"

    put(writer, "third thing\n", "b.md")
    fill(store)

    assert best(reader, "third thing") == "third thing"
    assert set(ask(reader, "x").cosines) == set(chunk_ids(reader).values())


def test_a_space_has_vectors_of_one_length(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """Two processes, and between them a server that was given another model."""
    put(index, "one\n\n\ntwo\n")
    (one, _), (two, _) = store.pending_texts(SPACE, 2)
    store.store(SPACE, 64, {one: vector("one")})

    with pytest.raises(EmbeddingInvalidError, match="not of 64"):
        store.store(SPACE, 8, {two: pack([1.0] * 8)})

    assert store.dims(SPACE) == 64
    assert store.count_pending(SPACE) == 1


def test_two_spaces_do_not_mix(index: SqliteIndex, store: SqliteVectorStore) -> None:
    """A vector is compared only with vectors of the same model."""
    put(index, "one\n\n\ntwo\n")
    fill(store)

    assert store.count_pending("other") == 2
    assert store.cached("other", [text_hash("one")]) == {}
    assert index.view().find_vectors("other", vector("one"), limit=5, also=()) is None
    assert fill(store, "other") == ["one", "two"]
    assert index.spaces() == {SPACE: 2, "other": 2}


def test_the_vectors_retriever_follows_every_change(open_index: Open) -> None:
    """It holds all vectors in memory and must not answer from yesterday."""
    writer, reader = open_index(), open_index()
    store = writer.vector_store()
    for number in range(100):
        put(writer, f"number {number} alone\n", f"{number}.md")
    fill(store)
    assert ask(reader, "number 7").chunk_count == 100

    writer.remove([NotePath(f"{number}.md") for number in range(50)])
    put(writer, "number 99 changed\n", "99.md")
    fill(store)

    matches = ask(reader, "number 99 changed")
    assert matches.chunk_count == 50
    assert set(matches.cosines) == set(chunk_ids(reader).values())


def test_a_vector_that_the_disk_spoilt_spoils_no_answer(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """SQLite has no checksum: one number that is none would spoil every mean."""
    put(index, "one thing\n\n\ntwo things\n")
    fill(store)
    spoilt = b"\xff" * (4 * 64)
    index.connection.execute(
        "UPDATE embedding_cache SET embedding = ? WHERE text_hash = ?",
        (spoilt, text_hash("one thing")),
    )

    matches = ask(index, "two things")

    assert matches.background == matches.background, "not NaN"
    assert max(matches.cosines.values()) == pytest.approx(1, abs=1e-5)
    assert best(index, "two things") == "two things"


def test_a_question_of_another_length_gets_no_answer(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """None, so that the answer says keyword, and not an exception."""
    put(index, "one\n")
    fill(store)

    assert index.view().find_vectors(SPACE, pack([1.0] * 8), limit=5, also=()) is None


def test_what_was_found_by_words_gets_its_cosine_too(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """Fusion wants both figures of every candidate."""
    put(index, "\n\n\n".join(f"text {n} of many" for n in range(30)))
    fill(store)
    last = chunk_ids(index)["text 29 of many"]

    matches = index.view().find_vectors(
        SPACE, vector("text 3 of many"), limit=1, also=[last, 10**9]
    )

    assert matches is not None
    assert last in matches.cosines
    assert len(matches.cosines) == 2
    assert matches.subchunk_cosines.keys() == matches.cosines.keys()


def test_the_best_bullet_speaks_for_its_chunk(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """A long list answers by the one line that is meant."""
    put(index, "- bees need water\n- the mill stands still\n- ports are open\n")
    fill(store)

    [chunk] = chunk_ids(index).values()
    matches = ask(index, "- the mill stands still")

    assert matches.subchunk_cosines[chunk] == pytest.approx(1, abs=1e-5)
    assert matches.cosines[chunk] < 0.9


def test_a_text_without_a_letter_is_never_sent(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """A provider refuses it, and with it all texts of its batch."""
    put(
        index,
        "# Title\n\n\n<!-- hm id=01JD0000000000000000000000 by=x "
        "at=2026-01-02T03:04:05+01:00 -->\n\n\n\n\n# Next\n",
    )

    assert [text for text in fill(store) if not text.strip()] == []


def test_storing_waits_for_a_rebuild(
    index: SqliteIndex, store: SqliteVectorStore, index_file: Path
) -> None:
    """What is stored between its copying and its taking over would be lost."""
    from hivemind_memory.errors import IndexBusyError
    from hivemind_memory.index.sqlite import lock as module

    put(index, "one\n")
    [(name, text)] = store.pending_texts(SPACE, 1)

    with module.index_lock(str(index_file)), pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WAIT_S", 0.01)
        patch.setitem(module.index_lock.__init__.__kwdefaults__, "wait_s", 0.01)
        with pytest.raises(IndexBusyError):
            store.store(SPACE, 64, {name: vector(text)})

    store.store(SPACE, 64, {name: vector(text)})
    assert store.count_pending(SPACE) == 0


def test_a_batch_takes_as_much_work_in_a_large_memory_as_in_a_small_one(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """It counted every chunk and grouped every waiting text: indexing was quadratic."""
    connection = index.connection
    steps = []
    for path, chunks in (("a.md", 400), ("b.md", 4_000)):
        put(index, "".join(f"# {path} {n}\n\nText.\n" for n in range(chunks)), path)
        store.plan(SPACE)
        assert store.count_pending(SPACE) >= chunks
        count = 0

        def step() -> bool:
            nonlocal count
            count += 1
            return False

        connection.set_progress_handler(step, 10)
        for _ in range(2):
            batch = store.pending_texts(SPACE, 50)
            assert len(batch) == 50
            store.store(SPACE, 64, {name: vector(text) for name, text in batch})
        connection.set_progress_handler(None)
        steps.append(count)

    assert steps[1] < 2 * steps[0]


def test_chunks_without_a_letter_keep_no_other_from_getting_a_vector(
    index: SqliteIndex, store: SqliteVectorStore
) -> None:
    """A run of them as long as one step ended the listing."""
    put(index, "".join("# 1\n\n---\n" for _ in range(3)), "a.md")
    put(index, "Words at last.\n", "b.md")

    with mock.patch.object(vector_store, "PLAN_CHUNKS", 2):
        sent = fill(store)

    assert any("Words at last." in text for text in sent)
    assert store.count_pending_chunks(SPACE) == 0
