"""Chooses the provider that turns texts into vectors, and says why.

Nothing leaves the machine unless the settings choose a provider: a key in the
environment alone chooses nothing, and ``auto`` takes Ollama only on this machine.

Whether Ollama is ready is asked over a bare socket, because every cold search asks:
``http.client`` takes 30 ms to import and the ``ollama`` package 400.
"""

from __future__ import annotations

import json
import socket
from typing import NamedTuple

from hivemind_memory.providers.addresses import Address, parse_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.providers.settings import EmbeddingSettings


_KEY_ALONE = (
    "OPENAI_API_KEY is set, but a key in the environment alone chooses nothing:"
    " `hm config set embedding_provider openai` does."
)
_NO_KEY = (
    "embedding_provider is openai, but there is no key: set OPENAI_API_KEY, or"
    " `hm config set openai_api_key`."
)
_PORT = 11434
_ANSWER_BYTES = 1_000_000


class ProviderChoice(NamedTuple):
    """Who turns texts into vectors."""

    provider: str
    """openai, ollama or none."""

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
        choice = ProviderChoice("openai", "config.json holds a key for OpenAI.")
    elif named == "auto":
        choice = _try_ollama(settings, ask_ollama)
        if choice.provider == "none" and has_key_in_environment:
            choice = ProviderChoice("none", f"{choice.reason} {_KEY_ALONE}")
    elif named == "openai" and not has_key and not settings.openai_base_url:
        # Only OpenAI itself is known to want a key; local servers mostly do not.
        choice = ProviderChoice("none", _NO_KEY)
    else:
        choice = ProviderChoice(named, f"embedding_provider is {named}.")
    return _if_installed(choice, find_missing)


def find_missing_packages(provider: str) -> tuple[str, ...]:
    """Return the packages that *provider* needs and that are not installed."""
    from importlib.util import find_spec

    needed = ("numpy", provider, "tenacity")
    return tuple(name for name in needed if find_spec(name) is None)


def _try_ollama(
    settings: EmbeddingSettings, ask_ollama: Callable[[], str]
) -> ProviderChoice:
    """Return Ollama if it answers on this machine, else none."""
    address = parse_address(settings.ollama_url)
    if not address.is_loopback:
        reason = (
            f"No provider was chosen; Ollama at {address.place} is another machine and"
            " must be named: `hm config set embedding_provider ollama`."
        )
        return ProviderChoice("none", reason)
    why_not = ask_ollama()
    if why_not:
        return ProviderChoice("none", f"No provider was chosen. {why_not}")
    reason = f"Ollama answers on this machine and has {settings.ollama_model}."
    return ProviderChoice("ollama", reason)


def _if_installed(
    choice: ProviderChoice, find_missing: Callable[[str], tuple[str, ...]]
) -> ProviderChoice:
    """Return *choice*, or none if a package that it needs is missing."""
    missing = () if choice.provider == "none" else find_missing(choice.provider)
    if not missing:
        return choice
    names = " and ".join(missing)
    verb = "is" if len(missing) == 1 else "are"
    # The packages by their own names: this works however the program was installed.
    remedy = f"`pip install {' '.join(missing)}`"
    reason = f"{choice.reason} But {names} {verb} not installed: {remedy}."
    return ProviderChoice("none", reason)


def why_ollama_is_not_ready(
    url: str,
    model: str,
    *,
    timeout_s: float,
    now: Callable[[], float],
) -> str:
    """Return "" if the Ollama at *url* answers and has *model*, else why not.

    Args:
        url: Address on this machine; another machine is never asked.
        model: Name as in ``ollama pull``.
        timeout_s: Seconds for the whole exchange.
        now: Seconds on a clock that never goes back.
    """
    address = parse_address(url, default_port=_PORT)
    if not address.is_loopback:
        return f"{address.place} is another machine and is not asked by itself."
    try:
        answer = _get(address, "/api/tags", timeout_s=timeout_s, now=now)
    except (OSError, ValueError):
        return f"Ollama does not answer at {address.place}."
    names = _model_names(answer)
    if names is None:
        return f"What answers at {address.place} is not Ollama."
    if _with_tag(model) not in names:
        return f"Ollama answers but has no {model}: `ollama pull {model}` gets it."
    return ""


def _get(
    address: Address, path: str, *, timeout_s: float, now: Callable[[], float]
) -> bytes:
    """Return the body of an answer to GET, or raise OSError."""
    deadline = now() + timeout_s
    # HTTP/1.0: the answer ends with the connection and never comes in chunks.
    request = (
        f"GET {address.path}{path} HTTP/1.0\r\nHost: {address.place}\r\n"
        "Accept: application/json\r\n\r\n"
    )
    data = b""
    with socket.create_connection((address.host, address.port), timeout_s) as link:
        link.sendall(request.encode("utf-8"))
        while len(data) < _ANSWER_BYTES:
            left_s = deadline - now()
            if left_s <= 0:
                raise TimeoutError
            link.settimeout(left_s)
            part = link.recv(65_536)
            if not part:
                break
            data += part
    return data.partition(b"\r\n\r\n")[2]


def _model_names(answer: bytes) -> frozenset[str] | None:
    """Return the models that Ollama lists; None if that is not a list of models."""
    try:
        document = json.loads(answer)
    except ValueError:
        return None
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, list):
        return None
    names = (model.get("name") for model in models if isinstance(model, dict))
    return frozenset(_with_tag(name) for name in names if isinstance(name, str))


def _with_tag(model: str) -> str:
    """Return the name with the tag that Ollama assumes if there is none."""
    # The registry's own port or path may hold a colon or slash before the last name.
    has_tag = ":" in model.rpartition("/")[2]
    return model.lower() if has_tag else f"{model.lower()}:latest"
