"""The vectors retriever: cosines of a query with every vector of its space.

All are compared as int8 (``vector_blocks``), and the best of them, as well as whatever
the words found, once more as float32. The home of simsimd, which needs no numpy.
Imported only when a space of vectors answers.
"""

from __future__ import annotations

import json
from array import array
from math import sqrt

import simsimd

from hivemind_memory.index.sqlite.vector_blocks import BLOCK_ROWS, CHUNKS, quantize
from hivemind_memory.model.matches import VectorMatches
from hivemind_memory.sqlite.connection import translated_errors, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any, Literal

    import apsw

    from hivemind_memory.index.sqlite.stats import CorpusStats

# Its stubs know numpy's arrays only.
_cdist: Callable[..., Any] = simsimd.cdist
_dot: Callable[..., Any] = simsimd.dot

SPARE = 30
"""Chunks beside the wanted ones that are compared as float32, so that none of these is
missed because int8 ranks it a little lower."""

SAME_COSINE = 1e-6
"""Cosines that differ by less are a tie: equal vectors in different places differ by
the rounding of 32 bits."""

FEW = 4_000
"""So many distances are sorted; of more, only those that lie far from the mean."""

FAR_DEVIATIONS = 2.0

MAX_KEPT = 8
"""Callers and filters whose rows are kept until the index changes."""

_NO_CHUNK = -1
_NOWHERE = 9.0
"""Distance of an empty row: behind every vector."""

_STATE = """
SELECT spaces.id, dimensions, (SELECT value FROM meta WHERE key = 'made')
FROM spaces WHERE fingerprint = ?
"""
_WAITING = """
SELECT chunk_id, embedding
FROM chunks_vec JOIN embedding_cache ON embedding_cache.id = vector_id
WHERE chunks_vec.space_id = ? AND subchunk = 0 AND slot IS NULL
ORDER BY chunk_id
"""
_EXACT = """
SELECT chunk_id, subchunk, embedding
FROM json_each(?) JOIN chunks_vec ON chunk_id = json_each.value
JOIN embedding_cache ON embedding_cache.id = vector_id
WHERE chunks_vec.space_id = ?
"""
_BY_PLACE = """
SELECT chunks.id FROM json_each(?) JOIN chunks ON chunks.id = json_each.value
JOIN files ON files.id = chunks.file_id
ORDER BY files.path, chunks.start_line
LIMIT ?
"""


