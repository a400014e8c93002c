"""The numbered steps of the schema, and who may open what."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import apsw
import pytest

from hivemind_memory.errors import IndexTooNewError, IndexUnusableError
from hivemind_memory.index.sqlite import schema
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.latest_schema import LATEST_SCHEMA
from hivemind_memory.model.trust import shown_source
from hivemind_memory.sqlite import connection
from tests.index.conftest import Open, found, put
from tests.support.tables import tables_of


def set_version(index_file: Path, version: int) -> None:
    with apsw.Connection(str(index_file)) as raw:
        raw.pragma("user_version", version)
    raw.close()


def test_a_new_file_has_the_tables_that_the_steps_make() -> None:
    assert tables_of([LATEST_SCHEMA]) == tables_of([sql for sql, _ in schema._STEPS])


def test_a_newer_schema_is_refused_and_nothing_is_touched(
    open_index: Open, index_file: Path
) -> None:
    """A newer program made it: this one would read it wrongly and write worse."""
    put(open_index(), "# Kept\n")
    set_version(index_file, schema.SCHEMA_VERSION + 1)
    before = index_file.read_bytes()

    with pytest.raises(IndexTooNewError) as refusal:
        open_index()

    assert "upgrade" in refusal.value.hint
    assert index_file.read_bytes() == before


def test_a_step_that_fails_leaves_the_file_as_it_was(
    index_file: Path, open_index: Open
) -> None:
    """Killed in the middle of an upgrade, the next start does the whole step."""
    put(open_index(), "# Kept\n")
    half = ("CREATE TABLE extra(x); SELECT no_such_function();", True)

    with (
        mock.patch.object(schema, "_STEPS", (*schema._STEPS, half)),
        mock.patch.object(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1),
        pytest.raises(IndexUnusableError),
    ):
        SqliteIndex(str(index_file), now=lambda: 0.0)

    again = open_index()
    tables = again.connection.execute("SELECT name FROM sqlite_schema")
    assert "extra" not in {name for (name,) in tables}
    assert found(again, "kept") == ["note.md"]


@pytest.mark.parametrize("rereads", [True, False])
def test_a_step_says_whether_notes_are_read_again(
    open_index: Open, *, rereads: bool
) -> None:
    """Only what changes the derived rows is worth reading every note."""
    put(open_index(), "# Kept\n")
    step = ("CREATE TABLE extra(x)", rereads)

    with (
        mock.patch.object(schema, "_STEPS", (*schema._STEPS, step)),
        mock.patch.object(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1),
    ):
        upgraded = open_index()

    assert bool(upgraded.files().unsettled) is rereads
    indexed = upgraded.notes_at(list(upgraded.files().signatures))
    assert ([note.digest for note in indexed.values()] == [""]) is rereads


def test_an_older_sqlite_is_refused(index_file: Path) -> None:
    """Its full-text index has defects that ours would inherit."""
    with (
        mock.patch.object(connection, "MINIMUM_SQLITE", 9_000_000),
        pytest.raises(IndexUnusableError, match="older"),
    ):
        SqliteIndex(str(index_file), now=lambda: 0.0)


def test_two_indexes_tell_each_other_apart(tmp_path: Path) -> None:
    """One may take the place of the other, with the same numbers for other chunks."""
    indexes = [
        SqliteIndex(str(tmp_path / name), now=lambda: 0.0) for name in ("a.db", "b.db")
    ]

    made = [index.get_meta("made") for index in indexes]

    assert made[0] != made[1]
    for index in indexes:
        index.close()


def test_an_index_with_the_old_column_names_keeps_its_rows(
    index_file: Path, open_index: Open
) -> None:
    """No note is read again for a name: words are found as before."""
    old = apsw.Connection(str(index_file))
    for sql, _ in schema._STEPS[:2]:
        old.execute(sql)
    old.pragma("user_version", 2)
    old.execute(
        """
        INSERT INTO files(id, path, mtime, ctime, size, inode, is_settled, hash,
          chunk_count, state, standing)
        VALUES (1, 'note.md', 1, 1, 1, 1, 1, 'x', 1, 0, 1);
        INSERT INTO chunks(file_id, start_line, end_line, headings, text, extra, trail,
          units)
        VALUES (1, 1, 1, 'Kettles', 'They whistle.', '', 'note Kettles', x'');
        """
    )
    old.close()

    with (
        mock.patch.object(schema, "_STEPS", schema._STEPS[:3]),
        mock.patch.object(schema, "SCHEMA_VERSION", 3),
    ):
        open_index().close()
    raw = apsw.Connection(str(index_file))
    statuses = raw.execute("SELECT status, is_settled FROM files").fetchall()
    raw.close()
    index = open_index()

    assert statuses == [(1, 1)]
    assert found(index, "whistle") == found(index, "kettles") == ["note.md"]


def test_an_older_index_learns_which_sources_are_untrusted(
    index_file: Path, open_index: Open
) -> None:
    """Its rows are as those of notes that are indexed now; none is read again."""
    sources = ("https://moon.example", "External", "TOOL", "human", None)
    old = apsw.Connection(str(index_file))
    for sql, _ in schema._STEPS[:9]:
        old.execute(sql)
    old.pragma("user_version", 9)
    for number, source in enumerate(sources):
        old.execute(
            """
            INSERT INTO files(id, path, mtime, ctime, size, inode, is_settled, hash,
              chunk_count, state, source)
            VALUES ($number, $number || '.md', 1, 1, 1, 1, 1, 'x', 1, 0, $source);
            INSERT INTO chunks(file_id, start_line, end_line, headings, text, extra,
              breadcrumbs, subchunks, source)
            VALUES ($number, 1, 1, '', 'Cheese.', '', '', x'', $source);
            """,
            {"number": number, "source": source},
        )
    old.close()

    index = open_index()

    shown = [shown_source(source) or None for source in sources]
    for table, number in (("files", "id"), ("chunks", "file_id")):
        sql = f"SELECT source FROM {table} ORDER BY {number}"
        assert [source for (source,) in index.connection.execute(sql)] == shown
    assert not index.files().unsettled
