"""The provider that the settings choose, connected on first use.

Finding out whether there is one may take a request to the network, and connecting
imports a slow library; neither happens before a vector is needed.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.model.ports import Embedder
    from hivemind_memory.providers.choose import ProviderChoice
    from hivemind_memory.providers.fingerprint import VectorSpace


OLLAMA_PROBE_S = 0.3
PORT_PROBE_S = 0.1
"""On this machine a refusal comes at once."""


class Provider:
    """Who turns texts into vectors, for one set of settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._choice: ProviderChoice | None = None

    @property
    def is_off(self) -> bool:
        """Whether the settings say that there is no provider."""
        settings = self._settings
        return not settings.enabled or settings.embedding_provider == "none"

    @property
    def is_surely_absent(self) -> bool:
        """Whether there is no provider, as far as can be told in a millisecond.

        Nothing is chosen, and nothing listens on Ollama's port: that is so on most
        machines, and every sync asks.
        """
        settings = self._settings
        if self.is_off:
            return True
        is_open = (
            settings.embedding_provider == "auto" and not settings.has_key_in_config
        )
        return is_open and not _may_be_listening(settings.ollama_url)

    def may_be(self, name: str) -> bool:
        """Whether the settings name this provider, or leave the choice open."""
        return not self.is_off and self._settings.embedding_provider in {"auto", name}

    def why_none_is_named(self) -> str:
        """Return why the provider that the settings name cannot be used; else nothing.

        Asks no network: a choice that is left open is not looked into.
        """
        if self._settings.embedding_provider == "auto":
            return ""
        choice = self.choice()
        return choice.reason if choice.provider == "none" else ""

    @property
    def batch_texts(self) -> int:
        """How many texts are sent at once."""
        return self._settings.embed_batch_size

    def choice(self) -> ProviderChoice:
        """Return who it is and why; may ask Ollama on this machine."""
        # Most questions need no vector: what chooses a provider loads when one does.
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
        from hivemind_memory.providers.fingerprint import describe_space

        provider = self.choice().provider
        return None if provider == "none" else describe_space(self._settings, provider)

    def connect(self, space: VectorSpace, *, dims: int | None = None) -> Embedder:
        """Return an embedder for *space*, also for one of earlier settings."""
        from hivemind_memory.providers.remote import RequestLimits
        from hivemind_memory.providers.retry import RetryPolicy

        settings = self._settings
        limits = RequestLimits(
            batch_texts=settings.embed_batch_size, timeout_s=settings.embed_timeout_s
        )
        retry_policy = RetryPolicy(now=time.monotonic, sleep=time.sleep)
        if space.provider == "ollama":
            from hivemind_memory.providers.ollama_embedder import connect_ollama

            return connect_ollama(
                space, retry_policy=retry_policy, limits=limits, dims=dims
            )
        from hivemind_memory.providers.openai_embedder import connect_openai

        return connect_openai(
            space,
            api_key=settings.openai_api_key,
            retry_policy=retry_policy,
            limits=limits,
            dims=dims,
        )

    def _ask_ollama(self) -> str:
        """Return why Ollama on this machine cannot be used; empty when it can."""
        from hivemind_memory.providers.choose import why_ollama_is_not_ready

        return why_ollama_is_not_ready(
            self._settings.ollama_url,
            self._settings.ollama_model,
            timeout_s=OLLAMA_PROBE_S,
            now=time.monotonic,
        )


def _may_be_listening(url: str) -> bool:
    """Return whether something may listen at *url*; False only if surely not."""
    # The long way parses addresses properly; this one knows the usual ones only.
    host, _, port = url.partition("://")[2].rstrip("/").partition(":")
    if host not in ("localhost", "127.0.0.1") or not port.isdigit():
        return True
    import socket

    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.settimeout(PORT_PROBE_S)
                if probe.connect_ex((address, int(port))) == 0:
                    return True
        except (OSError, OverflowError):
            continue
    return False
