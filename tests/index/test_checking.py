"""Damage is found: in the file, in the links, in the postings."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hivemind_memory.index.sqlite.check import postings_problem
from hivemind_memory.index.sqlite.index import SqliteIndex
from tests.index.conftest import Open, put


def checked(index: SqliteIndex) -> dict[str, str]:
    return dict(index.check())


def test_a_sound_index_has_no_problem(index: SqliteIndex) -> None:
    """Or people learn to look away."""
    put(index, "# Kept\n\n- one\n- two\n")

    assert set(checked(index).values()) == {""}


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE chunks SET text = 'something else'",
        "UPDATE chunks SET breadcrumbs = 'others'",
        "UPDATE chunks SET extra = 'more'",
        "INSERT INTO chunks_fts(rowid, body) VALUES (99, 'x')",
        (
            "INSERT INTO chunks_fts(chunks_fts, rowid, body, extra, breadcrumbs) "
            "SELECT 'delete', id, body, extra, breadcrumbs FROM chunk_words"
        ),
    ],
    ids=["text", "breadcrumbs", "extra", "added", "taken"],
)
def test_postings_that_do_not_fit_the_chunks_are_found(
    index: SqliteIndex, sql: str
) -> None:
    """The inner check of the engine would see none of these."""
    put(index, "# Kept\n\nsome words\n")
    assert postings_problem(index.connection) == ""

    index.connection.execute(sql)

    assert "do not match" in postings_problem(index.connection)


def test_rows_that_point_at_nothing_are_found(index: SqliteIndex) -> None:
    """Some other program wrote to the file."""
    put(index, "# Kept\n")
    index.connection.execute("PRAGMA foreign_keys = OFF")
    index.connection.execute("DELETE FROM files")

    assert checked(index)["index links"] == "1 row points at nothing"


def test_a_wrong_number_of_chunks_is_found(index: SqliteIndex) -> None:
    """Lists and `hm status` read it."""
    put(index, "# Kept\n")
    index.connection.execute("UPDATE files SET chunk_count = 7")

    assert "another number of chunks" in checked(index)["index links"]


def test_a_damaged_page_is_found(open_index: Open, index_file: Path) -> None:
    """Whatever damaged it: it is said, not raised."""
    index = open_index()
    put(index, "\n\n\n".join(f"part {n} of many words" for n in range(500)))
    index.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    index.close()
    data = bytearray(index_file.read_bytes())
    data[8192:12288] = b"\xff" * 4096
    index_file.write_bytes(data)

    again = open_index()

    assert any(checked(again).values())


def test_a_check_while_another_writes_is_busy_and_not_damage(
    open_index: Open, index_file: Path
) -> None:
    """Busy is never corruption."""
    index = open_index()
    put(index, "# Kept\n")
    index.connection.set_busy_timeout(10)
    other = apsw.Connection(str(index_file))
    other.execute("BEGIN IMMEDIATE")

    said = checked(index)

    other.execute("ROLLBACK")
    other.close()
    assert "do not match" not in said["full-text index"]
    assert "locked" in said["full-text index"]
