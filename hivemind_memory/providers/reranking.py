"""Asks a reranker: what it is sent, how often, and which answers are used."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite

from hivemind_memory.errors import (
    RerankError,
    RerankNotReadyError,
    StateUnusableError,
)
from hivemind_memory.providers.breaker import Breaker, load_breaker_state
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from hivemind_memory.model.ports import Reranker

    class RerankAccount(Protocol):
        """Counts the requests of a day, and keeps the breaker between processes."""

        def take_request(self) -> float:
            """Count one request before it is sent; see ``ChatAccount``."""
            ...

        def breaker_state(self) -> str:
            """Return what ``keep_breaker_state`` was given last; empty: nothing."""
            ...

        def keep_breaker_state(self, text: str) -> None:
            """Keep the state of the breaker."""
            ...


_MAX_SCORE = 1e9
"""Logits and shares are far smaller; the squares of what is larger are no numbers."""


class CheckedReranker:
    """A ``Reranker`` that is sent no secret, and is not asked while it fails.

    After three failures in a row it has a minute of rest, in every process of the home,
    so that no search waits for it. What is no score for each text is no answer.
    """

    def __init__(
        self,
        reranker: Reranker,
        now: Callable[[], float],
        account: RerankAccount | None = None,
    ) -> None:
        """Ask nothing yet.

        Args:
            reranker: The one to ask.
            now: Seconds since the epoch; of any clock if there is no account.
            account: Keeps the breaker for other processes; None: nothing does.
        """
        self._reranker = reranker
        self._now = now
        self._breaker = Breaker()
        self._account = account

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
        self._load_breaker()
        if why_not := self._breaker.why_not(self._now()):
            raise RerankNotReadyError(why_not.removesuffix("."))
        try:
            scores = self._reranker.rerank(
                mask(query), [mask(text) for text in texts], timeout_s=timeout_s
            )
            check_scores(scores, count=len(texts))
        except StateUnusableError as error:  # no request is sent that is not counted
            raise RerankNotReadyError(str(error).removesuffix(".")) from error
        except RerankError as error:
            if error.is_failure:
                self._breaker.fail(self._now(), str(error))
                self._keep_breaker()
            raise
        self._breaker.succeed()
        self._keep_breaker()
        return scores

    def _load_breaker(self) -> None:
        """Take the state that another process left, if it is of this reranker."""
        if self._account is None:
            return
        with suppress(StateUnusableError):  # then this process has its own
            name, _, state = self._account.breaker_state().partition("\n")
            same = load_breaker_state(state if name == self.name else "")
            self._breaker = Breaker(same)

    def _keep_breaker(self) -> None:
        """Leave the state for other processes."""
        if self._account is not None:
            with suppress(StateUnusableError):
                state = self._breaker.state.dump()
                self._account.keep_breaker_state(f"{self.name}\n{state}")

    def close(self) -> None:
        """Close the reranker."""
        self._reranker.close()


def check_scores(scores: Sequence[float], *, count: int) -> None:
    """Check the scores of *count* texts.

    Raises:
        RerankError: One is missing, too many, no number, or far too large.
    """
    if len(scores) != count:
        raise RerankError(f"the reranker gave {len(scores)} scores for {count} texts")
    if not all(map(isfinite, scores)):
        raise RerankError("the reranker gave a score that is no number")
    if any(abs(score) > _MAX_SCORE for score in scores):
        raise RerankError("the reranker gave a score that is far too large")
