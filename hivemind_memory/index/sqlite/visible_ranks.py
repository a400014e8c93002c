"""Ranks of rows for a limited caller, without what it may not see."""

from __future__ import annotations

from math import log

from hivemind_memory.model.terms import REASON_WEIGHT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from hivemind_memory.index.sqlite.stats import CorpusStats
    from hivemind_memory.model.matches import WordForm


class VisibleRanks:
    """Ranks rows as FTS5 would if the index held only what a caller may see.

    Equal to the last bit: the order of rows must not show whether anything is hidden.

    Source:
        SQLite, FTS5 extension, "The bm25() function": k1 = 1.2, b = 0.75, and an
        inverse document frequency of at least 1e-6; the order of operations is that
        of ``fts5Bm25Function`` in its source.
    """

    __slots__ = ("_chunks", "_mean", "_phrases", "_rows", "_weights")

    def __init__(self, phrases: Sequence[WordForm], visible: CorpusStats) -> None:
        """Take the phrases in the order of the expression, and what is visible."""
        self._rows, *tokens = visible.totals
        self._mean = sum(tokens) / max(1, self._rows)
        self._chunks = visible.chunks
        self._phrases = phrases
        self._weights: list[float] | None = None

    def rank_of(self, api: apsw.FTS5ExtensionApi) -> float:
        """Return the rank of a row, the smaller the better; of a hidden one, 0."""
        if api.rowid not in self._chunks:
            return 0.0
        if self._weights is None:
            self._weights = [self._weight(api, n) for n in range(len(self._phrases))]
        norm = 1.2 * (1 - 0.75 + 0.75 * api.column_size(-1) / self._mean)
        score = 0.0
        for phrase, weight in enumerate(self._weights):
            *others, in_reason = api.phrase_locations(phrase)
            count = float(sum(map(len, others)))
            for _ in in_reason:
                count += REASON_WEIGHT
            score += weight * ((count * 2.2) / (count + norm))
        return -score

    def _weight(self, api: apsw.FTS5ExtensionApi, phrase: int) -> float:
        """Return the inverse document frequency of a phrase."""
        hits = self._phrases[phrase].chunks
        if len(self._phrases[phrase].tokens) > 1:  # those are counted word by word
            found: list[int] = []
            api.query_phrase(phrase, lambda row, rows: rows.append(row.rowid), found)
            hits = len(self._chunks.intersection(found))
        weight = log((self._rows - hits + 0.5) / (hits + 0.5))
        return weight if weight > 0 else 1e-6
