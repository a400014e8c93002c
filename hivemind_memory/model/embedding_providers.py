"""The table of embedding providers: one row for each.

What the option may be, what a hint names, the packages that must be installed, the
options that hold address and model, and the module that connects. Imports nothing slow,
for a cold search reads the names.
"""

from __future__ import annotations

from hivemind_memory.errors import EmbeddingRefusedError
from hivemind_memory.model.value import value


@value
class EmbeddingProvider:
    """One provider."""

    name: str
    """Value of ``embedding_provider``."""

    title: str
    """Its name in a sentence."""

    module: str
    """Module of ``hivemind_memory.providers`` with a function ``connect``."""

    packages: tuple[str, ...] = ()
    """Packages it needs besides those that every provider needs."""

    url_option: str = ""
    """Option with its address; empty: it is on no other machine and has none."""

    model_option: str = ""
    dimensions_option: str = ""
    """Option with how many numbers to ask for; empty: it cannot be asked for any."""

    key_option: str = ""
    key_variable: str = ""
    """Environment variable that is read as the key too."""

    default_url: str = "http://localhost"
    """Address where the option is empty."""

    default_port: int | None = None
    """Port of an address that names neither scheme nor port."""

    example_url: str = ""
    """An address as a hint shows it."""

    has_tags: bool = False
    """A model's name without a tag means ``:latest``, and case does not matter."""

    has_weights: bool = False
    """It runs in this process, with a model from a folder."""

    has_compatible_servers: bool = False
    """Other servers offer its API: at other addresses it is not called by its title."""

    if_not_running: str = ""
    """What to do when it does not answer; empty: nothing that helps always."""

    if_no_model: str = ""
    """What to do when it lacks the model; ``{model}`` stands for its name."""

    @property
    def where(self) -> str:
        """What to correct when the address is wrong."""
        return self.url_option or "embedding_provider"

    @property
    def key_hint(self) -> str:
        """What to correct when the key is wrong."""
        if not self.key_option:
            return f"It is sent no key: check {self.where} in config.json."
        option = f"{self.key_option} in config.json"
        return f"Check {self.key_variable}, or {option}."

    def same_model(self, name: str) -> str:
        """Return the one spelling that all names of a model have in common."""
        return name.lower().removesuffix(":latest") if self.has_tags else name


OLLAMA = EmbeddingProvider(
    name="ollama",
    title="Ollama",
    module="ollama_embedder",
    packages=("ollama",),
    url_option="ollama_url",
    model_option="ollama_model",
    default_port=11434,
    example_url="http://localhost:11434",
    has_tags=True,
    if_not_running=(
        "Start it with `ollama serve`, or correct ollama_url in config.json."
    ),
    if_no_model="`ollama pull {model}` gets the model.",
)
OPENAI = EmbeddingProvider(
    name="openai",
    title="OpenAI",
    module="openai_embedder",
    packages=("openai",),
    url_option="openai_base_url",
    model_option="openai_model",
    dimensions_option="openai_dimensions",
    key_option="openai_api_key",
    key_variable="OPENAI_API_KEY",
    default_url="https://api.openai.com/v1",
    example_url="http://localhost:8080/v1; empty: OpenAI itself",
    has_compatible_servers=True,
    if_no_model="Check openai_model and openai_base_url (most end in /v1).",
)
LOCAL = EmbeddingProvider(
    name="local",
    title="The local model",
    module="local_embedder",
    packages=("onnxruntime", "tokenizers"),
    model_option="local_model",
    has_weights=True,
)
PROVIDERS = (OPENAI, OLLAMA, LOCAL)
PROVIDER_NAMES = tuple(provider.name for provider in PROVIDERS)
CHAT_PROVIDERS = ("none", OPENAI.name, OLLAMA.name)
"""Values of ``llm_provider``."""

RERANK_PROVIDERS = ("none", LOCAL.name, "http", "chat")
"""Values of ``rerank_provider``."""


def find_provider(name: str) -> EmbeddingProvider | None:
    """Return the row of a provider; None: this version does not know it."""
    return next((row for row in PROVIDERS if row.name == name), None)


def provider_named(name: str) -> EmbeddingProvider:
    """Return the row of a provider.

    Raises:
        EmbeddingRefusedError: This version does not know it.
    """
    row = find_provider(name)
    if row is None:
        raise EmbeddingRefusedError(
            f"There is no embedding provider {name}.",
            hint="`hm config set embedding_provider NAME` chooses one of"
            f" {', '.join(PROVIDER_NAMES)}.",
        )
    return row
