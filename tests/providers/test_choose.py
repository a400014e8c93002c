"""Who turns texts into vectors, and why it is that one."""

from __future__ import annotations

from typing import NoReturn

import pytest

from hivemind_memory.config import Settings
from hivemind_memory.providers.choose import (
    ProviderChoice,
    choose_provider,
    find_missing_packages,
)
from hivemind_memory.providers.ollama_probe import why_ollama_is_not_ready
from tests.providers.conftest import Hours
from tests.support.embedding_server import EmbeddingServer

GONE = "Ollama does not answer at localhost:11434."


def choose(
    settings: Settings,
    *,
    in_config: bool = False,
    in_environment: bool = False,
    ollama: str | None = None,
    missing: tuple[str, ...] = (),
) -> ProviderChoice:
    """Return the choice; *ollama* None: nobody may ask it."""

    def ask() -> str:
        if ollama is None:
            pytest.fail("Ollama was asked though the answer does not matter")
        return ollama

    return choose_provider(
        settings,
        has_key_in_config=in_config,
        has_key_in_environment=in_environment,
        ask_ollama=ask,
        find_missing=lambda _: missing,
    )


def test_a_key_in_the_environment_alone_chooses_nothing() -> None:
    """It is there for other programs; the person has not chosen us."""
    choice = choose(Settings(), in_environment=True, ollama=GONE)

    assert choice.provider == "none"
    assert (
        "a key in the environment is not enough to select a provider" in choice.reason
    )
    assert "hm config set embedding_provider openai" in choice.reason


def test_a_key_in_our_own_file_chooses_openai() -> None:
    """Who wrote it there wants it used; Ollama is not even asked."""
    assert choose(Settings(), in_config=True).provider == "openai"


def test_without_a_key_ollama_is_taken_if_it_answers_here() -> None:
    """Nothing leaves the machine, so nothing has to be chosen."""
    choice = choose(Settings(), ollama="")

    assert choice == (
        "ollama",
        "Ollama answers on this machine and has nomic-embed-text.",
    )


def test_without_either_there_is_none_and_the_reason() -> None:
    """The reason is what `hm status` shows."""
    choice = choose(Settings(), ollama=GONE)

    assert choice == ("none", f"No provider was chosen. {GONE}")


def test_ollama_on_another_machine_is_never_taken_by_itself() -> None:
    """Notes would leave this one."""
    settings = Settings(ollama_url="http://192.168.0.7:11434")

    choice = choose(settings)
    named = choose(
        Settings(ollama_url="http://192.168.0.7:11434", embedding_provider="ollama")
    )

    assert choice.provider == "none"
    assert "192.168.0.7:11434 is on another machine" in choice.reason
    assert named.provider == "ollama"


@pytest.mark.parametrize("name", ["openai", "ollama", "none"])
def test_a_named_provider_is_taken_and_nobody_is_asked(name: str) -> None:
    """Also when it is down just now: the breaker says so, and it may come back."""
    choice = choose(Settings(embedding_provider=name), in_environment=True)

    assert choice == (name, f"embedding_provider is {name}.")


def test_openai_without_any_key_is_none() -> None:
    """It would only refuse."""
    choice = choose(Settings(embedding_provider="openai"))

    assert choice.provider == "none"
    assert "there is no key" in choice.reason


def test_a_compatible_server_needs_no_key() -> None:
    """llama.cpp, LM Studio and vLLM want none."""
    settings = Settings(
        embedding_provider="openai", openai_base_url="http://localhost:8080/v1"
    )

    assert choose(settings).provider == "openai"


@pytest.mark.parametrize("name", ["auto", "openai", "ollama"])
def test_switched_off_there_is_none(name: str) -> None:
    """`enabled` turns everything off, and nobody is asked."""
    settings = Settings(enabled=False, embedding_provider=name)

    choice = choose(settings, in_config=True, in_environment=True)

    assert choice.provider == "none"
    assert "switched off" in choice.reason


@pytest.mark.parametrize(
    ("settings", "package"),
    [
        (Settings(embedding_provider="openai"), "openai"),
        (Settings(embedding_provider="ollama"), "ollama"),
        (Settings(), "openai"),
    ],
)
def test_a_missing_package_is_none_and_names_what_to_install(
    settings: Settings, package: str
) -> None:
    """The one command that helps, ready to be copied."""
    choice = choose(settings, in_config=True, missing=("simsimd", package))

    assert choice.provider == "none"
    assert f"pip install simsimd {package}`" in choice.reason
    assert f", but simsimd and {package} are not installed: `" in choice.reason
    assert choice.reason.endswith("` installs them.")


def test_what_is_installed_is_not_missing() -> None:
    """The tests have the packages of every provider."""
    assert find_missing_packages("openai") == ()
    assert find_missing_packages("ollama") == ()


def ready(url: str, model: str, hours: Hours, *, timeout_s: float = 2.0) -> str:
    """Ask the probe."""
    return why_ollama_is_not_ready(url, model, timeout_s=timeout_s, now=hours.now)


@pytest.mark.parametrize("model", ["nomic-embed-text", "nomic-embed-text:latest"])
def test_ollama_with_the_model_is_ready(
    model: str, server: EmbeddingServer, hours: Hours
) -> None:
    """With or without the tag that Ollama adds in thought."""
    assert ready(server.url, model, hours) == ""


def test_a_missing_model_says_how_to_get_it(
    server: EmbeddingServer, hours: Hours
) -> None:
    """The commonest reason of all."""
    why = ready(server.url, "mxbai-embed-large", hours)

    assert "`ollama pull mxbai-embed-large`" in why
    assert "nomic-embed-text:v9" in ready(server.url, "nomic-embed-text:v9", hours)


def test_nobody_there_is_said_with_the_address_and_a_remedy(hours: Hours) -> None:
    """On one line: `hm status` shows it so."""
    with EmbeddingServer() as gone:
        url = gone.url

    assert ready(url, "m", hours) == (
        f"Ollama does not answer at {url.removeprefix('http://')}: start it, or choose"
        " another with `hm config set embedding_provider` (local, openai, none)."
    )


def test_something_else_at_the_port_is_not_ollama(
    server: EmbeddingServer, hours: Hours
) -> None:
    """Any program may listen there."""
    why = ready(f"{server.url}/elsewhere", "m", hours)

    assert "is not Ollama: set ollama_url, or choose another with `hm config set" in why


def test_another_machine_is_not_even_asked(
    hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking already tells somebody that we are here."""

    def connect(*_: object) -> NoReturn:
        pytest.fail("a connection was made")

    monkeypatch.setattr("socket.create_connection", connect)

    assert "another machine" in ready("http://192.168.0.7:11434", "m", hours)
