"""Asks a reranker: what it is sent, how often, and which answers are used."""

from __future__ import annotations

from math import isfinite

from hivemind_memory.errors import RerankError, RerankNotReadyError
from hivemind_memory.providers.breaker import Breaker
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.model.ports import Reranker


class CheckedReranker:
    """A ``Reranker`` that is sent no secret, and is not asked while it fails.

    After three failures in a row it has a minute of rest, so that no search waits for
    it. What is no score for each text is no answer.
    """

    def __init__(self, reranker: Reranker, now: Callable[[], float]) -> None:
        """Ask nothing yet.

        Args:
            reranker: The one to ask.
            now: Seconds on any clock.
        """
        self._reranker = reranker
        self._now = now
        self._breaker = Breaker()

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._reranker.name

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_s: float
    ) -> list[float]:
        """Return one score for each text; see the port."""
        if timeout_s <= 0:
            raise RerankNotReadyError("there was no time left")
        if why_not := self._breaker.why_not(self._now()):
            raise RerankNotReadyError(why_not.removesuffix("."))
        try:
            scores = self._reranker.rerank(
                mask(query), [mask(text) for text in texts], timeout_s=timeout_s
            )
            check_scores(scores, count=len(texts))
        except RerankError as error:
            if error.is_failure:
                self._breaker.fail(self._now(), str(error))
            raise
        self._breaker.succeed()
        return scores

    def close(self) -> None:
        """Close the reranker."""
        self._reranker.close()


def check_scores(scores: Sequence[float], *, count: int) -> None:
    """Check the scores of *count* texts.

    Raises:
        RerankError: One is missing, too many, or no number.
    """
    if len(scores) != count:
        raise RerankError(f"the reranker gave {len(scores)} scores for {count} texts")
    if not all(map(isfinite, scores)):
        raise RerankError("the reranker gave a score that is no number")
