"""Lists memories and notes a part at a time, and counts them.

Each answer reads what it shows, however much there is: an index in the order of the
list gives the part, and one of what is counted by gives the numbers.
"""

from __future__ import annotations

import json

from hivemind_memory.index.sqlite.memories import COLUMNS, find_end
from hivemind_memory.model.dispute_order import is_newer
from hivemind_memory.model.memories import (
    ACTIVE,
    CONTRADICTS,
    FORGOTTEN,
    PENDING,
    STATUSES,
    SUPERSEDED,
    Dispute,
    MemoryRow,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.memory_header import last_done_day
from hivemind_memory.sqlite.connection import select_int, translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import apsw

    from hivemind_memory.model.listing import NoteRow, RowFilter

    Cached = Callable[[str, Callable[[], Any]], Any]

_TYPED = "state = 0 AND type IS NOT NULL"
_IS_MEMORY = "(type IS NOT NULL OR memory_id IS NOT NULL)"
_MEMORIES = f"state = 0 AND {_IS_MEMORY}"
_SHOWN = f"state = 0 AND NOT (status = {FORGOTTEN} AND {_IS_MEMORY})"
"""Notes that a list shows: free text is never forgotten as a whole."""

_FIELDS = {
    "scope": "scope",
    "type": "coalesce(type, '')",
    "status": "status",
    "source": "coalesce(source, '')",
    "day": "substr(coalesce(created, ''), 1, 10)",
}
_FOLDER = "rtrim(path, replace(path, '/', ''))"
"""The folder of a path, with its slash: all but the characters of the last name."""


class SqliteLists:
    """Lists and counts; see the port ``ListSource``."""

    __slots__ = ("_cached", "_connection", "_path")

    def __init__(self, connection: apsw.Connection, path: str, cached: Cached) -> None:
        """Take the parts of an open index.

        Args:
            connection: Where it is read.
            path: Its file, for errors.
            cached: Keeps a value until the index changes.
        """
        self._connection = connection
        self._path = path
        self._cached = cached

    def memory_page(
        self, wanted: RowFilter, *, offset: int = 0, limit: int | None = None
    ) -> tuple[list[MemoryRow], int]:
        """Return some of the typed memories that fit, and how many do; see the port."""
        where, values = _where(wanted)
        fitting = f"FROM files WHERE {_TYPED}{where}"
        # Forgetting is the last change of a note, and its file tells when that was.
        is_forgotten = wanted.statuses == (STATUSES[FORGOTTEN],)
        newest = "mtime" if is_forgotten else "created"
        order = f"ORDER BY {newest} DESC, path DESC LIMIT ? OFFSET ?"
        # In one statement, so that the list and its number are of one moment.
        sql = f"SELECT {COLUMNS}, (SELECT count(*) {fitting}) {fitting} {order}"
        numbers = (-1 if limit is None else limit, offset)
        with translated_errors(self._path):
            rows = self._connection.execute(
                sql, (*values, *values, *numbers)
            ).fetchall()
            if not rows:
                count = f"SELECT count(*) {fitting}"
                return [], select_int(self._connection, count, *values)
        found = [MemoryRow._make(row[:-1]) for row in rows]
        return found, int(str(rows[0][-1]))

    def count_memories(
        self, *fields: str, scopes: frozenset[str] | None
    ) -> dict[tuple[Any, ...], int]:
        """Return the values of some fields -> how many memories have them."""
        columns = ", ".join(_FIELDS[field] for field in fields)
        places, values = _in_scopes(scopes)
        sql = f"""
            SELECT {columns}, count(*) FROM files WHERE {_MEMORIES}{places}
            GROUP BY {", ".join(map(str, range(1, len(fields) + 1)))}
        """
        with translated_errors(self._path):
            rows = self._connection.execute(sql, values)
            return {tuple(row[:-1]): row[-1] for row in rows}

    def count_types(self, wanted: RowFilter) -> dict[str, int]:
        """Return how many memories of each type fit; see the port."""
        where, values = _where(wanted)
        sql = f"SELECT type, count(*) FROM files WHERE {_TYPED}{where} GROUP BY 1"
        with translated_errors(self._path):
            return dict(self._connection.execute(sql, values))

    def count_by_folder(self, scopes: frozenset[str] | None) -> dict[str, int]:
        """Return folder -> how many notes lie in it, not below it."""
        places, values = _in_scopes(scopes)
        sql = f"""
            SELECT {_FOLDER}, count(*) FROM files WHERE {_SHOWN}{places} GROUP BY 1
        """
        return dict(
            self._cached(
                f"folders of {sorted(scopes) if scopes is not None else 'all'}",
                lambda: {
                    str(folder).removesuffix("/"): count
                    for folder, count in self._connection.execute(sql, values)
                },
            )
        )

    def notes_in(
        self, folder: str, scopes: frozenset[str] | None, limit: int, offset: int = 0
    ) -> list[NoteRow]:
        """Return some notes of a folder, by path."""
        from hivemind_memory.model.listing import NoteRow

        places, values = _in_scopes(scopes)
        inside, ends = f" AND {_FOLDER} = ?", [f"{folder}/" if folder else ""]
        if folder:
            # "0" is the character after "/".
            inside += " AND path > ? AND path < ?"
            ends += [f"{folder}/", f"{folder}0"]
        sql = f"""
            SELECT path, mtime, size, chunk_count FROM files
            WHERE {_SHOWN}{places}{inside} ORDER BY path LIMIT ? OFFSET ?
        """
        with translated_errors(self._path):
            rows = self._connection.execute(sql, (*values, *ends, limit, offset))
            return [NoteRow(NotePath(path), *more) for path, *more in rows]

    def disputes(self, scopes: frozenset[str] | None) -> list[Dispute]:
        """Return which active memories contradict which; see the port."""
        places, values = _in_scopes(scopes)
        sql = f"""
            SELECT path, scope, substr(coalesce(created, ''), 1, 10),
              coalesce(memory_id, ''), target
            FROM edges JOIN files ON files.id = file_id
            WHERE kind = '{CONTRADICTS}' AND {_TYPED} AND status = {ACTIVE}{places}
            ORDER BY path, target
        """

        def read() -> list[Dispute]:
            found: dict[frozenset[str], Dispute] = {}
            rows = self._connection.execute(sql, values).fetchall()
            for path, scope, day, own_id, target in (map(str, row) for row in rows):
                other = find_end(
                    self._connection, CONTRADICTS, target, scopes=scopes, near=scope
                )
                if other is None or other.status != ACTIVE or other.path == path:
                    continue
                ages = day, own_id, other.created[:10], other.memory_id
                older = other.path if is_newer(*ages) else path
                pair = Dispute(path=path, other=other.path, older=older)
                if other.type:
                    found.setdefault(frozenset((path, other.path)), pair)
            return list(found.values())

        name = f"disputes in {sorted(scopes) if scopes is not None else 'all'}"
        with translated_errors(self._path):
            disputes: list[Dispute] = self._cached(name, read)
            return disputes

    def note_rows(self) -> list[NoteRow]:
        """Return every indexed note, with what shows that it has changed."""
        from hivemind_memory.model.listing import NoteRow

        sql = "SELECT path, mtime, size, chunk_count FROM files WHERE state = 0"
        with translated_errors(self._path):
            return list(map(NoteRow._make, self._connection.execute(sql)))

    def pending_notes(self) -> list[NotePath]:
        """Return the notes in all inboxes, forgotten ones aside."""
        sql = f"SELECT path FROM files WHERE state = 0 AND status = {PENDING}"
        return self._paths(sql)

    def not_utf8(self) -> tuple[list[NotePath], list[NotePath]]:
        """Return the notes that are not UTF-8, and those of which it is not known."""
        sql = """
            SELECT path FROM files WHERE is_utf8 IS NOT 1 AND is_utf8 {} AND state = 0
        """
        return self._paths(sql.format("= 0")), self._paths(sql.format("IS NULL"))

    def _paths(self, sql: str) -> list[NotePath]:
        """Return the paths that a query finds, sorted."""
        with translated_errors(self._path):
            rows = self._connection.execute(f"{sql} ORDER BY path")
            return [NotePath(path) for (path,) in rows]


def _where(wanted: RowFilter) -> tuple[str, tuple[object, ...]]:
    """Return the condition that leaves what a filter wants, with its values."""
    sql, values = _in_scopes(wanted.scopes)
    if wanted.types:
        sql += f" AND type IN ({','.join('?' * len(wanted.types))})"
        values += tuple(wanted.types)
    if wanted.source:
        sql += " AND source = ?"
        values += (wanted.source,)
    if wanted.folder:
        sql += " AND path >= ? AND path < ?"
        values += (f"{wanted.folder}/", f"{wanted.folder}0")
    if wanted.first_day:
        sql += " AND created >= ?"
        values += (wanted.first_day,)
    tests, given = _statuses(wanted)
    return f"{sql} AND ({tests})", values + given


def _statuses(wanted: RowFilter) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a memory has one of some statuses on a day."""
    today = wanted.today
    active, done_until = f"status = {ACTIVE}", last_done_day(today)
    is_open = f"{active} AND coalesce(done_day > ?, 1)"
    is_replaced = "0"
    replaced: tuple[object, ...] = ()
    if wanted.replaced:
        is_replaced = "path IN (SELECT value FROM json_each(?))"
        replaced = (json.dumps(sorted(wanted.replaced)),)
    known: dict[str, tuple[str, tuple[object, ...]]] = {
        STATUSES[ACTIVE]: (
            f"{is_open} AND coalesce(expires_day > ?, 1) AND NOT {is_replaced}",
            (done_until, today, *replaced),
        ),
        "expired": (f"{is_open} AND expires_day <= ?", (done_until, today)),
        "done": (f"{active} AND done_day <= ?", (done_until,)),
        **{
            name: (f"status = {number}", ())
            for number, name in enumerate(STATUSES)
            if number != ACTIVE
        },
        STATUSES[SUPERSEDED]: (f"status = {SUPERSEDED} OR {is_replaced}", replaced),
    }
    found = [known[name] for name in dict.fromkeys(wanted.statuses) if name in known]
    tests = " OR ".join(f"({test})" for test, _ in found)
    return tests or "0", tuple(value for _, values in found for value in values)


def _in_scopes(scopes: frozenset[str] | None) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a note is in one of some scopes; None: in any."""
    if scopes is None:
        return "", ()
    return f" AND scope IN ({','.join('?' * len(scopes))})", tuple(sorted(scopes))
