"""Counts words over the chunks that a caller may see, and vectors in each space.

The full-text engine counts over the whole index. A score made from its figures would
reveal how common a word is among hidden notes, so a limited caller's are counted here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from hivemind_memory.index.sqlite.filters import SqlFilter

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


class CorpusStats:
    """Figures over the chunks that a caller may see, in one state of the index."""

    def __init__(self, connection: apsw.Connection, visible: SqlFilter) -> None:
        self._connection = connection
        self._visible = visible
        self._chunks: frozenset[int] | None = None
        self._totals: tuple[int, int, int, int] | None = None
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
    def totals(self) -> tuple[int, int, int, int]:
        """Chunks, and the tokens of their texts, their breadcrumbs and reasons."""
        if self._totals is None:
            rows = text = breadcrumbs = reason = 0
            for (sizes,) in self._connection.execute(
                _SIZES.format(where=self._visible.sql), self._visible.values
            ):
                in_body, in_extra, in_breadcrumbs, in_reason = _numbers(sizes)
                rows += 1
                text += in_body + in_extra
                breadcrumbs += in_breadcrumbs
                reason += in_reason
            self._totals = (rows, text, breadcrumbs, reason)
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


def count_spaces(connection: apsw.Connection) -> dict[str, int]:
    """Return fingerprint -> chunks with a vector, for spaces that have any."""
    return dict(
        connection.execute(
            """
            SELECT fingerprint, count(*)
            FROM spaces JOIN chunks_vec ON space_id = spaces.id
            WHERE subchunk = 0 AND vector_id IS NOT NULL
            GROUP BY spaces.id
            """
        )
    )
