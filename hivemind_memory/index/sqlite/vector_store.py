"""Which texts need a vector, and the cache of vectors.

A vector belongs to a text, not to a chunk: the cache is keyed by space and text hash,
outlives every rebuild, and a chunk only links to it.
"""

from __future__ import annotations

import json

from hivemind_memory.errors import EmbeddingInvalidError
from hivemind_memory.index.sqlite.lock import index_lock
from hivemind_memory.index.sqlite.vector_blocks import has_many_unpacked, pack_new
from hivemind_memory.markdown.subchunks import embedding_texts, text_hash
from hivemind_memory.sqlite.connection import (
    read_transaction,
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

_LISTED = "coalesce((SELECT listed FROM spaces WHERE id = ?), 0)"


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
            with read_transaction(self._connection):
                places = self._first_pending(self._space(fingerprint), limit)
                return self._texts_at(places)

    def near_notes(
        self, fingerprint: str, paths: Collection[str], least: float
    ) -> list[tuple[str, str]]:
        """Return the pairs of some notes whose cosine is at least *least*.

        A note counts if it is one chunk that has a vector.
        """
        from hivemind_memory.index.sqlite.vectors import products_of

        with translated_errors(self._path):
            rows = self._connection.execute(
                """
                SELECT path, min(embedding) FROM spaces
                JOIN chunks_vec ON chunks_vec.space_id = spaces.id AND subchunk = 0
                JOIN chunks ON chunks.id = chunk_id
                JOIN files ON files.id = file_id AND state = 0
                JOIN embedding_cache ON embedding_cache.id = vector_id
                WHERE fingerprint = ? AND path IN (SELECT value FROM json_each(?))
                GROUP BY path HAVING count(*) = 1 ORDER BY path
                """,
                (fingerprint, json.dumps(list(paths))),
            )
            found = [(str(path), bytes(vector)) for path, vector in rows]
        pairs = []
        for at, (path, vector) in enumerate(found):
            others = [other for other in found[:at] if len(other[1]) == len(vector)]
            cosines = products_of(vector, [other for _, other in others])
            for (other, _), cosine in zip(others, cosines, strict=True):
                if least <= cosine:
                    pairs.append((path, other))
        return pairs

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
        """Keep hash -> vector, all of *dims* numbers; afterward none is pending.

        A text that no chunk holds any more is dropped: it may have been purged while
        the provider worked.

        Raises:
            EmbeddingInvalidError: Another process stored vectors of another length.
        """
        # A rebuild copies the cached vectors and then replaces this file: a vector that
        # is stored between the two would be lost. It may also have replaced it since
        # the texts were handed out, and then they are not listed yet.
        with index_lock(self._path), translated_errors(self._path):
            self._plan(fingerprint)
            with write_transaction(self._connection):
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
        while has_many_unpacked(self._connection, self._space(fingerprint)):
            with write_transaction(self._connection):
                self._link(self._make_space(fingerprint), [])
        while self._has_unlisted(self._space(fingerprint)):
            with write_transaction(self._connection):
                self._list_some(self._make_space(fingerprint))

    def _list_some(self, space: int) -> None:
        """List the texts of some chunks that are new to the space, the oldest first.

        Within a write transaction. The number of a new chunk is larger than that of any
        chunk before, deleted ones included; so one number says which are listed.
        """
        chunks: list[tuple[int, str]] = list(
            self._connection.execute(
                f"""
                SELECT id, body FROM chunk_words WHERE id > {_LISTED}
                ORDER BY id LIMIT ?
                """,
                (space, PLAN_CHUNKS),
            )
        )
        if not chunks:
            return
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
        self._connection.execute(
            "UPDATE spaces SET listed = ? WHERE id = ?", (chunks[-1][0], space)
        )
        self._link(space, list({row[3] for row in rows}))

    def _first_pending(self, space: int, limit: int) -> dict[str, tuple[int, int]]:
        """Return hash -> (chunk, subchunk) of the first texts that have no vector."""
        places: dict[str, tuple[int, int]] = {}
        rows = self._connection.execute(
            """
            SELECT text_hash, chunk_id, subchunk FROM chunks_vec
            WHERE space_id = ? AND vector_id IS NULL ORDER BY id
            """,
            (space,),
        )
        for name, chunk_id, subchunk in rows:
            if len(places) == limit:
                break
            places.setdefault(name, (chunk_id, subchunk))
        rows.close(force=True)
        return places

    def _texts_at(self, places: Mapping[str, tuple[int, int]]) -> list[tuple[str, str]]:
        """Return (hash, text) of some texts; each chunk is split only once."""
        texts: dict[int, list[str]] = {}
        for chunk_id, _ in places.values():
            if chunk_id not in texts:
                [(body,)] = self._connection.execute(
                    "SELECT body FROM chunk_words WHERE id = ?", (chunk_id,)
                )
                texts[chunk_id] = embedding_texts(body)
        return [
            (name, texts[chunk_id][subchunk])
            for name, (chunk_id, subchunk) in places.items()
        ]

    def _link(self, space: int, names: list[str]) -> None:
        """Link the chunks that have these texts to their vectors."""
        # Readers see by it which blocks are new to them.
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
        pack_new(self._connection, space, version)

    def _count_unlisted(self, space: int) -> int:
        """Return how many chunks are new to the space."""
        return select_int(
            self._connection,
            f"SELECT count(*) FROM chunks WHERE id > {_LISTED}",
            space,
        )

    def _has_unlisted(self, space: int) -> bool:
        """Return whether any chunk is new to the space."""
        is_any = f"SELECT EXISTS (SELECT 1 FROM chunks WHERE id > {_LISTED})"
        return bool(select_int(self._connection, is_any, space))

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
