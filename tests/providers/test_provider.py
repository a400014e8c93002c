"""The provider that the settings choose, and the quick look for the usual case."""

from __future__ import annotations

import socket
import time

import pytest

from hivemind_memory.config.resolve import load_settings
from hivemind_memory.environment import system_clocks
from hivemind_memory.providers.provider import Provider


def provider(home: object, **flags: object) -> Provider:
    settings = load_settings(str(home), {}, flags)
    clocks = system_clocks()
    return Provider(settings, stopwatch=clocks.stopwatch, sleep=time.sleep)


@pytest.fixture
def listening() -> int:
    """Return a port of this machine on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def silent() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        server.close()
        return port


def test_nobody_is_there_when_nothing_is_chosen_and_nobody_listens(
    tmp_path: object, silent: int
) -> None:
    """Every sync asks this, and on most machines the answer is no."""
    url = f"http://localhost:{silent}"

    assert provider(tmp_path, ollama_url=url).is_certainly_absent


def test_a_provider_may_be_there_when_a_port_is_open(
    tmp_path: object, listening: int
) -> None:
    """Who it is, the long way finds out."""
    url = f"http://127.0.0.1:{listening}"

    assert not provider(tmp_path, ollama_url=url).is_certainly_absent


def test_a_provider_that_was_chosen_is_never_taken_for_absent(
    tmp_path: object, silent: int
) -> None:
    """It may be down, and that has to be said and not passed over."""
    url = f"http://localhost:{silent}"

    for flags in (
        {"embedding_provider": "ollama", "ollama_url": url},
        {"embedding_provider": "openai", "openai_base_url": url},
        {"ollama_url": "http://ollama.example:11434"},
    ):
        assert not provider(tmp_path, **flags).is_certainly_absent


def test_none_is_absent(tmp_path: object) -> None:
    """Without a provider nothing is asked at all."""
    assert provider(tmp_path, embedding_provider="none").is_certainly_absent
