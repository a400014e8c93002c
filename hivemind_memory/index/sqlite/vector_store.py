"""Which texts need a vector, and the cache of vectors.

A vector belongs to a text, not to a chunk: the cache is keyed by space and text hash,
outlives every rebuild, and a chunk only links to it.
"""

from __future__ import annotations

from hivemind_memory.errors import EmbeddingInvalidError
from hivemind_memory.index.sqlite.lock import index_lock
from hivemind_memory.index.sqlite.vector_blocks import has_many_waiting, pack_waiting
from hivemind_memory.markdown.subchunks import embedding_texts, text_hash
from hivemind_memory.sqlite.connection import (
    select_int,
    translated_errors,
    write_transaction,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import apsw

PLAN_CHUNKS = 500
"""Chunks whose texts are listed in one transaction."""


class SqliteVectorStore:
    """The vectors of one index file: the port ``VectorIndex``."""

    def __init__(
        self, connection: apsw.Connection, path: str, now: Callable[[], float]
    ) -> None:
        self._connection = connection
        self._path = path
        self._now = now

    def pending_texts(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Return at most *limit* (hash, text) that have no vector in that space."""
        with translated_errors(self._path):
            self._plan(fingerprint)
            rows = self._connection.execute(
                """
                SELECT text_hash, subchunk, body
                FROM (
                  SELECT min(chunks_vec.id) AS first
                  FROM spaces JOIN chunks_vec ON space_id = spaces.id
                  WHERE fingerprint = ? AND vector_id IS NULL
                  GROUP BY text_hash ORDER BY first LIMIT ?
                )
                JOIN chunks_vec ON chunks_vec.id = first
                JOIN chunk_words ON chunk_words.id = chunk_id
                ORDER BY first
                """,
                (fingerprint, limit),
            )
            return [
                (name, embedding_texts(body)[subchunk]) for name, subchunk, body in rows
            ]

    def known_texts(self, fingerprint: str, limit: int) -> list[tuple[str, bytes]]:
        """Return at most *limit* (text, vector) of that space."""
        with translated_errors(self._path):
            rows = self._connection.execute(
                """
                SELECT subchunk, body, embedding
                FROM spaces JOIN chunks_vec ON chunks_vec.space_id = spaces.id
                JOIN chunk_words ON chunk_words.id = chunk_id
                JOIN embedding_cache ON embedding_cache.id = vector_id
                WHERE fingerprint = ? ORDER BY chunks_vec.id LIMIT ?
                """,
                (fingerprint, limit),
            )
            return [
                (embedding_texts(body)[subchunk], vector)
                for subchunk, body, vector in rows
            ]

    def plan(self, fingerprint: str) -> None:
        """List the texts of every chunk, and link those whose vector is cached."""
        with translated_errors(self._path):
            self._plan(fingerprint)

    def count_pending(self, fingerprint: str) -> int:
        """Return how many texts have no vector in that space."""
        with translated_errors(self._path):
            space = self._space(fingerprint)
            listed = select_int(
                self._connection,
                """
                SELECT count(DISTINCT text_hash) FROM chunks_vec
                WHERE space_id = ? AND vector_id IS NULL
                """,
                space,
            )
            return listed + self._count_unlisted(space)

    def count_pending_chunks(self, fingerprint: str) -> int:
        """Return how many chunks lack a vector: their own, or that of a part."""
        with translated_errors(self._path):
            space = self._space(fingerprint)
            waiting = select_int(
                self._connection,
                """
                SELECT count(DISTINCT chunk_id) FROM chunks_vec
                WHERE space_id = ? AND vector_id IS NULL
                """,
                space,
            )
            return waiting + self._count_unlisted(space)

    def count_vectors(self, fingerprint: str) -> int:
        """Return how many chunks have a vector in that space."""
        with translated_errors(self._path):
            return select_int(
                self._connection,
                """
                SELECT count(*) FROM chunks_vec
                WHERE space_id = ? AND subchunk = 0 AND vector_id IS NOT NULL
                """,
                self._space(fingerprint),
            )

    def cached(self, fingerprint: str, hashes: Collection[str]) -> dict[str, bytes]:
        """Return hash -> vector for those that are cached."""
        with translated_errors(self._path):
            marks = ",".join("?" * len(hashes))
            return dict(
                self._connection.execute(
                    f"""
                    SELECT text_hash, embedding FROM embedding_cache
                    WHERE space_id = ? AND text_hash IN ({marks})
                    """,
                    (self._space(fingerprint), *hashes),
                )
            )

    def dims(self, fingerprint: str) -> int | None:
        """Return how many numbers a vector of that space has; None while empty."""
        with translated_errors(self._path):
            return (
                select_int(
                    self._connection,
                    "SELECT dimensions FROM spaces WHERE id = ?",
                    self._space(fingerprint),
                )
                or None
            )

    def store(self, fingerprint: str, dims: int, vectors: Mapping[str, bytes]) -> None:
        """Keep hash -> vector, all of *dims* numbers; afterwards none of them pends.

        A text that no chunk holds any more is dropped: it may have been purged while
        the provider worked.

        Raises:
            EmbeddingInvalidError: Another process stored vectors of another length.
        """
        # A rebuild copies the cached vectors and then replaces this file: a vector that
        # is stored between the two would be lost.
        with (
            index_lock(self._path),
            translated_errors(self._path),
            write_transaction(self._connection),
        ):
            space = self._make_space(fingerprint, dims)
            self._connection.executemany(
                """
                INSERT INTO embedding_cache(space_id, text_hash, embedding, created)
                SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (
                  SELECT 1 FROM chunks_vec
                  WHERE space_id = ?1 AND text_hash = ?2 AND vector_id IS NULL
                )
                ON CONFLICT DO NOTHING
                """,
                [
                    (space, name, vector, int(self._now()))
                    for name, vector in vectors.items()
                ],
            )
            self._link(space, list(vectors))

    def _plan(self, fingerprint: str) -> None:
        """List the texts of chunks that are new to the space, and link known ones."""
        while has_many_waiting(self._connection, self._space(fingerprint)):
            with write_transaction(self._connection):
                self._link(self._make_space(fingerprint), [])
        if not self._count_unlisted(self._space(fingerprint)):
            return
        last = -1
        while True:
            # The ids of spaces and chunks hold within one transaction only.
            with write_transaction(self._connection):
                rows = self._plan_after(last, self._make_space(fingerprint))
            if not rows:
                return
            last = rows[-1][0]

    def _plan_after(self, last: int, space: int) -> list[tuple[int, int, int, str]]:
        """List the texts of some chunks after *last*; return the rows that were made.

        Returns:
            (chunk, space, subchunk, hash of its text), in order of chunks.
        """
        chunks = self._connection.execute(
            """
            SELECT id, body FROM chunk_words
            WHERE id > ? AND NOT EXISTS (
              SELECT 1 FROM chunks_vec
              WHERE chunk_id = chunk_words.id AND space_id = ?
            )
            ORDER BY id LIMIT ?
            """,
            (last, space, PLAN_CHUNKS),
        )
        rows = [
            (chunk_id, space, subchunk, text_hash(text))
            for chunk_id, body in chunks
            for subchunk, text in enumerate(embedding_texts(body))
        ]
        self._connection.executemany(
            """
            INSERT INTO chunks_vec(chunk_id, space_id, subchunk, text_hash)
            VALUES (?, ?, ?, ?)
            """,
            rows,
        )
        if rows:
            self._link(space, list({row[3] for row in rows}))
        return rows

    def _link(self, space: int, names: list[str]) -> None:
        """Link the chunks that have these texts to their vectors."""
        # It tells readers which blocks are new to them.
        version = select_int(
            self._connection,
            """
            INSERT INTO meta(key, value) VALUES ('serial', 1)
            ON CONFLICT (key) DO UPDATE SET value = value + 1
            RETURNING value
            """,
        )
        self._connection.executemany(
            """
            UPDATE chunks_vec SET vector_id = embedding_cache.id
            FROM embedding_cache
            WHERE chunks_vec.space_id = ? AND chunks_vec.text_hash = ?
              AND chunks_vec.vector_id IS NULL
              AND embedding_cache.space_id = chunks_vec.space_id
              AND embedding_cache.text_hash = chunks_vec.text_hash
            """,
            [(space, name) for name in names],
        )
        pack_waiting(self._connection, space, version)

    def _count_unlisted(self, space: int) -> int:
        """Return how many chunks are new to the space."""
        return select_int(
            self._connection,
            """
            SELECT count(*) FROM chunks
            WHERE NOT EXISTS (
              SELECT 1 FROM chunks_vec WHERE chunk_id = chunks.id AND space_id = ?
            )
            """,
            space,
        )

    def _space(self, fingerprint: str) -> int:
        """Return the id of a space; 0 when nothing was ever stored in it."""
        return select_int(
            self._connection, "SELECT id FROM spaces WHERE fingerprint = ?", fingerprint
        )

    def _make_space(self, fingerprint: str, dims: int = 0) -> int:
        """Return the id of a space, made if it is new, within a transaction.

        Its vectors have *dims* numbers from now on; 0: not known yet.
        """
        self._connection.execute(
            """
            INSERT INTO spaces(fingerprint, dimensions) VALUES (?1, ?2)
            ON CONFLICT DO UPDATE SET dimensions = ?2 WHERE dimensions = 0
            """,
            (fingerprint, dims),
        )
        known = self.dims(fingerprint)
        if dims and known != dims:
            message = f"The model now gives vectors of {dims} numbers, not of {known}."
            raise EmbeddingInvalidError(message)
        return self._space(fingerprint)
