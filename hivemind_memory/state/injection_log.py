"""The injection log: what was injected when, into which file, and why.

A table of ``state.db``. A record holds places and figures, never the text of a memory;
the paths in it are made from keys, and a purge renames those. Earlier versions
kept the log in ``injections.jsonl``: that file is read in once and then removed.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.model.injection_outcomes import BEGUN, UNCHANGED
from hivemind_memory.sqlite.connection import synced_transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    import apsw

    from hivemind_memory.state.state_file import StateFile

    Record = dict[str, Any]
    T = TypeVar("T")


OLD_FILES = ("injections.jsonl.old", "injections.jsonl")
"""What earlier versions wrote beside ``state.db``, the oldest first."""

MAX_RECORDS = 10_000
"""Kept in all; older ones are deleted."""

MEMORY_LISTS = ("memories", "left_out", "briefing")
"""Names of the lists of memories in a record."""

_WAIT_MS = 5_000

_BEGUN = 2
"""Value of ``is_whole``: the section may have been written, or not."""


class InjectionLog:
    """The injection log of one notes folder."""

    def __init__(self, state: StateFile) -> None:
        self._state = state
        folder = os.path.dirname(state.path)
        self._old_files = [os.path.join(folder, name) for name in OLD_FILES]

    def append(self, record: Record, *, ends: str = "") -> None:
        """Add a record.

        Args:
            record: About an injection that begins or has ended.
            ends: File of those in its worktree that began and have ended with this one.

        Raises:
            StateUnusableError: It was not added.
        """

        def insert(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                if ends:
                    self._delete_begun(connection, record["worktree"], ends)
                _insert(connection, record, self._state.notes)
                connection.execute(
                    "DELETE FROM injections WHERE id <= ?",
                    (connection.last_insert_rowid() - MAX_RECORDS,),
                )

        self._run(insert)

    def drop_begun(self, worktree: str, file: str) -> None:
        """Delete what says that a section was begun in a file: none was written.

        Raises:
            StateUnusableError: It was not deleted.
        """

        def delete(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                self._delete_begun(connection, worktree, file)

        self._run(delete)

    def _delete_begun(
        self, connection: apsw.Connection, worktree: str, file: str
    ) -> None:
        """Delete the records of injections into a file that began."""
        connection.execute(
            "DELETE FROM injections"
            " WHERE worktree = ? AND file = ? AND notes = ? AND is_whole = ?",
            (worktree, file, self._state.notes, _BEGUN),
        )

    def last_records(self, worktree: str) -> list[Record]:
        """Return the newest record about each file of a worktree, newest first.

        A record names its memories. When a section was left as it was later on,
        ``seen_at`` says when; ``begun_at`` says when another was begun, if it is not
        known what became of it.

        Raises:
            StateUnusableError: The log cannot be read.
        """

        def find(connection: apsw.Connection) -> list[Record]:
            newest = connection.execute(
                """
                SELECT max(id) FILTER (WHERE is_whole = 1),
                  max(id) FILTER (WHERE is_whole < ?1),
                  -- 0: what was begun last has ended
                  iif(max(id) FILTER (WHERE is_whole < ?1) IS max(id), 0, max(id))
                FROM injections
                WHERE worktree = ?2 AND notes = ?3 GROUP BY file ORDER BY max(id) DESC
                """,
                (_BEGUN, worktree, self._state.notes),
            ).fetchall()

            def at(row_id: object) -> str:
                return str(_record(connection, row_id).get("at", ""))

            return [
                {
                    **_record(connection, whole or begun),
                    "seen_at": at(last) if last != whole else "",
                    "begun_at": at(begun) if begun else "",
                }
                for whole, last, begun in newest
                if whole or begun
            ]

        return self._run(find) if self._exists() else []

    def files_of_others(self, worktree: str, *, counts_begun: bool = False) -> set[str]:
        """Return the files of a worktree whose newest section is of other notes.

        Args:
            worktree: The worktree.
            counts_begun: A section that was begun with these notes counts as written.

        Raises:
            StateUnusableError: The log cannot be read.
        """
        # SQLite takes the other column from the row with the largest id.
        sql = (
            "SELECT file, notes, max(id) FROM injections"
            " WHERE worktree = ? AND (is_whole < ? OR (? AND notes = ?)) GROUP BY file"
        )
        given = (worktree, _BEGUN, counts_begun, self._state.notes)
        rows = (
            self._run(lambda c: c.execute(sql, given).fetchall())
            if self._exists()
            else ()
        )
        return {
            str(file) for file, notes, _ in rows if file and notes != self._state.notes
        }

    def records(self) -> list[Record]:
        """Return every record, the oldest first.

        Raises:
            StateUnusableError: The log cannot be read.
        """
        if not self._exists():
            return []  # nothing is made for a query
        sql = "SELECT record FROM injections WHERE notes = ? ORDER BY id"
        rows = self._run(lambda c: c.execute(sql, (self._state.notes,)).fetchall())
        return [json.loads(str(text)) for (text,) in rows]

    def worktrees(self) -> list[str]:
        """Return the worktrees that something was injected into, the newest first.

        Raises:
            StateUnusableError: The log cannot be read.
        """
        if not self._exists():
            return []
        sql = (
            "SELECT worktree FROM injections WHERE notes = ? GROUP BY worktree"
            " ORDER BY max(id) DESC"
        )
        rows = self._run(lambda c: c.execute(sql, (self._state.notes,)).fetchall())
        return [str(worktree) for (worktree,) in rows]

    def newest_naming(self, path: str) -> list[Record]:
        """Return the newest record about each file, of those that name a note.

        Raises:
            StateUnusableError: The log cannot be read.
        """
        if not self._exists():
            return []
        sql = """
            SELECT record FROM injections WHERE instr(record, ?) AND id IN (
              SELECT max(id) FROM injections WHERE notes = ? AND is_whole = 1
              GROUP BY worktree, file
            ) ORDER BY id DESC
            """
        given = (_as_json({"path": path})[1:-1], self._state.notes)
        rows = self._run(lambda c: c.execute(sql, given).fetchall())
        return [json.loads(str(text)) for (text,) in rows]

    def rewrite(self, change: Callable[[Record], Record]) -> int:
        """Replace records by what *change* makes of them; return how many differ.

        Raises:
            StateUnusableError: None was replaced.
        """
        if not self._exists():
            return 0

        def replace(connection: apsw.Connection) -> int:
            count = 0
            with synced_transaction(connection):
                # Read within it: else what another process writes now is undone.
                rows = connection.execute(
                    "SELECT id, record FROM injections WHERE notes = ?",
                    (self._state.notes,),
                ).fetchall()
                for row_id, text in rows:
                    before = json.loads(str(text))
                    after = change(before)
                    if after != before:
                        connection.execute(
                            "UPDATE injections SET record = ? WHERE id = ?",
                            (_as_json(after), row_id),
                        )
                        count += 1
            return count

        return self._run(replace)

    def rename(self, new_path: Callable[[str], str]) -> None:
        """Give memories the new paths of their notes.

        Raises:
            StateUnusableError: None was renamed.
        """

        def moved(record: object) -> object:
            if isinstance(record, dict) and isinstance(record.get("path"), str):
                return {**record, "path": new_path(record["path"])}
            return record

        def renamed(record: Record) -> Record:
            lists = {name: record.get(name) for name in MEMORY_LISTS}
            found = {
                name: values
                for name, values in lists.items()
                if isinstance(values, list)
            }
            if isinstance(scopes := record.get("scopes"), list):
                found["scopes"] = sorted(map(new_path, scopes))
            return {
                **record,
                **{n: list(map(moved, values)) for n, values in found.items()},
            }

        self.rewrite(renamed)

    def _exists(self) -> bool:
        """Return whether anything was ever logged, or counted, in this home."""
        return any(map(os.path.exists, (self._state.path, *self._old_files)))

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return what *work* returns for the open file; first import the old log."""

        def run(connection: apsw.Connection) -> T:
            if any(map(os.path.exists, self._old_files)):
                self._take_in(connection)
            return work(connection)

        return self._state.run(run, _WAIT_MS)

    def _take_in(self, connection: apsw.Connection) -> None:
        """Read the old log in and remove it.

        A process that is killed between the two leaves a mark, so that the next one
        does not read the same file again.
        """
        for path in self._old_files:
            with synced_transaction(connection):
                mark = _mark_of(path)
                if mark is None:
                    continue  # another process was faster
                key = f"took_in:{os.path.basename(path)}"
                [(known,)] = connection.execute(
                    "SELECT max(value) FROM meta WHERE key = ?", (key,)
                )
                if known != mark:
                    for record in _old_records(path):
                        _insert(connection, record, "")
                    connection.execute(
                        "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)",
                        (key, mark),
                    )
            with suppress(OSError):
                os.unlink(path)


def _insert(connection: apsw.Connection, record: Record, notes: str) -> None:
    """Add one record about the notes of a folder."""
    is_whole = int(record.get("outcome") != UNCHANGED or "memories" in record)
    connection.execute(
        "INSERT INTO injections(worktree, file, is_whole, record, notes)"
        " VALUES (?, ?, ?, ?, ?)",
        (
            *(str(record.get(name, "")) for name in ("worktree", "file")),
            _BEGUN if record.get("outcome") == BEGUN else is_whole,
            _as_json(record),
            notes,
        ),
    )


def _record(connection: apsw.Connection, row_id: object) -> Record:
    """Return one record."""
    [(text,)] = connection.execute(
        "SELECT record FROM injections WHERE id = ?", (int(str(row_id)),)
    )
    found: Record = json.loads(str(text))
    return found


def _as_json(record: Record) -> str:
    """Return a record as it is kept."""
    return json.dumps(record, separators=(",", ":"))


def _mark_of(path: str) -> str | None:
    """Return what distinguishes one old file from another; None: there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"


def _old_records(path: str) -> Iterator[Record]:
    """Yield the records of an old file; torn lines are skipped."""
    with open(path, "rb", opener=open_regular) as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record
