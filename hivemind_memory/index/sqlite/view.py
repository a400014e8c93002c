"""The index as one query sees it: retrievers, limited to what the caller may see."""

from __future__ import annotations

from hivemind_memory.sqlite.connection import translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    import apsw

    from hivemind_memory.index.sqlite.filters import IndexContents, SqlFilter
    from hivemind_memory.index.sqlite.near_words import NearRows
    from hivemind_memory.index.sqlite.stats import CorpusStats
    from hivemind_memory.index.sqlite.vectors import VectorRetriever
    from hivemind_memory.index.sqlite.vocabulary import SqliteVocabulary
    from hivemind_memory.index.sqlite.words import WordRetriever
    from hivemind_memory.model.matches import VectorMatches, WordCandidate, WordMatches
    from hivemind_memory.model.terms import QueryTerm


# Of a note without type and id each entry is a claim, else its text; a note that holds
# nothing but forgotten entries has no chunk.
_PENDING_CLAIMS = """
SELECT coalesce(sum(
  CASE WHEN type IS NOT NULL OR memory_id IS NOT NULL THEN 1 ELSE (
    SELECT max(count(DISTINCT entry_id), count(*) > 0) FROM chunks
    WHERE file_id = files.id
  ) END
), 0)
FROM files WHERE state = 0 AND status = 2"""

# A note, and each entry with tags of its own; an entry may be several chunks.
_TAGS = """
SELECT DISTINCT files.id, '' AS entry, files.tags
FROM chunks JOIN files ON files.id = chunks.file_id
WHERE files.state = 0 AND files.tags IS NOT NULL{matching}
UNION ALL
SELECT DISTINCT files.id, coalesce(chunks.entry_id, chunks.id), chunks.tags
FROM chunks JOIN files ON files.id = chunks.file_id
WHERE files.state = 0 AND chunks.tags IS NOT NULL{matching}"""


class SqliteView:
    """What one query may find, and what its figures are counted over."""

    __slots__ = (
        "_contents",
        "_matching",
        "_matching_stats",
        "_views",
        "_visible_stats",
    )

    def __init__(
        self,
        views: Views,
        matching: SqlFilter,
        *,
        matching_stats: CorpusStats | None,
        visible_stats: CorpusStats | None,
        contents: IndexContents,
    ) -> None:
        self._views = views
        self._matching = matching
        self._matching_stats = matching_stats
        self._visible_stats = visible_stats
        self._contents = contents

    def find_words(
        self, terms: Sequence[QueryTerm], *, limit: int, only_if_all_known: bool = False
    ) -> WordMatches:
        """Return the best *limit* candidates of the words retriever; see the port."""
        return self._views.word_retriever().find(
            terms,
            limit=limit,
            matching=self._matching,
            visible=self._visible_stats,
            only_if_all_known=only_if_all_known,
        )

    def has_other_scopes(self) -> bool:
        """Return whether any note belongs to a scope that is not the global one."""
        return bool(self._contents.scopes - {""})

    def find_near_words(
        self, words: WordMatches, scopes: Collection[str], *, limit: int
    ) -> Sequence[WordCandidate]:
        """Return up to *limit* candidates near to a caller that *words* lacks."""
        from hivemind_memory.index.sqlite.filters import near_filter

        near = near_filter(scopes, self._contents, self._matching)
        return () if near is None else self._views.near_words(near, words, limit=limit)

    def find_vectors(
        self, fingerprint: str, query: bytes, *, limit: int, also: Sequence[int]
    ) -> VectorMatches | None:
        """Return cosines of the best *limit* chunks, and of the chunks *also*."""
        return self._views.vector_retriever(fingerprint).find(
            query,
            limit=limit,
            also=also,
            matching=self._matching_stats,
            visible=self._visible_stats,
        )

    def vocabulary(self) -> SqliteVocabulary:
        """Return the words of what the caller may see."""
        return self._views.vocabulary(self._visible_stats)

    def pending_chunks(self, fingerprint: str) -> int:
        """Return how many visible chunks have no vector in a space yet."""
        visible = self._visible_stats
        if visible is None:
            return self._views.pending_chunks(fingerprint)
        if not self._views.has_space(fingerprint):
            return len(visible.chunks)  # and simsimd, which counts them, is not loaded
        retriever = self._views.vector_retriever(fingerprint)
        return len(visible.chunks) - retriever.count_vectors(visible.chunks)

    def pending_claims(self) -> int:
        """Return how many visible claims are pending in an inbox."""
        return self._views.pending_claims(self._matching)

    def tag_counts(self) -> dict[str, int]:
        """Return tag -> how many notes and entries have it; see the port."""
        return self._views.tag_counts(self._matching)


