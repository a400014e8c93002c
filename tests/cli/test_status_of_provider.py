"""`hm status` names a provider that cannot be used before anything else needs it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.cli import main
from tests.support.embedding_server import EmbeddingServer

Hm = Callable[..., str]
CLOSED = "http://127.0.0.1:9"
NOTES = 3


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture
def hm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Hm:
    """Run a command in a home with three notes; return what it prints."""
    notes = tmp_path / "home/memory"
    notes.mkdir(parents=True)
    for number in range(NOTES):
        text = f"# Note {number}\n\nThe database of shop {number} is on port 5433.\n"
        (notes / f"{number}.md").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "HIVEMIND_EMBEDDING_PROVIDER"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> str:
        assert main.main(list(words)) == 0
        return capsys.readouterr().out

    return run


def choose(hm: Hm, **options: str) -> None:
    for name, value in options.items():
        hm("config", "set", name, value)


@pytest.mark.parametrize(
    ("options", "fault", "problem", "remedy"),
    [
        (
            {"embedding_provider": "ollama", "ollama_url": CLOSED},
            "",
            "Ollama at 127.0.0.1:9 cannot be reached",
            "`ollama serve`",
        ),
        (
            {"embedding_provider": "openai", "openai_base_url": f"{CLOSED}/v1"},
            "",
            "127.0.0.1:9 cannot be reached",
            "Until it answers, searches are by keyword",
        ),
        (
            {"embedding_provider": "openai", "openai_api_key": "sk-wrong"},
            "401",
            "did not accept the key (401",
            "Check OPENAI_API_KEY",
        ),
        (
            {"embedding_provider": "auto", "openai_api_key": "sk-wrong"},
            "401",
            "did not accept the key (401",
            "Check OPENAI_API_KEY",
        ),
        ({"embedding_provider": "ollama"}, "404", "has no model", "ollama pull"),
        (
            {"embedding_provider": "openai"},
            "no key",
            "there is no key",
            "set OPENAI_API_KEY",
        ),
    ],
    ids=["ollama down", "server down", "401", "auto 401", "no model", "no key"],
)
@pytest.mark.parametrize("is_synced", [False, True])
def test_status_names_a_provider_that_cannot_be_used_at_once(
    hm: Hm,
    server: EmbeddingServer,
    options: dict[str, str],
    fault: str,
    problem: str,
    remedy: str,
    is_synced: bool,
) -> None:
    """It said `hm sync` makes the vectors until a sync or a search had failed.

    Also when every chunk has a vector: then a search would be the first to find out.
    """
    urls = {"ollama_url": server.url, "openai_base_url": server.openai_url}
    if fault == "no key":
        urls["openai_base_url"] = ""
    if is_synced and "no key" not in fault:
        good = {**urls, **options, "openai_api_key": "sk-right"}
        choose(hm, **{**good, "ollama_url": server.url})
        choose(hm, openai_base_url=server.openai_url)
        hm("sync")
    choose(hm, **{**urls, **options})
    server.always = "" if fault == "no key" else fault

    shown = " ".join(hm("status").split())

    assert problem in shown
    assert remedy in shown


def test_a_provider_that_answers_again_is_not_named_any_longer(
    hm: Hm, server: EmbeddingServer
) -> None:
    """And the next sync makes the vectors at once, without a minute's pause."""
    choose(hm, embedding_provider="ollama", ollama_url=server.url)
    server.always = "401"
    assert "did not accept" in hm("status")

    server.always = ""

    assert "did not accept" not in hm("status")
    hm("sync")
    status = json.loads(hm("status", "--json"))
    assert (status["vectors"], status["vectors_problem"]) == (NOTES, "")


def test_a_sync_within_the_pause_after_a_refusal_says_what_to_do(
    hm: Hm, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """It said only when the key is tried again, which does not help."""
    choose(hm, embedding_provider="openai", openai_base_url=server.openai_url)
    choose(hm, openai_api_key="sk-wrong")
    server.always = "401"
    hm("status")
    capsys.readouterr()

    assert main.main(["sync"]) == 0

    said = capsys.readouterr().err
    assert "Check OPENAI_API_KEY, or openai_api_key in config.json" in said


def test_search_counts_what_has_no_vector_as_the_status_does(
    hm: Hm, server: EmbeddingServer
) -> None:
    """With a refused key the report said that 0 were pending."""
    choose(
        hm,
        embedding_provider="openai",
        openai_base_url=server.openai_url,
        openai_api_key="sk-wrong",
    )
    server.always = "401"

    for _ in range(2):  # before the provider was asked, and after
        report = json.loads(hm("search", "--json", "database"))["report"]
        status = json.loads(hm("status", "--json"))
        assert report["pending_vectors"] == status["pending_vectors"] == NOTES
        assert report["mode"] == "keyword"
    assert "did not accept the key" in report["reason"]


@pytest.mark.parametrize("provider", ["none", "auto"])
def test_status_asks_nobody_when_no_provider_is_named(
    hm: Hm, server: EmbeddingServer, provider: str
) -> None:
    """What leaves the machine is what the settings chose."""
    choose(
        hm,
        embedding_provider=provider,
        ollama_url=CLOSED,
        openai_base_url=server.openai_url,
    )

    status = json.loads(hm("status", "--json"))

    assert status["pending_vectors"] == 0
    assert server.requests == []


@pytest.mark.parametrize("missing", ["key", "package"])
@pytest.mark.parametrize("is_synced", [False, True])
def test_what_waits_for_a_provider_that_cannot_be_used_is_counted(
    hm: Hm,
    server: EmbeddingServer,
    monkeypatch: pytest.MonkeyPatch,
    missing: str,
    is_synced: bool,
) -> None:
    """Without its key, 0 chunks were pending, and 0 had a vector that they had."""
    choose(hm, embedding_provider="openai", openai_api_key="sk-right")
    choose(hm, openai_base_url=server.openai_url)
    if is_synced:
        hm("sync")
    if missing == "key":
        # At an address of one's own no key is needed.
        hm("config", "unset", "openai_base_url")
        hm("config", "unset", "openai_api_key")
    else:
        monkeypatch.setattr(
            "hivemind_memory.providers.choose.find_missing_packages",
            lambda name: ("openai",),
        )

    report = json.loads(hm("search", "--json", "database"))["report"]
    status = json.loads(hm("status", "--json"))

    has_vectors = is_synced and missing == "package"
    assert status["provider"] == "none"
    assert status["vectors"] == (NOTES if has_vectors else 0)
    assert status["pending_vectors"] == NOTES - status["vectors"]
    assert report["pending_vectors"] == status["pending_vectors"]
    assert status["vectors_problem"] == ""
    assert ("no key" if missing == "key" else "not installed") in report["reason"]
