"""Finds chunks near to the caller that the rough ranking of words cut off.

Ranking every match a second time would double a search, and a lookup of each chunk
would cost as much: the engine reads the postings of a word from their start. So where
the words stand in the near chunks is read word by word, and kept until the index
changes.
"""

from __future__ import annotations

from hivemind_memory.index.sqlite.expressions import bringing_terms, by_term, quoted
from hivemind_memory.index.sqlite.words import (
    MAX_COUNTS,
    PLACES,
    RowMatches,
    as_json,
    candidate_of,
)
from hivemind_memory.model.matches import ChunkLocation
from hivemind_memory.sqlite.connection import translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import apsw

    from hivemind_memory.index.sqlite.filters import SqlFilter
    from hivemind_memory.model.matches import TermCount, WordCandidate, WordMatches

_NEAR = """
SELECT chunks.id FROM chunks JOIN files ON files.id = file_id AND files.state = 0
WHERE 1 {where}
ORDER BY files.type IS NULL, coalesce(chunks.day, files.day) DESC, files.path,
  chunks.start_line
"""
_HOLDING = """
SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid BETWEEN ? AND ?
"""
_SEEN = """
SELECT rowid, seen_near(chunks_fts) FROM chunks_fts
WHERE chunks_fts MATCH ? AND rowid BETWEEN ? AND ?
  AND +rowid IN (SELECT value FROM json_each(?))
"""


class NearRows:
    """Reads where a word is in chunks.

    A connection has one: a statement that SQLite has prepared goes on calling the
    function that was registered first.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._row: RowMatches | None = None
        self._term: TermCount | None = None
        connection.register_fts5_function("seen_near", self._record_row)

    def read(self, term: TermCount, chunks: Collection[int]) -> dict[int, RowMatches]:
        """Return what those of *chunks* hold that hold a term."""
        self._term = term
        values = (quoted(term), min(chunks), max(chunks), as_json(chunks))
        return {
            chunk: self._row
            for chunk, _ in self._connection.execute(_SEEN, values)
            if self._row is not None
        }

    def _record_row(self, api: apsw.FTS5ExtensionApi, *_: object) -> None:
        """Record what a row holds of the one term that is looked up."""
        sizes = [api.column_size(column) for column in range(4)]
        locations = [api.phrase_locations(phrase) for phrase in range(api.phrase_count)]
        if self._term is not None and self._term.forms:
            locations = by_term(locations, [self._term])
        self._row = RowMatches(locations, sizes[0] + sizes[1], sizes[2], sizes[3])


class NearWords:
    """The chunks near to a caller, and which words they hold, in one state."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        rows: NearRows,
        where: SqlFilter,
    ) -> None:
        """Read which chunks are near.

        Args:
            connection: Where the index is read.
            path: Its file, for errors.
            rows: Reads where words stand.
            where: The condition on what is near and may be found.
        """
        self._connection = connection
        self._path = path
        self._rows_of = rows
        with translated_errors(path):
            near = connection.execute(_NEAR.format(where=where.sql), where.values)
            self._order = {chunk: place for place, (chunk,) in enumerate(near)}
        """Chunk -> its rank among chunks that hold the same words: typed memories come
        first, then the newest."""
        self._bounds = (min(self._order, default=0), max(self._order, default=0))
        self._holding: dict[TermCount, frozenset[int]] = {}
        self._seen: dict[TermCount, dict[int, RowMatches]] = {}
        self._places: dict[int, tuple[ChunkLocation, bytes]] = {}

    def find(self, words: WordMatches, *, limit: int) -> Sequence[WordCandidate]:
        """Return up to *limit* chunks that hold the words and are not among *words*.

        Those that hold the rarest words are taken, and each is what the search of
        words would have made of it.
        """
        if not self._order:
            return ()
        with translated_errors(self._path):
            found: set[int] = set()
            for term in bringing_terms(words.known):
                found |= self._chunks_with(term)
            if not found:
                return ()
            found.difference_update(each.place.chunk_id for each in words.candidates)
            if len(found) > limit:
                chosen = self._best(found, words)[:limit]
            else:
                chosen = sorted(found, key=self._order.__getitem__)
            return self._candidates(chosen, words.known) if chosen else ()

    def _best(self, found: Collection[int], words: WordMatches) -> list[int]:
        """Return chunks by what the words that they hold weigh, the heaviest first."""
        weights = dict.fromkeys(found, 0.0)
        for term in words.known:
            weight = 1 / term.chunks
            for chunk in self._chunks_with(term) & weights.keys():
                weights[chunk] += weight
        return sorted(found, key=lambda chunk: (-weights[chunk], self._order[chunk]))

    def _chunks_with(self, term: TermCount) -> frozenset[int]:
        """Return the near chunks that hold a term."""
        known = self._holding.get(term)
        if known is None:
            if len(self._holding) >= MAX_COUNTS:
                self._holding.clear()
                self._seen.clear()
            rows = self._connection.execute(_HOLDING, (quoted(term), *self._bounds))
            known = frozenset(self._order.keys() & {row for (row,) in rows})
            self._holding[term] = known
        return known

    def _candidates(
        self, chunks: Sequence[int], known: Sequence[TermCount]
    ) -> list[WordCandidate]:
        """Return candidates with all that was seen in them."""
        self._read_places(chunks)
        wanted = frozenset(chunks)
        seen = [self._rows(term, wanted & self._chunks_with(term)) for term in known]
        nothing: list[list[int]] = [[], [], [], []]
        candidates = []
        for chunk in chunks:
            rows = [rows.get(chunk) for rows in seen]
            some = next(row for row in rows if row is not None)
            locations = [row.locations[0] if row else nothing for row in rows]
            place, subchunks = self._places[chunk]
            merged = some._replace(locations=locations)
            candidates.append(candidate_of(place, merged, subchunks))
        return candidates

    def _rows(self, term: TermCount, chunks: frozenset[int]) -> dict[int, RowMatches]:
        """Return where a term is in chunks that hold it."""
        seen = self._seen.setdefault(term, {})
        missing = chunks.difference(seen)
        if missing:
            seen.update(self._rows_of.read(term, missing))
        return seen

    def _read_places(self, chunks: Sequence[int]) -> None:
        """Read where chunks stand, unless it is known."""
        missing = [chunk for chunk in chunks if chunk not in self._places]
        if missing:
            rows = self._connection.execute(PLACES, (as_json(missing),))
            for *place, subchunks in rows:
                self._places[place[0]] = ChunkLocation(*place), subchunks
