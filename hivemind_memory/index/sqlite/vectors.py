"""The vectors retriever: exact cosines with vectors that are kept in memory.

The home of numpy. Imported only when a space of vectors answers.
"""

from __future__ import annotations

import json
import os

# A threaded product waits for its slowest thread: beside a busy core it takes 8 ms
# instead of 0.5 (benchmarks/floors.py). Must be said before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from hivemind_memory.model.matches import VectorMatches
from hivemind_memory.sqlite.connection import (
    select_int,
    translated_errors,
    version_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw
    from numpy.typing import NDArray

    from hivemind_memory.index.sqlite.stats import CorpusStats

    Matrix = NDArray[np.float32]

GROWTH = 1.5
"""The matrix grows by this factor, so that adding vectors is cheap."""

MAX_LENGTH_ERROR = 0.01
"""How far from 1 the square of a vector's length may be; rounding stays far below."""

_NEW_VECTORS = """
SELECT chunks_vec.chunk_id, chunks_vec.subchunk, chunks_vec.serial, embedding
FROM chunks_vec JOIN embedding_cache ON embedding_cache.id = vector_id
WHERE chunks_vec.space_id = ? AND chunks_vec.serial > ?
"""


SAME_COSINE = 1e-6
"""Cosines that differ by less are a tie: equal vectors in different rows of the matrix
differ by the rounding of 32 bits."""

_BY_PLACE = """
SELECT chunks.id FROM json_each(?) JOIN chunks ON chunks.id = json_each.value
JOIN files ON files.id = chunks.file_id
ORDER BY files.path, chunks.start_line
LIMIT ?
"""


class VectorRetriever:
    """Every vector of one space, in memory, as the index file has them."""

    def __init__(self, connection: apsw.Connection, fingerprint: str) -> None:
        self._connection = connection
        self._fingerprint = fingerprint
        self._seen: tuple[int, int] = (-1, -1)
        self._made = ""
        self._serial = 0
        self._chunks = _Rows()
        self._subchunks = _Rows()
        self._ids: list[int] = []
        self._place: dict[int, int] = {}
        self._subchunk_rows: dict[int, list[int]] = {}

    def find(
        self,
        query: bytes,
        *,
        limit: int,
        also: Sequence[int],
        matching: CorpusStats | None,
        visible: CorpusStats | None,
    ) -> VectorMatches | None:
        """Return cosines of the best *limit* chunks, and of the chunks *also*.

        Args:
            query: Its vector.
            limit: Chunks at most, by their own cosine.
            also: Chunks that the words retriever found.
            matching: What may be found; None: everything.
            visible: What the mean is taken over; None: everything.

        Returns:
            None when the space is empty or the query has another length.
        """
        with translated_errors(self._connection.filename):
            self._refresh()
        count = self._chunks.count
        asked = np.frombuffer(query, "<f4")
        if not count or len(asked) != self._chunks.dims:
            return None
        cosines = self._chunks.rows() @ asked
        seen = cosines
        if visible is not None:
            seen = cosines[self._places_of(visible.chunks)]
        if not len(seen):
            return None
        places = self._best(cosines, limit, matching)
        places += [at for at in map(self._place.get, also) if at is not None]
        chunks = {self._ids[at]: float(cosines[at]) for at in dict.fromkeys(places)}
        return VectorMatches(
            cosines=chunks,
            subchunk_cosines=self._subchunk_cosines(chunks, asked),
            background=float(seen.mean(dtype=np.float64)),
            deviation=float(seen.std(dtype=np.float64)),
            chunk_count=len(seen),
        )

    def count_vectors(self, chunks: frozenset[int]) -> int:
        """Return how many of some chunks have a vector."""
        with translated_errors(self._connection.filename):
            self._refresh()
        return len(self._places_of(chunks))

    def _best(
        self, cosines: Matrix, limit: int, matching: CorpusStats | None
    ) -> list[int]:
        """Return the rows of the best *limit* chunks that match."""
        rows = None if matching is None else self._places_of(matching.chunks)
        among = cosines if rows is None else cosines[rows]
        best = min(limit, len(among))
        if not best:
            return []
        order = np.argpartition(among, len(among) - best)[len(among) - best :]
        least = among[order[0]]
        tied = np.flatnonzero(np.abs(among - least) <= SAME_COSINE)
        above = order[among[order] > least + SAME_COSINE]
        if len(above) + len(tied) > best:
            wanted = tied if rows is None else rows[tied]
            kept = self._first_by_place(wanted.tolist(), best - len(above))
        else:
            kept = (tied if rows is None else rows[tied]).tolist()
        places: list[int] = (above if rows is None else rows[above]).tolist()
        return places + kept

    def _first_by_place(self, rows: list[int], limit: int) -> list[int]:
        """Return the first *limit* of some rows, by path and line of their chunks."""
        found = self._connection.execute(
            _BY_PLACE, (json.dumps([self._ids[row] for row in rows]), limit)
        )
        return [self._place[chunk] for (chunk,) in found]

    def _places_of(self, chunks: frozenset[int]) -> NDArray[np.intp]:
        """Return the rows of the vectors of some chunks, in order."""
        at = [self._place[chunk] for chunk in chunks if chunk in self._place]
        return np.array(sorted(at), dtype=np.intp)

    def _subchunk_cosines(
        self, chunks: dict[int, float], asked: Matrix
    ) -> dict[int, float]:
        """Return the cosine of each chunk's best subchunk, its own if it has none."""
        places: list[int] = []
        owners: list[int] = []
        for chunk in chunks:
            rows = self._subchunk_rows.get(chunk, ())
            places += rows
            owners += [chunk] * len(rows)
        best: dict[int, float] = {}
        if places:
            cosines = self._subchunks.rows()[places] @ asked
            for chunk, cosine in zip(owners, cosines.tolist(), strict=True):
                if cosine > best.get(chunk, -2.0):
                    best[chunk] = cosine
        return {chunk: best.get(chunk, own) for chunk, own in chunks.items()}

    def _refresh(self) -> None:
        """Add what changed in the index file since the last query."""
        seen = version_of(self._connection)
        if seen == self._seen:
            return
        [(made,)] = self._connection.execute(
            "SELECT value FROM meta WHERE key = 'made'"
        )
        if made != self._made:
            # A rebuild replaced the index: all ids mean something else.
            self._clear()
            self._made = made
        space = self._connection.execute(
            "SELECT id FROM spaces WHERE fingerprint = ?", (self._fingerprint,)
        ).fetchone()
        alive = select_int(
            self._connection,
            """
            SELECT count(*) FROM chunks_vec
            WHERE space_id = ? AND vector_id IS NOT NULL
            """,
            *(space or (0,)),
        )
        if space:
            self._add_new(space[0])
        if self._chunks.count + self._subchunks.count != alive:
            # Some chunks were deleted. Reading everything again is the one way that
            # cannot go wrong, and it is needed rarely.
            self._clear()
            if space:
                self._add_new(space[0])
        self._seen = seen

    def _add_new(self, space: int) -> None:
        """Add the vectors that were linked since the last refresh."""
        newest = self._serial
        for chunk, subchunk, serial, vector in self._connection.execute(
            _NEW_VECTORS, (space, self._serial)
        ):
            row = np.frombuffer(vector, "<f4")
            newest = max(newest, serial)
            if subchunk == 0:
                self._place[chunk] = self._chunks.add(row)
                self._ids.append(chunk)
            else:
                self._subchunk_rows.setdefault(chunk, []).append(
                    self._subchunks.add(row)
                )
        self._serial = newest
        self._chunks.zero_corrupt_rows()
        self._subchunks.zero_corrupt_rows()

    def _clear(self) -> None:
        """Drop every vector."""
        self._serial = 0
        self._chunks = _Rows()
        self._subchunks = _Rows()
        self._ids = []
        self._place = {}
        self._subchunk_rows = {}


class _Rows:
    """A matrix that grows by rows."""

    __slots__ = ("_checked", "_data", "count")

    def __init__(self) -> None:
        self.count = 0
        self._checked = 0
        self._data: Matrix = np.empty((0, 0), np.float32)

    @property
    def dims(self) -> int:
        """Return the length of a row."""
        return int(self._data.shape[1])

    def rows(self) -> Matrix:
        """Return the rows in use, as a view."""
        return self._data[: self.count]

    def zero_corrupt_rows(self) -> None:
        """Set rows to zero that are not of length 1: a disk may turn bits.

        A single number that is not finite would spoil the mean over all rows.
        """
        rows = self._data[self._checked : self.count]
        with np.errstate(all="ignore"):
            lengths = np.einsum("ij,ij->i", rows, rows)
        rows[~(np.abs(lengths - 1) < MAX_LENGTH_ERROR)] = 0
        self._checked = self.count

    def add(self, row: Matrix) -> int:
        """Append a row and return its place."""
        if self.count == len(self._data):
            size = max(64, int(self.count * GROWTH))
            grown = np.empty((size, len(row)), np.float32)
            if self.count:
                grown[: self.count] = self._data[: self.count]
            self._data = grown
        self._data[self.count] = row
        self.count += 1
        return self.count - 1
