"""The small copies of vectors answer as the vectors themselves would."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from contextlib import suppress
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.access.rules import Caller, access_of
from hivemind_memory.errors import IndexDamagedError, IndexTooNewError
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.schema import SCHEMA_VERSION
from hivemind_memory.index.sqlite.swap import copy_vectors, replace_index
from hivemind_memory.index.sqlite.vacuum import vacuum
from hivemind_memory.index.sqlite.vector_blocks import (
    BLOCK_ROWS,
    CHUNKS,
    quantize,
)
from hivemind_memory.markdown.subchunks import text_hash
from hivemind_memory.model.filters import Access
from hivemind_memory.model.matches import VectorMatches
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.providers.vectors import pack, unpack
from hivemind_memory.sqlite.connection import write_transaction
from tests.index.conftest import Open
from tests.index.steps import SPACE, fill, put, vector
from tests.support.tiers import mostly_thorough

DIMS = 64
MISMATCH = "the blocks of vectors do not match the chunks"
SEEDS = range(6)


def paragraphs(name: str, count: int) -> str:
    """Return a note of so many chunks."""
    return "".join(f"## part {n}\n\n{name} says {n}\n\n" for n in range(count))


def product(one: bytes, other: bytes) -> float:
    return math.fsum(a * b for a, b in zip(unpack(one), unpack(other), strict=True))


def linked(index: SqliteIndex) -> dict[int, tuple[tuple[str, int], bytes]]:
    """Return chunk -> (place, vector), for all that have one."""
    return {
        chunk: ((path, line), embedding)
        for chunk, path, line, embedding in index.connection.execute(
            """
            SELECT chunks.id, path, start_line, embedding
            FROM chunks JOIN files ON files.id = file_id
            JOIN chunks_vec ON chunk_id = chunks.id AND subchunk = 0
            JOIN embedding_cache ON embedding_cache.id = vector_id
            """
        )
    }


def assert_is_exact(
    index: SqliteIndex, query: str, limit: int = 10, access: Access | None = None
) -> None:
    """Compare an answer with that of a plain program that reads every vector."""
    asked = vector(query)
    seen = {
        chunk: (place, product(asked, embedding))
        for chunk, (place, embedding) in linked(index).items()
        if access is None or place[0].rpartition("/")[0] in (access.scopes or ())
    }
    matches = index.view(access).find_vectors(SPACE, asked, limit=limit, also=())
    assert isinstance(matches, VectorMatches)
    assert matches.chunk_count == len(seen)
    cosines = sorted((cosine for _, cosine in seen.values()), reverse=True)
    assert sorted(matches.cosines.values(), reverse=True) == pytest.approx(
        cosines[:limit], abs=1e-5
    )
    for chunk, cosine in matches.cosines.items():
        assert cosine == pytest.approx(seen[chunk][1], abs=1e-5)
    mean = math.fsum(cosines) / len(cosines)
    spread = math.fsum((cosine - mean) ** 2 for cosine in cosines) / len(cosines)
    assert matches.background == pytest.approx(mean, abs=2e-3)
    assert matches.deviation == pytest.approx(math.sqrt(spread), abs=2e-3)


@pytest.mark.parametrize("seed", mostly_thorough(SEEDS, every=3))
def test_any_history_leaves_the_answers_of_the_vectors(
    seed: int, open_index: Open
) -> None:
    """Notes come, change and go; a second process looks on and now and then asks."""
    rng = random.Random(seed)
    writer, reader = open_index(), open_index()
    names: set[str] = set()
    for step in range(24):
        name = f"n{rng.randrange(9)}"
        if name in names and rng.random() < 0.4:
            writer.remove([NotePath(f"{name}.md")])
            names.discard(name)
        else:
            put(writer, f"{name}.md", paragraphs(f"{name} {step}", rng.randrange(140)))
            names.add(name)
        if rng.random() < 0.7:
            fill(writer)
        if rng.random() < 0.4 and linked(reader):
            assert_is_exact(reader, f"question {step}", limit=rng.randrange(1, 40))
    fill(writer)
    put(writer, "last.md", "the last one\n")
    fill(writer)
    assert_is_exact(reader, "the last one")
    assert_is_exact(writer, "n3 says 7")
    assert_is_exact(open_index(), "n3 says 7")
    assert_are_consistent(writer)


def assert_are_consistent(index: SqliteIndex) -> None:
    """Check that each slot is of the chunk that its row names, or free, never both."""
    execute = index.connection.execute
    rows = {
        BLOCK_ROWS * block + row: (chunk, codes[row * DIMS : (row + 1) * DIMS])
        for block, chunks, codes in execute(
            "SELECT block, chunks, codes FROM vector_blocks"
        )
        for row, chunk in enumerate(CHUNKS.unpack(chunks))
    }
    free = {slot for (slot,) in execute("SELECT slot FROM vector_free")}
    used = dict(execute("SELECT slot, chunk_id FROM chunks_vec WHERE slot NOT NULL"))
    assert free.isdisjoint(used)
    assert free | used.keys() == rows.keys()
    vectors = linked(index)
    for slot, chunk in used.items():
        assert rows[slot] == (chunk, quantize(vectors[chunk][1], DIMS))


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM vector_free",
        "DELETE FROM vector_blocks WHERE block = 0",
        "UPDATE vector_blocks SET codes = x'00'",
        "UPDATE vector_blocks SET chunks = x'00'",
        "INSERT INTO vector_free(space_id, slot) VALUES (1, 100000)",
        """UPDATE vector_blocks SET chunks =
           (SELECT chunks FROM vector_blocks WHERE block = 1) WHERE block = 0""",
    ],
)
def test_blocks_that_do_not_match_the_chunks_are_damage(
    damage: str, open_index: Open
) -> None:
    """The check names it, and an answer never comes from half of the vectors."""
    index = open_index()
    put(index, "a.md", paragraphs("first", 600))
    fill(index)
    put(index, "a.md", paragraphs("second", 600))
    fill(index)
    assert not any(problem for _, problem in index.check())
    with write_transaction(index.connection):
        index.connection.execute(damage)

    problems = [problem for _, problem in open_index().check() if problem]
    with suppress(IndexDamagedError):
        assert_is_exact(open_index(), "second says 3")
        pytest.fail("damage was not noticed")

    assert problems == [MISMATCH]


def test_slots_of_deleted_chunks_are_used_again(open_index: Open) -> None:
    """A memory that is edited for years must not grow with each edit."""
    index = open_index()
    for turn in range(12):
        put(index, "a.md", paragraphs(f"turn {turn}", 300))
        fill(index)

    [(blocks,)] = index.connection.execute("SELECT count(*) FROM vector_blocks")
    assert blocks <= 4
    assert_is_exact(index, "turn 11 says 3")


def test_equal_texts_beyond_the_spare_ones_are_told_apart_by_their_place(
    open_index: Open,
) -> None:
    """Hundreds of notes may hold the same line."""
    index = open_index()
    for number in random.Random(1).sample(range(400), 400):
        put(index, f"{number:03}.md", "kettle\n")
    fill(index)

    matches = index.view().find_vectors(SPACE, vector("other"), limit=3, also=())

    assert matches is not None
    places = index.chunk_locations(list(matches.cosines)).values()
    assert sorted(one.path for one in places) == ["000.md", "001.md", "002.md"]


@pytest.mark.parametrize("first", [range(300), range(300, 444)])
def test_equal_texts_are_a_tie_in_a_block_and_outside(
    first: range, open_index: Open
) -> None:
    """As an int8 copy and as float32 they had different distances."""
    index = open_index()
    for numbers in (first, sorted(set(range(444)) - set(first))):
        for number in numbers:
            put(index, f"{number:03}.md", "kettle\n")
        fill(index)

    matches = index.view().find_vectors(SPACE, vector("other"), limit=3, also=())

    assert matches is not None
    places = index.chunk_locations(list(matches.cosines)).values()
    assert sorted(one.path for one in places) == ["000.md", "001.md", "002.md"]


def test_a_vector_that_comes_after_its_text_was_purged_is_dropped(
    open_index: Open, index_file: Path
) -> None:
    """The provider may answer a minute later, and a purge takes two seconds."""
    index = open_index()
    put(index, "a.md", "purged text\n")
    store = index.vector_store()
    [(name, text)] = store.pending_texts(SPACE, 3)
    index.remove([NotePath("a.md")])
    vacuum(str(index_file), [name], since_s=0, probes=(), wait_s=1)

    store.store(SPACE, DIMS, {name: vector(text)})

    assert store.cached(SPACE, [name]) == {}


def test_vectors_of_another_length_are_not_carried_into_a_rebuild(
    open_index: Open, tmp_path: Path
) -> None:
    """Every search would fail again after it, those by words alone too."""
    index = open_index()
    put(index, "a.md", "one thing\n\n\nanother thing\n")
    fill(index)
    with write_transaction(index.connection):
        index.connection.execute(
            "UPDATE embedding_cache SET embedding = x'00000000' WHERE id = 1"
        )
    with pytest.raises(IndexDamagedError):
        index.view().find_vectors(SPACE, vector("one"), limit=3, also=())

    new = SqliteIndex(str(tmp_path / "new.db"), now=lambda: 0.0)
    put(new, "a.md", "one thing\n\n\nanother thing\n")
    copy_vectors(index.path, new)

    assert new.vector_store().count_pending(SPACE) == 1
    fill(new)
    assert_is_exact(new, "one thing")
    new.close()


def test_a_rebuild_never_replaces_an_index_of_a_newer_version(
    open_index: Open, tmp_path: Path
) -> None:
    """An old server beside a new program: each would undo what the other made."""
    newer = open_index()
    newer.connection.pragma("user_version", SCHEMA_VERSION + 1)
    mine = SqliteIndex(str(tmp_path / "mine.db"), now=lambda: 0.0)

    with pytest.raises(IndexTooNewError):
        replace_index(mine, newer.path)

    assert newer.connection.pragma("user_version") == SCHEMA_VERSION + 1
    mine.close()


def test_vectors_of_an_index_without_blocks_answer_and_are_packed(
    open_index: Open,
) -> None:
    """An index with four steps of the schema has none."""
    index = open_index()
    put(index, "a.md", paragraphs("first", 300))
    fill(index)
    index.connection.execute(
        """
        DROP TRIGGER chunks_vec_deleted;
        DROP TABLE vector_blocks;
        DROP TABLE vector_free;
        DROP INDEX chunks_vec_waiting;
        ALTER TABLE chunks_vec DROP COLUMN slot;
        ALTER TABLE chunks_vec ADD COLUMN serial INTEGER;
        CREATE INDEX chunks_vec_by_serial ON chunks_vec(serial);
        DROP INDEX chunks_vec_in_turn;
        ALTER TABLE spaces DROP COLUMN listed;
        ALTER TABLE files DROP COLUMN tags;
        ALTER TABLE chunks DROP COLUMN tags;
        DROP INDEX files_not_utf8;
        DROP INDEX files_newest;
        DROP INDEX files_counted;
        DROP INDEX files_pending;
        DROP INDEX chunks_by_entry;
        DROP INDEX chunks_of_file;
        ALTER TABLE files DROP COLUMN is_utf8;
        """
    )
    index.connection.pragma("user_version", 4)
    index.close()

    upgraded = open_index()
    assert_is_exact(upgraded, "first says 3")
    upgraded.vector_store().plan(SPACE)

    [(blocks,)] = upgraded.connection.execute("SELECT count(*) FROM vector_blocks")
    assert blocks == 3
    assert_is_exact(upgraded, "first says 3")
    assert_are_consistent(upgraded)


def test_a_large_memory_is_not_sorted_whole(
    open_index: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hivemind_memory.index.sqlite.vectors.FEW", 50)
    index = open_index()
    put(index, "a.md", paragraphs("first", 400))
    fill(index)

    assert_is_exact(index, "first says 3", limit=1)
    assert_is_exact(index, "first says 3", limit=390)


def test_a_caller_who_sees_one_scope_is_answered_from_that_alone(
    open_index: Open,
) -> None:
    """Mean and deviation of the rest would tell of it."""
    index = open_index()
    put(index, "projects/a/n.md", paragraphs("ours", 200))
    put(index, "projects/b/n.md", paragraphs("theirs", 300))
    fill(index)

    access = access_of(Caller(project="projects/a"), frozenset())
    assert_is_exact(index, "ours says 5", access=access)


def test_what_a_rebuild_replaced_is_not_taken_for_the_new(open_index: Open) -> None:
    """Numbers of chunks mean something else after it."""
    index = open_index()
    put(index, "a.md", paragraphs("first", 300))
    fill(index)
    asked = vector("first says 2")
    before = index.view().find_vectors(SPACE, asked, limit=1, also=())
    with write_transaction(index.connection):
        execute = index.connection.execute
        execute("UPDATE meta SET value = 'another' WHERE key = 'made'")
        execute("UPDATE vector_blocks SET codes = zeroblob(length(codes))")

    matches = index.view().find_vectors(SPACE, asked, limit=300, also=())

    assert before is not None
    assert matches is not None
    # Most vectors have become zeros.
    assert matches.background < before.background / 2
    assert len(matches.cosines) == matches.chunk_count == 300


def test_a_vacuum_overwrites_what_blocks_hold_of_deleted_chunks(
    open_index: Open, index_file: Path
) -> None:
    """Of a vector much of its text can be guessed."""
    index = open_index()
    put(index, "a.md", paragraphs("kept", 200))
    put(index, "b.md", paragraphs("purged", 200))
    fill(index)
    codes = {
        quantize(embedding, DIMS)
        for (path, _), embedding in linked(index).values()
        if path == "b.md"
    }
    index.remove([NotePath("b.md")])
    index.close()
    assert any(code in index_file.read_bytes() for code in codes)
    texts = [f"## part {n}\n\npurged says {n}" for n in range(200)]

    hashes = [text_hash(text) for text in texts]
    vacuum(str(index_file), hashes, since_s=inf, probes=(), wait_s=1)

    left = b"".join(
        file.read_bytes() for file in index_file.parent.glob(f"{index_file.name}*")
    )
    assert not any(code in left for code in codes)
    again = open_index()
    assert_is_exact(again, "kept says 9")
    assert_are_consistent(again)


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=400))
def test_a_small_copy_has_nearly_the_cosines_of_the_vector(
    numbers: list[float],
) -> None:
    if not any(abs(number) > 1e-3 for number in numbers):
        return
    exact = pack(numbers)

    code = quantize(exact, len(numbers))

    numbers_of_code = memoryview(code).cast("b").tolist()
    cosine = math.fsum(
        a * b for a, b in zip(numbers_of_code, unpack(exact), strict=True)
    )
    assert cosine / math.hypot(*numbers_of_code) > 0.99


@pytest.mark.parametrize(
    "spoilt",
    [b"\xff" * 256, bytes(256), pack([1.0] * 64)[:-4] + b"\0\0\x80\x7f", b"abc"],
)
def test_a_vector_that_the_disk_spoilt_becomes_zeros(spoilt: bytes) -> None:
    assert quantize(spoilt, 64) == bytes(64)


def test_a_search_with_vectors_loads_no_numpy(tmp_path: Path) -> None:
    """It takes 0.1 s and 25 MB."""
    program = f"""
import json, sys, time
from hivemind_memory.index.sqlite.index import SqliteIndex
from tests.index.steps import SPACE, fill, put, vector
index = SqliteIndex({str(tmp_path / "memory.db")!r}, now=time.time)
put(index, "a.md", "one thing\\n")
fill(index)
assert index.view().find_vectors(SPACE, vector("one thing"), limit=1, also=())
print(json.dumps(sorted(sys.modules)))
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    loaded = json.loads(result.stdout)
    assert "simsimd" in loaded
    assert "numpy" not in loaded