class Views:
    """Makes views of one open index, and keeps what their queries share."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        tokens_of: Callable[[str], list[str]],
        cached: Callable[[str, Callable[[], Any]], Any],
    ) -> None:
        """Take the parts of an open index.

        Args:
            connection: Where it is read.
            path: Its file, for errors.
            tokens_of: Its tokenizer.
            cached: Returns what a function computes, until the file changes.
        """
        self._connection = connection
        self._path = path
        self._tokens_of = tokens_of
        self._cached = cached
        self._words: WordRetriever | None = None
        self._near_rows: NearRows | None = None
        self._vectors: dict[str, VectorRetriever] = {}

    def view(
        self, visible: SqlFilter, matching: SqlFilter, contents: IndexContents
    ) -> SqliteView:
        """Return the view of a query.

        Args:
            visible: What its caller may see.
            matching: What it may find, a part of that.
            contents: What the index holds.
        """
        return SqliteView(
            self,
            matching,
            matching_stats=self._stats(matching),
            visible_stats=self._stats(visible),
            contents=contents,
        )

    def _stats(self, where: SqlFilter) -> CorpusStats | None:
        """Return figures over what a condition leaves; None: it hides nothing."""
        if not where.sql:
            return None
        from hivemind_memory.index.sqlite.stats import CorpusStats

        stats: CorpusStats = self._cached(
            f"stats {where}", lambda: CorpusStats(self._connection, where)
        )
        return stats

    def word_retriever(self) -> WordRetriever:
        """Return the retriever that finds chunks by their words."""
        if self._words is None:
            from hivemind_memory.index.sqlite.words import WordRetriever

            self._words = WordRetriever(self._connection, self._path, self._tokens_of)
        return self._words

    def near_words(
        self, near: SqlFilter, words: WordMatches, *, limit: int
    ) -> Sequence[WordCandidate]:
        """Return up to *limit* candidates of what is near that *words* lacks."""
        from hivemind_memory.index.sqlite.near_words import NearRows, NearWords

        if self._near_rows is None:
            self._near_rows = NearRows(self._connection)
        parts = (self._connection, self._path, self._near_rows, near)
        kept: NearWords = self._cached(
            f"near {near.sql} {near.values}", lambda: NearWords(*parts)
        )
        return kept.find(words, limit=limit)

    def has_space(self, fingerprint: str) -> bool:
        """Return whether anything was ever stored in a space of vectors."""
        sql = "SELECT 1 FROM spaces WHERE fingerprint = ?"
        with translated_errors(self._path):
            return bool(self._connection.execute(sql, (fingerprint,)).fetchone())

    def vector_retriever(self, fingerprint: str) -> VectorRetriever:
        """Return the retriever of one space of vectors; loads simsimd."""
        from hivemind_memory.index.sqlite.vectors import VectorRetriever

        if fingerprint not in self._vectors:
            self._vectors[fingerprint] = VectorRetriever(self._connection, fingerprint)
        return self._vectors[fingerprint]

    def vocabulary(self, visible: CorpusStats | None) -> SqliteVocabulary:
        """Return the words of what is visible; None: of everything."""
        from hivemind_memory.index.sqlite.vocabulary import (
            SqliteVocabulary,
            read_initial,
            read_vocabulary,
        )

        return SqliteVocabulary(
            self._connection,
            self._path,
            self._tokens_of,
            lambda: self._cached(
                "vocabulary", lambda: read_vocabulary(self._connection)
            ),
            visible,
            lambda first: self._cached(
                f"initial {first}", lambda: read_initial(self._connection, first)
            ),
        )

    def pending_claims(self, visible: SqlFilter) -> int:
        """Return how many claims are pending among the files that a filter leaves."""
        sql = f"{_PENDING_CLAIMS}{visible.sql}"
        with translated_errors(self._path):
            [(count,)] = self._connection.execute(sql, visible.values)
        return int(count)

    def tag_counts(self, matching: SqlFilter) -> dict[str, int]:
        """Return tag -> how many of what a filter leaves have it."""
        sql = _TAGS.format(matching=matching.sql)
        counts: dict[str, int] = {}
        with translated_errors(self._path):
            rows = self._connection.execute(sql, matching.values * 2)
            for _, _, lines in rows:
                for tag in lines.strip("\n").split("\n"):
                    counts[tag] = counts.get(tag, 0) + 1
        return counts

    def pending_chunks(self, fingerprint: str) -> int:
        """Return how many chunks have no vector in a space yet."""
        from hivemind_memory.index.sqlite.vector_store import SqliteVectorStore

        store = SqliteVectorStore(self._connection, self._path, lambda: 0.0)
        pending: int = self._cached(
            f"pending {fingerprint}", lambda: store.count_pending_chunks(fingerprint)
        )
        return pending
