"""The provider that the settings choose, connected on first use.

Finding out whether there is one may take a request to the network, and connecting
imports a slow library; neither happens before a vector is needed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.model.ports import Embedder, Reranker
    from hivemind_memory.providers.choose import ProviderChoice
    from hivemind_memory.providers.fingerprint import VectorSpace
    from hivemind_memory.providers.local_reranker import LocalReranker
    from hivemind_memory.providers.remote import RequestLimits
    from hivemind_memory.providers.reranking import RerankAccount
    from hivemind_memory.providers.retry_policy import RetryPolicy
    from hivemind_memory.providers.sent_texts import SentTexts

    class Connect(Protocol):
        """The function ``connect`` of a provider's module."""

        def __call__(
            self,
            space: VectorSpace,
            *,
            api_key: str,
            retry_policy: RetryPolicy,
            limits: RequestLimits,
            dims: int | None,
        ) -> Embedder:
            """Return an embedder for *space*."""


OLLAMA_PROBE_S = 0.3
PROBE_TEXT = "ready?"
"""What a provider is sent to see whether it answers."""

PROBE_TIMEOUT_S = 3.0
"""How long `hm status` and `hm doctor` wait for that answer."""

LOCAL = "local"
"""Name of the provider that runs in this process; a test compares it with its row."""

CHAT = "chat"
"""Name of the reranker that asks the language model."""

HTTP = "http"
"""Name of the reranker that is a server of its own."""

LOCAL_BATCH_TEXTS = 16
"""A local model takes seconds for so many; between batches it may be stopped."""

_PACKAGE = "hivemind_memory.providers"


