"""A filter as SQL, and as little of it as the index needs.

Who may see a note is part of every query, so that no ranking, count or cut ever knows
of the others. Where the index holds nothing that a filter would hide, there is none.

What one caller sees of the index: its chunks, and how common words are among them.

Figures of a ranking are told of what the caller may see and of nothing else: a word
that only others have counts as one that nobody has.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from hivemind_memory.model.filters import Access, SearchFilter


_SCOPES = "SELECT DISTINCT scope FROM files WHERE state = 0"
_ODDITIES = """
SELECT coalesce(max(standing = 2), 0), coalesce(max(expires_day IS NOT NULL), 0),
  coalesce(max(standing = 1), 0)
FROM files WHERE state = 0 AND (standing <> 0 OR expires_day IS NOT NULL)
"""
_STRONG_EDGES = "SELECT 1 FROM edges WHERE kind <> 'related_to' LIMIT 1"


class SqlFilter:
    """Conditions on ``files`` and ``chunks``, with their values."""

    __slots__ = ("sql", "values")

    def __init__(self, parts: list[tuple[str, tuple[object, ...]]]) -> None:
        self.sql = "".join(f" AND {sql}" for sql, _ in parts)
        """Begins with AND, or is empty."""
        self.values = tuple(value for _, values in parts for value in values)

    @property
    def key(self) -> str:
        """What tells one from another."""
        return f"{self.sql} {self.values}"

    def __bool__(self) -> bool:
        """Whether it hides anything."""
        return bool(self.sql)


NO_FILTER = SqlFilter([])


class IndexContents:
    """What the index holds at all, as far as filters care; read once a change."""

    __slots__ = ("has_expiring", "has_pending", "has_strong_edges", "scopes")

    def __init__(self, connection: apsw.Connection) -> None:
        self.scopes = frozenset(scope for (scope,) in connection.execute(_SCOPES))
        [(waiting, expiring, replaced)] = connection.execute(_ODDITIES)
        self.has_pending = bool(waiting)
        self.has_expiring = bool(expiring)
        self.has_strong_edges = bool(replaced) or (
            connection.execute(_STRONG_EDGES).fetchone() is not None
        )
        """Something replaces or disputes something."""


def visibility_filter(access: Access, contents: IndexContents) -> SqlFilter:
    """Return the condition that leaves what a caller may see."""
    parts: list[tuple[str, tuple[object, ...]]] = []
    if access.scopes is not None and not contents.scopes <= access.scopes:
        parts.append(_among("files.scope", sorted(access.scopes)))
    if access.is_public_only:
        inherited = "'public'"
        private = tuple(sorted(access.private_scopes))
        if private:
            marks = ",".join("?" * len(private))
            inherited = f"CASE WHEN files.scope IN ({marks}) THEN '' ELSE 'public' END"
        parts.append((f"coalesce(files.visibility, {inherited}) = 'public'", private))
    return SqlFilter(parts)


def query_filter(
    access: Access, search_filter: SearchFilter, today: int, contents: IndexContents
) -> SqlFilter:
    """Return the condition for a question: what may be seen, and is asked for."""
    visible = visibility_filter(access, contents)
    parts = [(visible.sql.removeprefix(" AND "), visible.values)] if visible else []
    if search_filter.scope is not None:
        parts.append(("files.scope = ?", (search_filter.scope,)))
    if search_filter.types:
        parts.append(_among("files.type", search_filter.types))
    if contents.has_pending and not search_filter.has_pending:
        parts.append(("files.standing <> 2", ()))
    if contents.has_expiring and not search_filter.has_expired:
        parts.append(("coalesce(files.expires_day > ?, 1)", (today,)))
    day = "coalesce(chunks.day, files.day)"
    if search_filter.since_day is not None:
        parts.append((f"{day} >= ?", (search_filter.since_day,)))
    if search_filter.until_day is not None:
        parts.append((f"{day} <= ?", (search_filter.until_day,)))
    return SqlFilter(parts)


def _among(
    column: str, values: list[str] | tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Return the condition that a column has one of some values."""
    return f"{column} IN ({','.join('?' * len(values))})", tuple(values)


_CHUNKS = """
SELECT chunks.id FROM chunks JOIN files ON files.id = file_id AND files.state = 0
WHERE 1 {where}
"""
_SIZES = """
SELECT sz FROM chunks_fts_docsize
JOIN chunks ON chunks.id = chunks_fts_docsize.id
JOIN files ON files.id = file_id AND files.state = 0
WHERE 1 {where}
"""


class Visibility:
    """What a question may find, and what its figures are counted over."""

    __slots__ = ("matching", "matching_stats", "visible_stats")

    def __init__(
        self,
        matching: SqlFilter = NO_FILTER,
        *,
        matching_stats: CorpusStats | None = None,
        visible_stats: CorpusStats | None = None,
    ) -> None:
        self.matching = matching
        """What it may find."""
        self.matching_stats = matching_stats
        """The chunks of that; None: all of them."""
        self.visible_stats = visible_stats
        """What its caller may see; None: everything."""


ALL_VISIBLE = Visibility()
"""Hides nothing."""


class CorpusStats:
    """Figures over the chunks that a caller may see, in one state of the index."""

    def __init__(self, connection: apsw.Connection, visible: SqlFilter) -> None:
        self._connection = connection
        self._visible = visible
        self._chunks: frozenset[int] | None = None
        self._totals: tuple[int, int, int] | None = None
        self._documents: dict[str, int] = {}

    @property
    def chunks(self) -> frozenset[int]:
        """The numbers of the chunks."""
        if self._chunks is None:
            rows = self._connection.execute(
                _CHUNKS.format(where=self._visible.sql), self._visible.values
            )
            self._chunks = frozenset(chunk for (chunk,) in rows)
        return self._chunks

    def documents(self, token: str) -> int:
        """Return how many of the chunks hold *token*."""
        known = self._documents.get(token)
        if known is None:
            rows = self._connection.execute(
                "SELECT DISTINCT doc FROM occurrences WHERE term = ?", (token,)
            )
            chunks = self.chunks
            known = sum(chunk in chunks for (chunk,) in rows)
            self._documents[token] = known
        return known

    @property
    def totals(self) -> tuple[int, int, int]:
        """Chunks, and the tokens of their texts and of their trails."""
        if self._totals is None:
            rows = text = trail = 0
            for (sizes,) in self._connection.execute(
                _SIZES.format(where=self._visible.sql), self._visible.values
            ):
                in_body, in_extra, in_trail = _numbers(sizes)
                rows += 1
                text += in_body + in_extra
                trail += in_trail
            self._totals = (rows, text, trail)
        return self._totals


def _numbers(blob: bytes) -> list[int]:
    """Return the numbers in a row of token counts.

    Source:
        SQLite, file format, varints: seven bits a byte, the highest bit says that more
        follow.
    """
    numbers, number = [], 0
    for byte in blob:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    return numbers
