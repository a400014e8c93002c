"""The language model that the settings choose: where it answers, or why there is none.

Nothing but ``llm_provider`` chooses one: neither a key nor a server that is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.model.embedding_providers import OLLAMA, OPENAI, provider_named
from hivemind_memory.model.value import replaced
from hivemind_memory.providers.addresses import Address, parse_address
from hivemind_memory.providers.install_command import install_command
from hivemind_memory.providers.remote import is_usable_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.config.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTarget:
    """A language model at an address."""

    provider: str
    """openai or ollama: the wire that it speaks."""

    base_url: str
    model: str
    api_key: str = ""
    timeout_s: float = 120.0
    """Seconds for one reply."""

    def __repr__(self) -> str:
        """Show no key."""
        return f"ChatTarget({self.name})"

    @property
    def address(self) -> Address:
        """Where it answers."""
        port = provider_named(self.provider).default_port
        return parse_address(self.base_url, default_port=port)

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI itself."""
        return self.provider == OPENAI.name and _is_openai(self.address)

    @property
    def who(self) -> str:
        """The server as the subject of a sentence."""
        if self.is_openai:
            return OPENAI.title
        if self.provider == OLLAMA.name:
            return f"{OLLAMA.title} at {self.address.place}"
        return f"The language model's server at {self.address.place}"

    @property
    def name(self) -> str:
        """Provider, model and, unless it is OpenAI, the server."""
        place = "" if self.is_openai else f" at {self.address.place}"
        return f"{self.provider} {self.model}{place}"


def find_chat_target(settings: Settings) -> ChatTarget | str:
    """Return the language model that the settings choose, or why there is none."""
    name = settings.llm_provider
    if not settings.enabled:
        return "The memory is switched off (`enabled` is false)."
    if name == "none":
        return "No language model is chosen (`llm_provider` is none)."
    if not settings.llm_model.strip():
        return (
            f"llm_provider is {name}, but no model is named:"
            " `hm config set llm_model NAME` names one."
        )
    is_ollama = name == OLLAMA.name
    usual = settings.ollama_url if is_ollama else OPENAI.default_url
    target = ChatTarget(
        provider=name,
        base_url=settings.llm_base_url or usual,
        model=settings.llm_model.strip(),
        timeout_s=settings.llm_timeout_s,
    )
    # A key goes to the server that it was made for, and to no other.
    usual_key = settings.openai_api_key if target.is_openai else ""
    target = replaced(target, api_key=settings.llm_api_key or usual_key)
    return _why_unusable(target, settings) or target


def _why_unusable(target: ChatTarget, settings: Settings) -> str:
    """Return why a language model cannot be asked; empty: it can."""
    key = target.api_key
    if not is_usable_address(target.base_url, target.address):
        option = "llm_base_url" if settings.llm_base_url else "ollama_url"
        return f"{option} is not a usable address: `hm config set {option} URL`."
    if target.is_openai and not key:
        return (
            "llm_provider is openai, but there is no key: `hm config set llm_api_key -`"
            " reads one."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        return "llm_api_key contains characters that no key has."
    if missing := _missing_packages(target.provider):
        remedy = install_command(missing.split())
        return f"The package {missing} is not installed: `{remedy}`."
    return ""


def _is_openai(address: Address) -> bool:
    """Whether an address is OpenAI's own."""
    own = parse_address(OPENAI.default_url)
    return (address.scheme, address.host) == (own.scheme, own.host)


def _missing_packages(provider: str) -> str:
    """Return the packages that a provider's client needs and that are missing."""
    from importlib.util import find_spec

    needed = provider_named(provider).packages
    return " ".join(name for name in needed if find_spec(name) is None)
