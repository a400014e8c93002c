"""Chooses the provider that turns texts into vectors, and says why.

Nothing leaves the machine unless the settings choose a provider: a key in the
environment is not enough, and ``auto`` takes Ollama only on this machine.
"""

from __future__ import annotations

from typing import NamedTuple

from hivemind_memory.model.display import listed
from hivemind_memory.model.embedding_providers import OLLAMA, OPENAI, provider_named
from hivemind_memory.providers.addresses import parse_address
from hivemind_memory.providers.install_command import install_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.providers.settings import EmbeddingSettings


_KEY_ALONE = (
    "OPENAI_API_KEY is set, but a key in the environment is not enough to select a"
    " provider: run `hm config set embedding_provider openai`."
)
_NO_KEY = (
    "embedding_provider is openai, but there is no key: set OPENAI_API_KEY, or"
    " `hm config set openai_api_key`. `hm config set embedding_provider local` needs"
    " none."
)


class ProviderChoice(NamedTuple):
    """Who turns texts into vectors."""

    provider: str
    """Name of a provider, or none."""

    reason: str
    """Why it is this one, in one sentence or two."""


def choose_provider(
    settings: EmbeddingSettings,
    *,
    has_key_in_config: bool,
    has_key_in_environment: bool,
    ask_ollama: Callable[[], str],
    find_missing: Callable[[str], tuple[str, ...]],
) -> ProviderChoice:
    """Return the provider and why: what the settings name, else OpenAI, Ollama, none.

    Args:
        settings: What config.json and flags say.
        has_key_in_config: config.json holds a key for OpenAI.
        has_key_in_environment: ``OPENAI_API_KEY`` holds one.
        ask_ollama: Returns "" if Ollama on this machine has the model, else why not.
            Called only if the answer matters.
        find_missing: Provider -> packages that it needs and that are not installed.
    """
    named = settings.embedding_provider
    has_key = has_key_in_config or has_key_in_environment
    if not settings.enabled:
        choice = ProviderChoice(
            "none", "The memory is switched off (`enabled` is false)."
        )
    elif named == "auto" and has_key_in_config:
        choice = ProviderChoice(OPENAI.name, "config.json holds a key for OpenAI.")
    elif named == "auto":
        choice = _try_ollama(settings, ask_ollama)
        if choice.provider == "none" and has_key_in_environment:
            choice = ProviderChoice("none", f"{choice.reason} {_KEY_ALONE}")
    elif named == OPENAI.name and not has_key and not settings.openai_base_url:
        # Only OpenAI itself is known to want a key; local servers mostly do not.
        choice = ProviderChoice("none", _NO_KEY)
    else:
        choice = ProviderChoice(named, f"embedding_provider is {named}.")
    return _if_installed(choice, find_missing)


def find_missing_packages(provider: str) -> tuple[str, ...]:
    """Return the packages that *provider* needs and that are not installed."""
    from importlib.util import find_spec

    row = provider_named(provider)
    needed = ("simsimd", *row.packages, *(("tenacity",) if row.url_option else ()))
    return tuple(name for name in needed if find_spec(name) is None)


def _try_ollama(
    settings: EmbeddingSettings, ask_ollama: Callable[[], str]
) -> ProviderChoice:
    """Return Ollama if it answers on this machine, else none."""
    address = parse_address(settings.ollama_url)
    if not address.is_loopback:
        reason = (
            f"No provider was chosen; Ollama at {address.place} is on another"
            " machine, so you have to select it explicitly:"
            " `hm config set embedding_provider ollama`; local runs a model here."
        )
        return ProviderChoice("none", reason)
    why_not = ask_ollama()
    if why_not:
        return ProviderChoice("none", f"No provider was chosen. {why_not}")
    reason = f"Ollama answers on this machine and has {settings.ollama_model}."
    return ProviderChoice(OLLAMA.name, reason)


def _if_installed(
    choice: ProviderChoice, find_missing: Callable[[str], tuple[str, ...]]
) -> ProviderChoice:
    """Return *choice*, or none if a package that it needs is missing."""
    missing = () if choice.provider == "none" else find_missing(choice.provider)
    if not missing:
        return choice
    names = listed(missing)
    verb, it = ("is", "it") if len(missing) == 1 else ("are", "them")
    # The packages by their own names: no index may know this program.
    remedy = f"`{install_command(missing)}`"
    known = choice.reason.removesuffix(".")
    reason = f"{known}, but {names} {verb} not installed: {remedy} installs {it}."
    return ProviderChoice("none", reason)
