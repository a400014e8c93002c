"""Which chunks a query may find, as SQL, and the index as that query sees it.

What a caller may see is part of every statement, so that no ranking, count or cut knows
of the rest. Where the index holds nothing that a condition would hide, it is left out.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    import apsw

    from hivemind_memory.index.sqlite.stats import CorpusStats
    from hivemind_memory.index.sqlite.vectors import VectorRetriever
    from hivemind_memory.index.sqlite.vocabulary import SqliteVocabulary
    from hivemind_memory.index.sqlite.words import WordRetriever
    from hivemind_memory.model.filters import (
        Access,
        Condition,
        Requirement,
        SearchFilter,
    )
    from hivemind_memory.model.matches import VectorMatches, WordMatches
    from hivemind_memory.model.terms import QueryTerm


class SqlFilter(NamedTuple):
    """A condition on ``files`` and ``chunks``, with its values."""

    sql: str = ""
    """Begins with AND, or is empty: it hides nothing."""

    values: tuple[object, ...] = ()


class IndexContents:
    """What the index holds, as far as filters care; read once for each change."""

    __slots__ = ("has_expiring", "has_pending", "has_strong_edges", "scopes")

    def __init__(self, connection: apsw.Connection) -> None:
        rows = connection.execute("SELECT DISTINCT scope FROM files WHERE state = 0")
        self.scopes = frozenset(scope for (scope,) in rows)
        [(has_pending, has_expiring, has_superseded)] = connection.execute(
            """
            SELECT coalesce(max(standing = 2), 0),
              coalesce(max(expires_day IS NOT NULL), 0), coalesce(max(standing = 1), 0)
            FROM files WHERE state = 0 AND (standing <> 0 OR expires_day IS NOT NULL)
            """
        )
        self.has_pending = bool(has_pending)
        self.has_expiring = bool(has_expiring)
        edges = "SELECT 1 FROM edges WHERE kind <> 'related_to' LIMIT 1"
        self.has_strong_edges = (
            bool(has_superseded) or connection.execute(edges).fetchone() is not None
        )
        """Something supersedes or contradicts something."""


def visibility_filter(access: Access | None, contents: IndexContents) -> SqlFilter:
    """Return the SQL condition that leaves what a caller may see."""
    return _joined(_parts_of(access.condition if access else (), contents))


def query_filter(
    access: Access | None,
    search_filter: SearchFilter | None,
    today: int,
    contents: IndexContents,
) -> SqlFilter:
    """Return the SQL condition for a query: what is visible, and asked for."""
    parts = _parts_of(access.condition if access else (), contents)
    if search_filter is None:
        return _joined(parts)
    if search_filter.scope is not None:
        parts.append(SqlFilter("files.scope = ?", (search_filter.scope,)))
    if search_filter.types:
        parts.append(_among("files.type", search_filter.types))
    if contents.has_pending and not search_filter.has_pending:
        parts.append(SqlFilter("files.standing <> 2"))
    if contents.has_expiring and not search_filter.has_expired:
        parts.append(SqlFilter("coalesce(files.expires_day > ?, 1)", (today,)))
    day = "coalesce(chunks.day, files.day)"
    if search_filter.since_day is not None:
        parts.append(SqlFilter(f"{day} >= ?", (search_filter.since_day,)))
    if search_filter.until_day is not None:
        parts.append(SqlFilter(f"{day} <= ?", (search_filter.until_day,)))
    return _joined(parts)


_COLUMNS = {"scope": "files.scope", "visibility": "coalesce(files.visibility, '')"}
"""Field of a ``Requirement`` -> what it is in SQL."""


def _parts_of(condition: Condition, contents: IndexContents) -> list[SqlFilter]:
    """Return the clauses of a condition that hide anything, each as SQL."""
    parts = []
    for clause in condition:
        if any(_is_met_by_all(one, contents) for one in clause):
            continue
        tests = [_sql_of(one) for one in clause]
        sql = " OR ".join(test.sql for test in tests)
        values = tuple(value for test in tests for value in test.values)
        parts.append(SqlFilter(f"({sql})", values))
    return parts


def _is_met_by_all(requirement: Requirement, contents: IndexContents) -> bool:
    """Return whether every note of the index meets a requirement on its scope."""
    return requirement.field == "scope" and all(
        requirement.is_met_by(scope) for scope in contents.scopes
    )


def _sql_of(requirement: Requirement) -> SqlFilter:
    """Return a requirement as SQL."""
    column = _COLUMNS[requirement.field]
    return _among(
        column, sorted(requirement.values), is_excluded=requirement.is_excluded
    )


def _among(
    column: str, values: Collection[str], *, is_excluded: bool = False
) -> SqlFilter:
    """Return the condition that a column has one of some values, or none of them."""
    verb = "NOT IN" if is_excluded else "IN"
    return SqlFilter(f"{column} {verb} ({','.join('?' * len(values))})", tuple(values))


def _joined(parts: Iterable[SqlFilter]) -> SqlFilter:
    """Return the condition that all parts hold."""
    parts = list(parts)
    return SqlFilter(
        "".join(f" AND {part.sql}" for part in parts),
        tuple(value for part in parts for value in part.values),
    )


class SqliteView:
    """What one query may find, and what its figures are counted over."""

    __slots__ = ("_matching", "_matching_stats", "_views", "_visible_stats")

    def __init__(
        self,
        views: Views,
        matching: SqlFilter,
        *,
        matching_stats: CorpusStats | None,
        visible_stats: CorpusStats | None,
    ) -> None:
        self._views = views
        self._matching = matching
        self._matching_stats = matching_stats
        self._visible_stats = visible_stats

    def find_words(self, terms: Sequence[QueryTerm], *, limit: int) -> WordMatches:
        """Return the best *limit* candidates of the words retriever."""
        return self._views.word_retriever().find(
            terms, limit=limit, matching=self._matching, visible=self._visible_stats
        )

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
        retriever = self._views.vector_retriever(fingerprint)
        return len(visible.chunks) - retriever.count_vectors(visible.chunks)


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
        self._vectors: dict[str, VectorRetriever] = {}

    def view(self, visible: SqlFilter, matching: SqlFilter) -> SqliteView:
        """Return the view of a query.

        Args:
            visible: What its caller may see.
            matching: What it may find, a part of that.
        """
        return SqliteView(
            self,
            matching,
            matching_stats=self._stats(matching),
            visible_stats=self._stats(visible),
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

    def vector_retriever(self, fingerprint: str) -> VectorRetriever:
        """Return the retriever of one space of vectors; loads numpy."""
        from hivemind_memory.index.sqlite.vectors import VectorRetriever

        if fingerprint not in self._vectors:
            self._vectors[fingerprint] = VectorRetriever(self._connection, fingerprint)
        return self._vectors[fingerprint]

    def vocabulary(self, visible: CorpusStats | None) -> SqliteVocabulary:
        """Return the words of what is visible; None: of everything."""
        from hivemind_memory.index.sqlite.vocabulary import (
            SqliteVocabulary,
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
        )

    def pending_chunks(self, fingerprint: str) -> int:
        """Return how many chunks have no vector in a space yet."""
        from hivemind_memory.index.sqlite.vector_store import SqliteVectorStore

        store = SqliteVectorStore(self._connection, self._path, lambda: 0.0)
        pending: int = self._cached(
            f"pending {fingerprint}", lambda: store.count_pending_chunks(fingerprint)
        )
        return pending
