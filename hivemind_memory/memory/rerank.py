"""Takes the best candidates of a query to a reranker, and its scores into the answer.

The index answers twice: first without, which finds the candidates and is the
answer if the reranker fails; then with the scores. In between, while the reranker
reads, no lock is held, so other threads search and write.
"""

from __future__ import annotations

from hivemind_memory.errors import RerankError
from hivemind_memory.memory.same_text import shown_text
from hivemind_memory.model.query import ANSWER_TIMEOUT_S
from hivemind_memory.model.value import replaced
from hivemind_memory.search.reranking import rerank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.index.port import Index
    from hivemind_memory.model.clocks import AskedAt
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.ports import Reranker
    from hivemind_memory.model.query import SearchAnswer
    from hivemind_memory.search.ranking import Ranking


RERANK_CANDIDATES = 20
"""Candidates that are read, the best ones: each takes as long as a vector."""


class Reranking:
    """One query's way to the reranker and back."""

    def __init__(self, reranker: Reranker, access: Access | None = None) -> None:
        """Read nothing yet.

        Args:
            reranker: Reads the candidates.
            access: Which of them it may be sent; None: all. The others keep their
                raw score.
        """
        self._reranker = reranker
        self._access = access
        self._texts: list[str] = []
        self._scores: dict[str, float] = {}

    def apply(self, ranking: Ranking, index: Index) -> Ranking:
        """Return the candidates in the order of the scores, once there are some.

        Before that, remember their texts. A chunk is known by its text, for the index
        may change while the reranker reads.
        """
        ids = [each.place.chunk_id for each in ranking.ranked[:RERANK_CANDIDATES]]
        texts = {
            chunk: _read_text(text, headings)
            for chunk, (text, headings) in index.texts(ids, self._access).items()
        }
        if not self._scores:
            self._texts = list(dict.fromkeys(texts.values()))
            return ranking
        scores = {
            chunk: self._scores[text]
            for chunk, text in texts.items()
            if text in self._scores
        }
        name = self._reranker.name
        return ranking._replace(ranked=rerank(ranking.ranked, scores, reranker=name))

    def improve(
        self,
        found: SearchAnswer,
        query: str,
        answer_again: Callable[[], SearchAnswer],
        asked_at: AskedAt,
    ) -> SearchAnswer:
        """Return the answer with what the reranker says, or why it says nothing.

        Args:
            found: The answer without it.
            query: What was asked.
            answer_again: Makes the answer from the scores.
            asked_at: Tells how much time is left.
        """
        if len(self._texts) < 2:
            return found
        left_s = ANSWER_TIMEOUT_S - asked_at.took_s()
        try:
            scores = self._reranker.rerank(query, self._texts, timeout_s=left_s)
        except RerankError as error:
            report = replaced(found.report, took_ms=1000 * asked_at.took_s())
            why = f"not reranked: {error}"
            return replaced(found, report=report).with_warnings((why,))
        self._scores = dict(zip(self._texts, scores, strict=True))
        better = answer_again()
        known = better.report.warnings
        return better.with_warnings(
            warning for warning in found.report.warnings if warning not in known
        )


def _read_text(text: str, headings: str) -> str:
    """Return what the reranker reads: the headings above a chunk, and its lines."""
    return f"{headings.replace(chr(10), ' > ')}\n{shown_text(text)}".strip()
