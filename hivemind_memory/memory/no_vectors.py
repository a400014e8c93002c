"""Says why no chunk has a vector, without the network or a provider's library.

Most searches of a memory without vectors need no more of that side than this.
"""

from __future__ import annotations

from hivemind_memory.memory.search import NO_PROVIDER
from hivemind_memory.model.matches import QueryVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.open_index import IndexHandle
    from hivemind_memory.providers.provider import Provider


PROBLEM = "embedding-problem"
"""Key of the index's meta table: a provider and the space that it was asked for, and on
the next lines why it failed."""

NO_VECTORS_YET = "no vectors yet"
"""The reason when none is known; ``hm status`` asks the provider for one."""


def last_problem(index: Index, provider: Provider, fingerprint: str = "") -> str:
    """Return why the chosen provider last failed, and the remedy, if it did.

    Every process records it in the index, so ``hm status`` need not ask again.

    Args:
        index: Where it is recorded.
        provider: The one that the settings choose.
        fingerprint: Of its space: at another address another one failed. Empty: any.
    """
    failed, _, text = index.get_meta(PROBLEM).partition("\n")
    name, _, space = failed.partition(" ")
    if fingerprint and space not in ("", fingerprint):
        return ""
    return text if provider.may_use(name) else ""


def why_no_vectors(index: Index, provider: Provider, fingerprint: str = "") -> str:
    """Return why no chunk has a vector; see ``last_problem``."""
    if provider.is_off:
        return ""
    if unusable := provider.why_none_is_named():
        return unusable
    problem = last_problem(index, provider, fingerprint)
    return f"no vectors: {problem}" if problem else NO_VECTORS_YET


def answer_without_vectors(
    handle: IndexHandle, provider: Provider
) -> QueryVector | None:
    """Return that a query has no vector, and why; None: there are some to ask."""
    if provider.is_off:
        return NO_PROVIDER
    with handle.lock:
        if handle.run_with_fallback(lambda opened: opened.index.spaces()):
            return None
        space = provider.named_space() or provider.unusable_space()
        fingerprint = space.fingerprint if space else ""
        why = handle.run_with_fallback(
            lambda opened: why_no_vectors(opened.index, provider, fingerprint)
        )
        return QueryVector(None, fingerprint, why)
