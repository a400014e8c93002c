"""What the leader does for the other processes besides indexing: it holds models."""

from __future__ import annotations

from hivemind_memory.errors import EmbeddingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.results import EmbedResult, SyncResult


class LeadingMemory:
    """A memory as the watcher drives it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def sync(self) -> SyncResult:
        """Update the index; a person may still want to resume a rebuild."""
        return self._memory.sync(keeps_rebuild=True)

    def embed_pending(self, *, should_stop: Callable[[], bool]) -> EmbedResult:
        """Embed what has no vector; keep local models loaded for all processes."""
        result = self._memory.embed_pending(should_stop=should_stop)
        settings = self._memory.settings
        if settings.embedding_provider == "local" and not should_stop():
            self._serve()
        if settings.rerank_provider == "local" and not should_stop():
            self._memory.provider.local_reranker().serve()
        return result

    def _serve(self) -> None:
        """Serve the vectors of queries, if a local model is chosen and usable."""
        from hivemind_memory.providers import local_embedder, local_host

        provider = self._memory.provider
        space = provider.named_space()
        if space is None or local_host.is_serving(space.fingerprint):
            return
        embedder = provider.connect(space)
        assert isinstance(embedder, local_embedder.LocalEmbedder)  # noqa: S101
        try:
            model = embedder.load()
        except EmbeddingError:
            return  # a search says why
        local_host.serve(space.fingerprint, model.embed)
