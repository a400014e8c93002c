"""Finds the reranker that the settings choose, and what it may read.

A local one, and a server on this machine, read every candidate. Any other, and the
language model wherever it runs, is sent no private text unless ``llm_send_private``
says so; such candidates keep their raw score.
"""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.ports import Reranker
    from hivemind_memory.providers.provider import Provider
    from hivemind_memory.state.model_requests import ModelRequests
    from hivemind_memory.state.state_file import StateFile

_STATE_WAIT_MS = 200
"""A search has two seconds, and may wait twice for the state."""


class ChosenReranker(NamedTuple):
    """What reads the best candidates of a query, and which of them."""

    reranker: Reranker
    access: Access | None = None
    """What of them it may be sent; None: all."""


def find_reranker(
    provider: Provider,
    settings: Settings,
    state: Callable[[], StateFile],
    clocks: Clocks,
) -> ChosenReranker | None:
    """Return what reranks the best candidates; None: the settings choose none.

    Args:
        provider: Connects it.
        settings: The options.
        state: Returns what keeps the breaker and the requests of the day.
        clocks: Tell the day.
    """

    def open_account(per_day: int) -> ModelRequests:
        from hivemind_memory.state.model_requests import RERANK_BREAKER, ModelRequests

        return ModelRequests(
            state(),
            clocks,
            per_day=per_day,
            breaker=RERANK_BREAKER,
            wait_ms=_STATE_WAIT_MS,
        )

    reranker = provider.reranker(open_account, clocks.now)
    if reranker is None:
        return None
    return ChosenReranker(reranker, _access_of(settings))


def _access_of(settings: Settings) -> Access | None:
    """Return what the chosen reranker may be sent; None: all."""
    from hivemind_memory.access.visibility import sendable
    from hivemind_memory.providers.addresses import parse_address
    from hivemind_memory.providers.provider import HTTP, LOCAL

    chosen = settings.rerank_provider
    is_here = chosen == HTTP and parse_address(settings.rerank_url).is_loopback
    return None if chosen == LOCAL or is_here else sendable(settings)
