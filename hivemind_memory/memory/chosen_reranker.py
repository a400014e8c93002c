"""Finds the reranker that the settings choose, with what processes share of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.ports import Reranker
    from hivemind_memory.providers.provider import Provider
    from hivemind_memory.state.model_requests import ModelRequests
    from hivemind_memory.state.state_file import StateFile


def find_reranker(
    provider: Provider, state: Callable[[], StateFile], clocks: Clocks
) -> Reranker | None:
    """Return what reranks the best candidates; None: the settings choose none.

    Args:
        provider: Has the settings.
        state: Returns what keeps the breaker and the requests of the day.
        clocks: Tell the day.
    """

    def open_account(per_day: int) -> ModelRequests:
        from hivemind_memory.state.model_requests import RERANK_BREAKER, ModelRequests

        return ModelRequests(state(), clocks, per_day=per_day, breaker=RERANK_BREAKER)

    return provider.reranker(open_account, clocks.now)
