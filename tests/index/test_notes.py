"""Notes go in and out whole, in short steps, and keep what did not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.errors import IndexBusyError, IndexUnusableError
from hivemind_memory.index.sqlite import notes
from hivemind_memory.index.sqlite.chunk_changes import compare_chunks
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.lock import index_lock
from hivemind_memory.index.sqlite.rows import rows_of
from hivemind_memory.index.sqlite.swap import replace_index
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.sqlite import connection
from tests.index.conftest import Open, chunk_ids, found, note_of, put
from tests.support.tiers import examples

STEP = 5


@pytest.fixture(autouse=True)
def _short_steps() -> Iterator[None]:
    """A note of six chunks is a large one."""
    with mock.patch.object(notes, "STEP_CHUNKS", STEP):
        yield


def text_of(*parts: str) -> str:
    """Return a note whose chunks are these parts."""
    return "\n\n\n".join(parts) + "\n"


LARGE_OLD = text_of(*(f"old part {n}" for n in range(12)))
LARGE_NEW = text_of(*(f"new part {n}" for n in range(12)))


def problems(index: SqliteIndex) -> list[str]:
    return [f"{name}: {said}" for name, said in index.check() if said]


def test_chunks_that_did_not_change_keep_their_number(index: SqliteIndex) -> None:
    """And so their vectors, which cost money."""
    put(index, text_of("one", "two", "three"))
    before = chunk_ids(index)

    written = put(index, text_of("zero", "one", "two changed", "three"))

    after = chunk_ids(index)
    assert written == 2
    assert (after["one"], after["three"]) == (before["one"], before["three"])
    assert after["two changed"] not in before.values()


def test_what_a_note_grows_by_is_all_that_is_looked_up(index: SqliteIndex) -> None:
    """All its chunks were hashed for each entry: a third of an append to 1 MB."""
    hashed: list[tuple[object, ...]] = []

    class Row(tuple[object, ...]):
        __slots__ = ()

        def __hash__(self) -> int:
            hashed.append(tuple(self))
            return hash(tuple(self))

    put(index, text_of(*(f"part {n}" for n in range(9))))
    grown = note_of(text_of(*(f"part {n}" for n in range(10))), "note.md")
    rows = [
        placed._replace(row=Row(placed.row))  # type: ignore[arg-type]
        for placed in rows_of(grown, index._tokens_of)
    ]
    sql = "SELECT id FROM files WHERE path = 'note.md'"
    [(file_id,)] = index.connection.execute(sql).fetchall()

    changes = compare_chunks(index.connection, file_id, rows)

    # Its last chunk has more blank lines than before.
    assert changes.new == rows[8:]
    assert (len(changes.moved), len(changes.gone)) == (0, 1)
    assert hashed == [tuple(placed.row) for placed in rows[8:]]


def test_a_chunk_that_moved_has_its_new_lines(index: SqliteIndex) -> None:
    """A citation has to point at what it cites."""
    put(index, text_of("one", "two"))

    put(index, text_of("zero", "one", "two"))

    lines = dict(index.connection.execute("SELECT text, start_line FROM chunks"))
    assert {text.strip(): line for text, line in lines.items()} == {
        "zero": 1,
        "one": 4,
        "two": 7,
    }


parts = st.lists(st.sampled_from(["one", "two", "- a\n- b", "# H\nx"]), max_size=9)


@settings(max_examples=examples(60), deadline=None)
@given(before=parts, after=parts)
def test_after_any_change_the_rows_are_those_of_the_new_text(
    before: list[str], after: list[str]
) -> None:
    """Equal chunks, small notes that grow large and back: the rows do not tell."""
    rows = []
    for history in ([before, after], [after]):
        index = SqliteIndex(":memory:", now=lambda: 0.0)
        for state in history:
            put(index, text_of(*state))
        rows.append(
            list(
                index.connection.execute(
                    "SELECT start_line, end_line, headings, text, breadcrumbs, "
                    "subchunks FROM chunks ORDER BY start_line, end_line"
                )
            )
        )
        assert problems(index) == []
        assert not index.has_unfinished()
        index.close()

    assert rows[0] == rows[1]


def test_equal_chunks_of_one_note_are_kept_apart(index: SqliteIndex) -> None:
    """A list of five equal lines is five chunks, whichever of them goes."""
    put(index, text_of("same", "same", "same"))

    written = put(index, text_of("same", "same"))

    ids = [number for (number,) in index.connection.execute("SELECT id FROM chunks")]
    assert written == 0
    assert len(ids) == 2


def test_a_large_note_is_never_seen_half(open_index: Open) -> None:
    """Its old self answers until the new one is whole."""
    writer, reader = open_index(), open_index()
    put(writer, LARGE_OLD)
    seen: list[Counter[str]] = []
    original = notes.insert_chunks

    def insert(*given: Any) -> None:
        original(*given)
        seen.append(
            Counter(old=len(found(reader, "old")), new=len(found(reader, "new")))
        )

    with mock.patch.object(notes, "insert_chunks", insert):
        put(writer, LARGE_NEW)

    assert seen
    assert all(counts == Counter(old=12, new=0) for counts in seen)
    assert (found(reader, "old"), len(found(reader, "new"))) == ([], 12)


class Killed(BaseException):
    """Nobody catches this."""


def leave_half(index: SqliteIndex) -> None:
    """Be killed after the first step of a large note."""
    original = notes.insert_chunks
    calls = iter(range(100))

    def insert(*given: Any) -> None:
        if next(calls):
            raise Killed
        original(*given)

    with mock.patch.object(notes, "insert_chunks", insert), pytest.raises(Killed):
        put(index, LARGE_NEW)


def test_what_a_killed_writer_staged_is_swept(open_index: Open) -> None:
    """It would count in every statistic of words, and be embedded for money."""
    index = open_index()
    put(index, LARGE_OLD)
    leave_half(index)
    other = open_index()
    assert other.has_unfinished()

    other.sweep()

    assert not other.has_unfinished()
    assert len(found(other, "old")) == 12
    assert len(chunk_ids(other)) == 12
    assert problems(other) == []


def test_a_writer_at_work_is_not_swept(open_index: Open, index_file: Path) -> None:
    """What it has staged looks like what a killed one left."""
    index = open_index()
    leave_half(index)

    with index_lock(str(index_file)):
        open_index().sweep()

    assert index.has_unfinished()


def test_the_next_writer_of_a_large_note_sweeps_too(open_index: Open) -> None:
    """It holds the file anyway."""
    leave_half(open_index())

    put(open_index(), LARGE_OLD)

    assert len(chunk_ids(open_index())) == 12
    assert not open_index().has_unfinished()


def test_a_removed_note_is_hidden_at_once(open_index: Open) -> None:
    """Whatever its size: its rows go in short steps afterwards."""
    writer, reader = open_index(), open_index()
    put(writer, LARGE_OLD)
    original = notes._delete_in_steps
    seen = []

    def delete(*given: Any) -> None:
        seen.append(found(reader, "old"))
        original(*given)

    with mock.patch.object(notes, "_delete_in_steps", delete):
        writer.remove([NotePath("note.md")])

    assert seen == [[]]
    assert chunk_ids(reader) == {}


def test_a_sweep_leaves_the_note_that_got_the_number_of_a_swept_one(
    open_index: Open,
) -> None:
    """Two processes sweep the same note; one of them then indexes a new one."""
    slow, fast = open_index(), open_index()
    put(slow, LARGE_OLD)
    original = notes._delete_in_steps

    def delete(*given: Any) -> None:
        with mock.patch.object(notes, "_delete_in_steps", original):
            fast.sweep()
            put(fast, "newer\n")
        original(*given)

    with mock.patch.object(notes, "_delete_in_steps", delete):
        slow.remove([NotePath("note.md")])

    assert found(fast, "newer") == ["note.md"]
    assert problems(fast) == []


def test_an_index_that_another_process_keeps_is_busy(
    index_file: Path, open_index: Open
) -> None:
    """After the timeout the error says so, and that the notes are untouched."""
    with mock.patch.object(connection, "BUSY_TIMEOUT_MS", 20):
        index = open_index()
    other = apsw.Connection(str(index_file))
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(IndexBusyError, match="untouched"):
        put(index, "text")

    other.close()
    assert put(index, "text") == 1


def test_reading_does_not_wait_for_a_writer(index_file: Path, open_index: Open) -> None:
    """A search in the midst of a first index answers from what is there."""
    index = open_index()
    put(index, "# Kept\n")
    other = apsw.Connection(str(index_file))
    other.execute("BEGIN IMMEDIATE")

    assert found(index, "kept") == ["note.md"]

    other.close()


def test_one_snapshot_sees_one_state(open_index: Open) -> None:
    """What a search found must still be there when it reads its text."""
    writer, reader = open_index(), open_index()
    put(writer, "# Kept\n")

    with reader.snapshot():
        ids = list(chunk_ids(reader).values())
        put(writer, "# Other\n")
        texts = reader.texts(ids)

    assert [text for text, _ in texts.values()] == ["# Kept"]
    assert found(reader, "kept") == []


def test_the_id_in_the_name_of_a_replaced_memory_does_not_weigh() -> None:
    """Chance has mixed its letters and digits: each seam would be one more token."""
    names = ("superseded/day", "superseded/day--01M80JBHRKPTRHKEJQQCVB56P4")

    breadcrumbs_of = [
        [
            row.row.breadcrumbs
            for row in rows_of(
                parse_note(NotePath(f"{name}.md"), b"x", limit_chars=800), str.split
            )
        ]
        for name in names
    ]

    assert breadcrumbs_of[0] == breadcrumbs_of[1] != []


def test_a_large_note_that_grew_has_only_its_new_chunks_written(
    open_index: Open,
) -> None:
    """Agents append to the note of the day, which is large in the evening."""
    index = open_index()
    put(index, LARGE_OLD)
    before = chunk_ids(index)

    written = put(index, LARGE_OLD + "\n\n" + "one more\n")

    # The blank lines below the last part belong to its chunk.
    assert written == 2
    assert len(set(before.values()) & set(chunk_ids(index).values())) == 11
    assert not problems(index)


def test_a_large_note_that_another_process_has_just_written_is_written_whole(
    open_index: Open,
) -> None:
    """What was compared with it is no longer what the index holds."""
    index, other = open_index(), open_index()
    put(index, LARGE_OLD)
    original = notes.compare_chunks
    meanwhile = [text_of("replaced meanwhile")]

    def compare(connection: apsw.Connection, *given: Any) -> Any:
        changes = original(connection, *given)
        if connection is index.connection and meanwhile:
            put(other, meanwhile.pop())
        return changes

    with mock.patch.object(notes, "compare_chunks", compare):
        put(index, LARGE_OLD + "\n\n" + "one more\n")

    assert len(found(index, "old")) == 12
    assert found(index, "meanwhile") == []
    assert not problems(index)


def test_a_large_note_whose_chunks_a_rebuild_numbers_anew_is_compared_again(
    open_index: Open, index_file: Path, tmp_path: Path
) -> None:
    """Number, signature and digest of the note stay; its chunks are other rows.

    Chunks of other notes were deleted, and the answers called themselves fresh.
    """
    index = open_index()
    put(index, "heron\n", "other.md")
    put(index, LARGE_OLD)
    rebuilt = SqliteIndex(str(tmp_path / "rebuilt.db"), now=lambda: 0.0)
    for number in range(4):
        put(rebuilt, text_of(*(f"older {number} {n}" for n in range(3))), "other.md")
    put(rebuilt, "heron\n", "other.md")
    put(rebuilt, LARGE_OLD)
    original = notes.compare_chunks
    swaps = [rebuilt]

    def compare(connection: apsw.Connection, *given: Any) -> Any:
        changes = original(connection, *given)
        if connection is index.connection and swaps:
            swap.append(swaps.pop())
        return changes

    swap: list[SqliteIndex] = []
    real = notes.notes_transaction

    def begin(connection: apsw.Connection) -> Any:
        if swap:
            replace_index(swap.pop(), str(index_file))
        return real(connection)

    with (
        mock.patch.object(notes, "compare_chunks", compare),
        mock.patch.object(notes, "notes_transaction", begin),
    ):
        put(index, LARGE_OLD.replace("old part 3", "another part 3"))

    assert found(index, "heron") == ["other.md"]
    assert found(index, "another") == ["note.md"]
    assert len(chunk_ids(index)) == 13
    assert not problems(index)
    rebuilt.close()


def test_a_write_that_cannot_begin_leaves_no_lock(open_index: Open) -> None:
    """Every other process would wait for this one to end."""
    index, other = open_index(), open_index()
    index.set_meta("scan", "x")
    index.connection.execute(
        "CREATE TRIGGER broken BEFORE DELETE ON meta"
        " BEGIN SELECT RAISE(ABORT, 'disk error'); END"
    )

    with pytest.raises(IndexUnusableError):
        put(index, "heron\n")

    assert not index.connection.in_transaction
    other.set_meta("key", "value")


def test_the_chunks_of_a_batch_go_into_the_index_in_one_statement(
    index: SqliteIndex,
) -> None:
    """At each statement the full-text table writes what it has as its own segment.

    One for each chunk, merged later, was half of what a first sync spent in SQLite.
    """
    put(index, "one\n")
    statements: list[str] = []

    def trace(_: object, sql: str, __: object) -> bool:
        statements.append(" ".join(sql.split("(", maxsplit=1)[0].split()))
        return True

    index.connection.exec_trace = trace
    put(index, text_of("two", "three", "four", "five"))
    put(index, "six\n")
    index.connection.exec_trace = None

    assert statements.count("INSERT INTO chunks") == 2
    assert sum("DELETE FROM chunks" in sql for sql in statements) == 2
    assert problems(index) == []