class Provider:
    """The embedding provider that the settings choose."""

    def __init__(
        self,
        settings: Settings,
        models: str = "",
        *,
        stopwatch: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Ask nothing yet.

        Args:
            settings: The options.
            models: Folder of the weights of local models.
            stopwatch: Seconds on a clock that never goes back.
            sleep: Waits for so many seconds.
        """
        self._settings = settings
        self._models = models
        self._stopwatch = stopwatch
        self._sleep = sleep
        self._choice: ProviderChoice | None = None
        self._reranker: Reranker | None = None
        self._sent: SentTexts | None = None

    @property
    def is_off(self) -> bool:
        """Whether the settings say that there is no provider."""
        settings = self._settings
        return not settings.enabled or settings.embedding_provider == "none"

    @property
    def is_certainly_absent(self) -> bool:
        """Whether there is certainly no provider; takes about a millisecond.

        Nothing is chosen, and nothing listens on Ollama's port: that is so on most
        machines, and every sync asks.
        """
        if self.is_off:
            return True
        if self._named():
            return False
        from hivemind_memory.providers.ollama_probe import may_be_listening

        return not may_be_listening(self._settings.ollama_url)

    def may_use(self, name: str) -> bool:
        """Whether the settings name this provider, or leave the choice open."""
        return not self.is_off and self._settings.embedding_provider in {"auto", name}

    def why_none_is_named(self) -> str:
        """Return why the provider that the settings name cannot be used; else nothing.

        Asks no network: a choice that is left open is not looked into.
        """
        if not (self._named() or self.is_off):
            return ""
        choice = self.choice()
        return choice.reason if choice.provider == "none" else ""

    def named_space(self) -> VectorSpace | None:
        """Return the space of the provider that the settings name, if it can be used.

        Asks no network: a choice that is left open is not looked into.
        """
        return self.space() if self._named() else None

    def unusable_space(self) -> VectorSpace | None:
        """Return the space of a provider that is named and cannot be used, if it is so.

        It has no key, or a package is missing. What waits for it is counted all the
        same. Asks no network.
        """
        name = self._named()
        if not name or self.choice().provider != "none":
            return None
        return self._describe(name)

    def _named(self) -> str:
        """Return the provider that the settings name; empty: none, or it is open."""
        settings = self._settings
        if self.is_off:
            return ""
        if settings.embedding_provider != "auto":
            return settings.embedding_provider
        return "openai" if settings.has_key_in_config else ""

    @property
    def batch_texts(self) -> int:
        """How many texts are sent at once."""
        size = self._settings.embed_batch_size
        return min(size, LOCAL_BATCH_TEXTS) if self._named() == LOCAL else size

    def choice(self) -> ProviderChoice:
        """Return who it is and why; may ask Ollama on this machine."""
        choice = self._choose()
        if choice.provider != LOCAL:
            return choice
        # Asked each time: weights come and change while a server runs.
        from hivemind_memory.providers.local_weights import why_no_space

        why = why_no_space(self._settings, self._models)
        return choice._replace(provider="none", reason=why) if why else choice

    def _choose(self) -> ProviderChoice:
        """Return who it is by settings and packages; looked into once."""
        # Most queries need no vector: what chooses a provider loads when one does.
        from hivemind_memory.providers.choose import (
            choose_provider,
            find_missing_packages,
        )

        if self._choice is None:
            settings = self._settings
            self._choice = choose_provider(
                settings,
                has_key_in_config=settings.has_key_in_config,
                has_key_in_environment=settings.has_key_in_environment,
                ask_ollama=self._ask_ollama,
                find_missing=find_missing_packages,
            )
        return self._choice

    def space(self) -> VectorSpace | None:
        """Return the space that the chosen provider makes vectors for."""
        provider = self.choice().provider
        return None if provider == "none" else self._describe(provider)

    def prepare(self) -> str:
        """Do what takes too long for a query; return why it failed, empty: it did not.

        The weights of a local model are read once, and again when they have changed.
        """
        if self._named() != LOCAL or self._choose().provider == "none":
            return ""
        from hivemind_memory.providers.local_weights import find_weights, read_measured

        weights = find_weights(self._settings.local_model, self._models)
        if isinstance(weights, str) or read_measured(weights, self._models):
            return ""
        from hivemind_memory.errors import EmbeddingError
        from hivemind_memory.providers.local_model import measure

        try:
            measure(weights, self._models)
        except EmbeddingError as error:
            return f"{error} {error.hint}".strip()
        return ""

    def connect(self, space: VectorSpace, *, dims: int | None = None) -> Embedder:
        """Return an embedder for *space*, also for one of earlier settings.

        Raises:
            EmbeddingRefusedError: The address or the key is missing or malformed, or
                this version does not know the provider.
        """
        from importlib import import_module

        from hivemind_memory.model.embedding_providers import provider_named
        from hivemind_memory.providers.remote import RequestLimits
        from hivemind_memory.providers.retry_policy import RetryPolicy
        from hivemind_memory.providers.sent_texts import CountedEmbedder, SentTexts

        settings = self._settings
        limits = RequestLimits(
            batch_texts=settings.embed_batch_size, timeout_s=settings.embed_timeout_s
        )
        retry_policy = RetryPolicy(now=self._stopwatch, sleep=self._sleep)
        row = provider_named(space.provider)
        key = getattr(settings, row.key_option) if row.key_option else ""
        module = import_module(f"{_PACKAGE}.{row.module}")
        if row.has_weights:
            # Nothing is sent, and the leader serves the model itself.
            local: Embedder = module.connect(space, models=self._models, dims=dims)
            return local
        connect: Connect = module.connect
        made = connect(
            space, api_key=key, retry_policy=retry_policy, limits=limits, dims=dims
        )
        self._sent = self._sent or SentTexts()
        return CountedEmbedder(made, f"{space.provider} {space.model}", self._sent)

    def take_sent(self) -> dict[str, tuple[int, int]]:
        """Return what was sent since this was last asked.

        Returns:
            Name of a provider and its model -> how many texts, and their characters.
        """
        return self._sent.take() if self._sent is not None else {}

    def reranker(
        self,
        open_account: Callable[[int], RerankAccount] | None = None,
        now: Callable[[], float] | None = None,
    ) -> Reranker | None:
        """Return what reranks the best candidates; None: the settings choose none.

        Args:
            open_account: Takes how many requests a day may have; returns what counts
                them and keeps the breaker.
            now: Seconds since the epoch.
        """
        settings = self._settings
        if settings.rerank_provider == "none":
            return None
        if self._reranker is None:
            from hivemind_memory.providers.reranking import CheckedReranker

            per_day = settings.llm_calls_per_day
            account = open_account(per_day) if open_account is not None else None
            chosen: Reranker
            if settings.rerank_provider == LOCAL:
                chosen = self.local_reranker()
            elif settings.rerank_provider == CHAT:
                from hivemind_memory.providers import chat_reranker

                chosen = chat_reranker.connect(
                    settings,
                    stopwatch=self._stopwatch,
                    take_request=account.take_request if account else lambda: 0.0,
                )
            else:
                from hivemind_memory.providers import http_reranker

                chosen = http_reranker.connect(settings, stopwatch=self._stopwatch)
            self._reranker = CheckedReranker(chosen, now or self._stopwatch, account)
        return self._reranker

    def close(self) -> None:
        """Close idle connections; the next query opens new ones."""
        if self._reranker is not None:
            self._reranker.close()

    def local_reranker(self) -> LocalReranker:
        """Return the reranker of local_rerank_model, which has loaded nothing."""
        from hivemind_memory.providers import local_reranker

        folder = self._settings.local_rerank_model
        return local_reranker.connect(folder, stopwatch=self._stopwatch)

    def _describe(self, name: str) -> VectorSpace | None:
        """Return the space of a provider; None: it has no weights."""
        if name == LOCAL:
            from hivemind_memory.providers.local_weights import describe_local_space

            return describe_local_space(self._settings, self._models)
        from hivemind_memory.providers.fingerprint import describe_space

        return describe_space(self._settings, name)

    def _ask_ollama(self) -> str:
        """Return why Ollama on this machine cannot be used; empty when it can."""
        from hivemind_memory.providers.ollama_probe import why_ollama_is_not_ready

        return why_ollama_is_not_ready(
            self._settings.ollama_url,
            self._settings.ollama_model,
            timeout_s=OLLAMA_PROBE_S,
            now=self._stopwatch,
        )
