"""Each provider is one row; the option, the hints and the pages follow from it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.config import Settings, options
from hivemind_memory.config.file import ConfigFile
from hivemind_memory.config.resolve import resolve
from hivemind_memory.errors import ConfigError, EmbeddingRefusedError
from hivemind_memory.model.embedding_providers import (
    PROVIDER_NAMES,
    PROVIDERS,
    EmbeddingProvider,
)
from hivemind_memory.providers.choose import find_missing_packages
from hivemind_memory.providers.errors import explain_status
from hivemind_memory.providers.fingerprint import VectorSpace, describe_space
from hivemind_memory.providers.provider import Provider

ROOT = Path(__file__).parents[2]


def test_the_option_takes_each_provider_of_the_table() -> None:
    choices = options()["embedding_provider"].choices

    assert choices == ("auto", *PROVIDER_NAMES, "none")


@pytest.mark.parametrize("row", PROVIDERS, ids=PROVIDER_NAMES)
def test_a_row_names_options_and_a_module_that_exist(row: EmbeddingProvider) -> None:
    table = options()
    named = (row.url_option, row.model_option, row.dimensions_option, row.key_option)
    module = importlib.import_module(f"hivemind_memory.providers.{row.module}")

    assert {name for name in named if name} <= table.keys()
    assert callable(module.connect)
    assert find_missing_packages(row.name) == ()


@pytest.mark.parametrize("row", PROVIDERS, ids=PROVIDER_NAMES)
def test_the_pages_name_each_provider(row: EmbeddingProvider) -> None:
    for page in ("README.md", "docs/glossary.md", "docs/how-it-works.md"):
        assert row.title in (ROOT / page).read_text(encoding="utf-8"), page


def test_the_hint_for_a_provider_without_embeddings_names_each_provider() -> None:
    file = ConfigFile("config.json", {}, {"embedding_provider": "claude"})

    with pytest.raises(ConfigError) as caught:
        resolve(file, {}, {})

    assert all(name in caught.value.hint for name in PROVIDER_NAMES)


def test_a_mistyped_provider_is_answered_with_the_nearest(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path))

    assert main(["config", "set", "embedding_provider", "olama"]) == 2

    assert "Did you mean ollama?" in capsys.readouterr().err


def test_nothing_is_sent_for_vectors_of_an_unknown_provider() -> None:
    """An index may hold vectors that another version made; OpenAI gets no text."""
    provider = Provider(
        Settings(openai_api_key="key"), stopwatch=lambda: 0.0, sleep=lambda _: None
    )
    space = VectorSpace(provider="other", base_url="http://localhost", model="m")

    with pytest.raises(EmbeddingRefusedError, match="no embedding provider other"):
        provider.connect(space)
    with pytest.raises(EmbeddingRefusedError, match="no embedding provider other"):
        describe_space(Settings(), "other")
    assert space.fingerprint.startswith("other/m@localhost")


def test_a_refused_key_names_the_options_of_the_provider_that_refused_it() -> None:
    """Ollama behind a proxy that wants a key named the key of OpenAI."""
    hints = {}
    for provider in ("openai", "ollama"):
        space = describe_space(Settings(), provider)
        hints[provider] = explain_status(space, 401, body="", headers={}).hint

    assert hints["openai"] == "Check OPENAI_API_KEY, or openai_api_key in config.json."
    assert hints["ollama"] == "It is sent no key: check ollama_url in config.json."