class VectorRetriever:
    """The vectors of one space, as small copies in memory."""

    def __init__(self, connection: apsw.Connection, fingerprint: str) -> None:
        self._connection = connection
        self._fingerprint = fingerprint
        self._seen: tuple[int, int] = (-1, -1)
        self._rows = _Rows()

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
            rows = self._rows
            if not rows.count or len(query) != 4 * rows.dims:
                return None
            distances = rows.distances(query)
            seen = distances if visible is None else rows.only(distances, visible)
            count = rows.count if visible is None else len(seen)
            if not count:
                return None
            mean, deviation = _moments(seen, count)
            wanted = dict.fromkeys(chunk for chunk in also if chunk in rows.places)
            nearest = rows.nearest(
                distances, limit + SPARE, matching, mean - FAR_DEVIATIONS * deviation
            )
            chunks, subchunks = self._exact(query, [*wanted, *nearest])
        best = self._best(chunks, nearest, limit)
        kept = dict.fromkeys([*best, *wanted])
        return VectorMatches(
            cosines={chunk: chunks[chunk] for chunk in kept},
            subchunk_cosines={
                chunk: subchunks.get(chunk, chunks[chunk]) for chunk in kept
            },
            background=1 - mean,
            deviation=deviation,
            chunk_count=count,
        )

    def count_vectors(self, chunks: frozenset[int]) -> int:
        """Return how many of some chunks have a vector."""
        with translated_errors(self._connection.filename):
            self._refresh()
        return len(chunks & self._rows.places.keys())

    def _best(
        self, cosines: dict[int, float], nearest: Collection[int], limit: int
    ) -> list[int]:
        """Return the best *limit* chunks; of equal ones the first by path and line."""
        ordered = sorted(nearest, key=lambda chunk: -cosines[chunk])
        if len(ordered) <= limit:
            return ordered
        least = cosines[ordered[limit - 1]]
        tied = [
            chunk for chunk in ordered if abs(cosines[chunk] - least) <= SAME_COSINE
        ]
        above = [chunk for chunk in ordered if cosines[chunk] > least + SAME_COSINE]
        if len(above) + len(tied) == limit:
            return above + tied
        found = self._connection.execute(
            _BY_PLACE, (json.dumps(tied), limit - len(above))
        )
        return above + [chunk for (chunk,) in found]

    def _exact(
        self, query: bytes, chunks: Sequence[int]
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return chunk -> cosine, and chunk -> cosine of its best subchunk."""
        own = dict.fromkeys(chunks, 0.0)
        best: dict[int, float] = {}
        found = list(
            self._connection.execute(_EXACT, (json.dumps(list(own)), self._rows.space))
        )
        vectors = [vector for _, _, vector in found if len(vector) == len(query)]
        if len(vectors) < len(found):
            message = "a vector has another length than its space"
            raise ValueError(message)
        cosines = products_of(query, vectors)
        for (chunk, subchunk, _), cosine in zip(found, cosines, strict=True):
            # A disk may turn bits; a number that is none is in no range.
            known = cosine if abs(cosine) <= 1 + SAME_COSINE * 100 else 0.0
            if subchunk == 0:
                own[chunk] = known
            elif known > best.get(chunk, -2.0):
                best[chunk] = known
        return own, best

    def _refresh(self) -> None:
        """Read what changed in the index file since the last query."""
        seen = version_of(self._connection)
        if seen == self._seen:
            return
        found = self._connection.execute(_STATE, (self._fingerprint,)).fetchone()
        space, dims, made = found or (0, 0, "")
        # After a rebuild all numbers mean something else.
        is_same = (self._rows.space, self._rows.made) == (space, made)
        before = self._rows if is_same else _Rows()
        self._rows = _Rows(
            space, made, dims, blocks=dict(before.blocks), waiting=before.waiting
        )
        if space:
            self._rows.read(self._connection)
        self._seen = seen


class _Rows:
    """Vectors by row: those in blocks, then those that wait for one."""

    def __init__(
        self,
        space: int = 0,
        made: str = "",
        dims: int = 0,
        *,
        blocks: dict[int, tuple[int, bytes, bytes]] | None = None,
        waiting: dict[int, bytes] | None = None,
    ) -> None:
        self.space = space
        self.made = made
        self.dims = dims
        self.blocks = blocks or {}
        """Number -> version, chunks, vectors as int8."""

        self.waiting = waiting or {}
        """Chunk -> vector as int8, for those that are in no block yet."""

        self.places: dict[int, int] = {}
        """Chunk -> row."""

        self._chunks: list[int] = []
        self._empty: list[int] = []
        self._kept: dict[int, tuple[CorpusStats, list[int]]] = {}

    @property
    def count(self) -> int:
        """How many chunks have a vector."""
        return len(self.places)

    def read(self, connection: apsw.Connection) -> None:
        """Read the blocks that are new, and what waits for one."""
        versions = connection.execute(
            "SELECT block, version FROM vector_blocks WHERE space_id = ?", (self.space,)
        )
        for block, version in list(versions):
            if block not in self.blocks or self.blocks[block][0] != version:
                [self.blocks[block]] = connection.execute(
                    """
                    SELECT version, chunks, codes FROM vector_blocks
                    WHERE space_id = ? AND block = ?
                    """,
                    (self.space, block),
                )
        size = len(self.blocks) * BLOCK_ROWS
        free = connection.execute(
            "SELECT slot FROM vector_free WHERE space_id = ?", (self.space,)
        )
        self._empty = [slot for (slot,) in free]
        is_whole = self._are_whole() and all(0 <= slot < size for slot in self._empty)
        if is_whole:
            for block in range(len(self.blocks)):
                self._chunks += CHUNKS.unpack(self.blocks[block][1])
            for slot in self._empty:
                self._chunks[slot] = _NO_CHUNK
        known = dict(self.waiting)
        self.waiting = {}
        for chunk, vector in connection.execute(_WAITING, (self.space,)):
            code = known.get(chunk) or quantize(vector, self.dims)
            self.waiting[chunk] = code
            self._chunks.append(chunk)
        self.places = {chunk: row for row, chunk in enumerate(self._chunks)}
        for number in (_NO_CHUNK, 0):
            self.places.pop(number, None)
        if not is_whole or self.count != len(self._chunks) - len(self._empty):
            message = "the blocks of vectors are not as they were written"
            raise ValueError(message)

    def _are_whole(self) -> bool:
        """Return whether the blocks are numbered from 0, and each of the right size."""
        return self.blocks.keys() == set(range(len(self.blocks))) and all(
            (len(chunks), len(codes)) == (CHUNKS.size, BLOCK_ROWS * self.dims)
            for _, chunks, codes in self.blocks.values()
        )

    def distances(self, query: bytes) -> array[float]:
        """Return 1 - cosine for each row; an empty one is nowhere near."""
        found = array("d")
        asked = _matrix(quantize(query, self.dims), "b", self.dims)
        parts = [self.blocks[block][2] for block in range(len(self.blocks))]
        parts += [b"".join(self.waiting.values())] if self.waiting else []
        for part in parts:
            codes = _matrix(part, "b", self.dims)
            found.frombytes(memoryview(_cdist(asked, codes, "cosine")).cast("B"))
        for row in self._empty:
            found[row] = _NOWHERE
        return found

    def only(self, distances: array[float], stats: CorpusStats) -> array[float]:
        """Return the distances of the chunks that some figures are about."""
        return array("d", [distances[row] for row in self._rows_of(stats)])

    def nearest(
        self,
        distances: array[float],
        limit: int,
        matching: CorpusStats | None,
        near: float,
    ) -> list[int]:
        """Return at least *limit* chunks, the nearest ones and all that equal the last.

        Args:
            distances: Of each row.
            limit: How many, if there are so many.
            matching: What may be found; None: everything.
            near: A distance that only a small part of all is below.
        """
        if matching is None:
            bound = near if len(distances) > FEW else _NOWHERE
            pairs = _below(distances, bound)
            if len(pairs) < limit:
                pairs = _below(distances, _NOWHERE)
        else:
            pairs = [(distances[row], row) for row in self._rows_of(matching)]
        pairs.sort()
        # Equal texts have equal codes: which of them is first, their place decides.
        last = pairs[min(limit, len(pairs)) - 1][0] if pairs else 0.0
        chunks = self._chunks
        return [chunks[row] for distance, row in pairs if distance <= last]

    def _rows_of(self, stats: CorpusStats) -> list[int]:
        """Return the rows of some chunks, in order."""
        kept = self._kept.get(id(stats))
        if kept is None or kept[0] is not stats:
            places = self.places
            rows = sorted(places[chunk] for chunk in stats.chunks if chunk in places)
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            kept = self._kept[id(stats)] = (stats, rows)
        return kept[1]


def _moments(distances: array[float], count: int) -> tuple[float, float]:
    """Return mean and standard deviation of *count* distances, the others nowhere."""
    total = sum(distances)
    squares = _dot(distances, distances)
    nowhere = len(distances) - count
    mean = (total - nowhere * _NOWHERE) / count
    variance = (squares - nowhere * _NOWHERE**2) / count - mean**2
    return mean, sqrt(max(0.0, variance))


def _below(distances: array[float], bound: float) -> list[tuple[float, int]]:
    """Return (distance, row) for the distances below a bound."""
    return [
        (distance, row) for row, distance in enumerate(distances) if distance < bound
    ]


def products_of(query: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return the product of a query with each of some vectors, all float32."""
    if not vectors:
        return []
    dims = len(query) // 4
    rows = _matrix(b"".join(vectors), "f", dims)
    found = memoryview(_cdist(_matrix(query, "f", dims), rows, "dot"))
    return array("d", found.tobytes()).tolist()


def _matrix(data: bytes, kind: Literal["b", "f"], dims: int) -> Any:
    """Return bytes as rows of *dims* numbers, int8 (``b``) or float32 (``f``)."""
    size = {"b": 1, "f": 4}[kind]
    return memoryview(data).cast(kind, shape=[len(data) // (size * dims), dims])
