"""Lists hits without a query, and reads the details and titles of hits."""

from __future__ import annotations

import json

from hivemind_memory.index.sqlite.filters import query_filter
from hivemind_memory.index.sqlite.notes import OUTDATED
from hivemind_memory.index.sqlite.words import chunk_locations
from hivemind_memory.model.display import shorten
from hivemind_memory.model.matches import ChunkLocation, HitDetails
from hivemind_memory.model.memories import PENDING, SUPERSEDED
from hivemind_memory.model.trust import untrusted_source
from hivemind_memory.sqlite.connection import select_int, translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    import apsw

    from hivemind_memory.index.sqlite.filters import IndexContents, SqlFilter
    from hivemind_memory.model.filters import Access, SearchFilter
    from hivemind_memory.model.snapshot import FileSignature

    Cached = Callable[[str, Callable[[], Any]], Any]

MAX_TITLE_CHARS = 80
_AT_ONCE = 10_000
"""Chunks looked up in one statement."""

_MAX_FILTERS = 16
"""Filters whose lists and numbers are kept."""

_MAX_KEPT = 1_000
"""Chunks of a list that is kept."""

# Note by note, so that the index of chunks is read in its order, and no text.
_ENTRIES = f"""
FROM files CROSS JOIN chunks ON chunks.file_id = files.id
WHERE files.state = 0 AND files.status <> {SUPERSEDED}{{where}}
GROUP BY files.id, chunks.entry_id
"""
# Not counted in the same statement: then SQLite would keep them all, and not the first.
_NEWEST = f"""
SELECT chunks.id, min(chunks.start_line) {_ENTRIES}
ORDER BY coalesce(chunks.day, files.day) DESC, coalesce(files.created, '') DESC,
  coalesce(chunks.entry_id, files.memory_id) DESC, files.path, chunks.start_line
LIMIT ?
"""
_COUNT = f"SELECT count(*) FROM (SELECT 1 {_ENTRIES})"

_DETAILS = """
SELECT chunks.id, reason, coalesce(chunks.source_ref, files.source_ref, ''),
  coalesce(claim, '')
FROM chunks JOIN files ON files.id = file_id
WHERE chunks.id IN ({marks}) AND (
  reason <> '' OR claim IS NOT NULL
  OR chunks.source_ref IS NOT NULL OR files.source_ref IS NOT NULL
)
"""
_SIGNATURES = """
SELECT path, mtime, ctime, size, inode FROM files
WHERE state = 0 AND path IN ({marks})
"""
_BODIES = """
SELECT start_line, end_line, coalesce(body, text)
FROM chunks JOIN files ON files.id = file_id
WHERE state = 0 AND path = ? ORDER BY start_line, chunks.id
"""
_TITLES = f"""
SELECT path, min(start_line), headings,
  CASE headings WHEN '' THEN ltrim(coalesce(body, text), char(10, 13, 32)) END,
  files.status, files.source, chunks.source
FROM chunks JOIN files ON files.id = file_id AND state = 0
WHERE file_id NOT IN (SELECT id FROM files WHERE {OUTDATED}){{among}}
GROUP BY file_id
"""


class SqliteHits:
    """Lists hits without a query, and reads their details and titles."""

    __slots__ = ("_cached", "_connection", "_contents", "_path")

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        contents: Callable[[], IndexContents],
        cached: Cached,
    ) -> None:
        """Take the parts of an open index.

        Args:
            connection: Where it is read.
            path: Its file, for errors.
            contents: Returns what it holds, as far as filters care.
            cached: Keeps a value until the index changes.
        """
        self._connection = connection
        self._path = path
        self._contents = contents
        self._cached = cached

    def newest_chunks(
        self, access: Access, search_filter: SearchFilter, today: int, *, limit: int
    ) -> tuple[list[ChunkLocation], int]:
        """Return where the newest of what fits a filter begins; see the port."""
        matching = query_filter(access, search_filter, today, self._contents())
        chunks = self._newest(matching, limit)
        with translated_errors(self._path):
            places: dict[int, ChunkLocation] = {}
            for at in range(0, len(chunks), _AT_ONCE):
                step = chunks[at : at + _AT_ONCE]
                places.update(chunk_locations(self._connection, step))
        found = [places[chunk] for chunk in chunks if chunk in places]
        return found, self._count(matching) if len(chunks) == limit else len(chunks)

    def _newest(self, matching: SqlFilter, limit: int) -> list[int]:
        """Return the newest chunks that fit; a few are kept until the index changes."""
        kept: dict[tuple[SqlFilter, int], list[int]]
        kept = self._cached("newest of lists", dict)
        found = kept.get((matching, limit))
        if found is None:
            sql = _NEWEST.format(where=matching.sql)
            with translated_errors(self._path):
                rows = self._connection.execute(sql, (*matching.values, limit))
                found = [int(row[0]) for row in rows]
            if limit <= _MAX_KEPT and len(kept) < _MAX_FILTERS:
                kept[matching, limit] = found
        return found

    def _count(self, matching: SqlFilter) -> int:
        """Return how many memories and entries fit; kept until the index changes."""
        counts: dict[SqlFilter, int] = self._cached("counts of lists", dict)
        if matching not in counts:
            if len(counts) >= _MAX_FILTERS:
                counts.clear()
            sql = _COUNT.format(where=matching.sql)
            with translated_errors(self._path):
                counts[matching] = select_int(self._connection, sql, *matching.values)
        return counts[matching]

    def hit_details(self, chunks: Sequence[int]) -> dict[int, HitDetails]:
        """Return what the memories of chunks say of themselves; of others, nothing."""
        sql = _DETAILS.format(marks=",".join("?" * len(chunks)))
        with translated_errors(self._path):
            return {
                chunk: HitDetails(reason.partition("\n")[0], source_ref, claim)
                for chunk, reason, source_ref, claim in self._connection.execute(
                    sql, tuple(chunks)
                )
            }

    def bodies(self, path: str) -> list[tuple[int, int, str]]:
        """Return the lines and the body of each chunk of a note, in order."""
        with translated_errors(self._path):
            return list(self._connection.execute(_BODIES, (path,)))

    def signatures(
        self, paths: Collection[str], *, only_outdated: bool
    ) -> dict[str, FileSignature]:
        """Return the signatures of indexed notes; see the port."""
        sql = _SIGNATURES.format(marks=",".join("?" * len(paths)))
        if only_outdated:
            sql += f" AND {OUTDATED}"
        with translated_errors(self._path):
            return {
                path: (mtime, ctime, size, inode)
                for path, mtime, ctime, size, inode in self._connection.execute(
                    sql, tuple(paths)
                )
            }

    def titles(self, paths: Collection[str] | None = None) -> dict[str, str]:
        """Return note -> its first heading or line; see the port."""
        found = {}
        among, values = "", []
        if paths is not None:
            among = " AND path IN (SELECT value FROM json_each(?))"
            values = [json.dumps(list(paths))]
        sql = _TITLES.format(among=among)
        with translated_errors(self._path):
            for path, _, headings, text, status, *sources in self._connection.execute(
                sql, values
            ):
                if status == PENDING or any(map(untrusted_source, sources)):
                    continue
                line = (headings or text).partition("\n")[0].strip()
                found[path] = shorten(line, MAX_TITLE_CHARS)
        return found
