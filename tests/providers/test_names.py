"""Prefixes, addresses, fingerprints: what a space of vectors is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.config import Settings
from hivemind_memory.providers.addresses import is_of_ollama, parse_address
from hivemind_memory.providers.fingerprint import (
    VectorSpace,
    choose_prefixes,
    describe_space,
    look_up_prefixes,
)
from hivemind_memory.providers.remote import cut_text, split_batches

SENTENCE = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "document", "query"),
    [
        ("nomic-embed-text", "search_document: ", "search_query: "),
        ("nomic-embed-text:latest", "search_document: ", "search_query: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_document: ", "search_query: "),
        ("text-embedding-nomic-embed-text-v1.5", "search_document: ", "search_query: "),
        ("nomic-embed-text-v2-moe", "search_document: ", "search_query: "),
        ("intfloat/e5-base-v2", "passage: ", "query: "),
        ("intfloat/multilingual-e5-large", "passage: ", "query: "),
        ("multilingual_e5_small", "passage: ", "query: "),
        ("BAAI/bge-small-en-v1.5", "", SENTENCE),
        ("bge-large", "", SENTENCE),
        ("mxbai-embed-large:335m", "", SENTENCE),
        ("snowflake-arctic-embed:22m", "", SENTENCE),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", "", SENTENCE),
        ("snowflake-arctic-embed2", "", "query: "),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "", "query: "),
        ("embeddinggemma", "title: none | text: ", "task: search result | query: "),
        ("google/embeddinggemma-300m", "title: none | text: ", None),
        ("text-embedding-3-small", "", ""),
        ("text-embedding-ada-002", "", ""),
        ("all-minilm", "", ""),
        ("bge-m3", "", ""),
        ("paraphrase-multilingual", "", ""),
        ("granite-embedding:278m", "", ""),
        ("jina-embeddings-v2-base-en", "", ""),
        ("some-made5-model", "", ""),
        ("", "", ""),
    ],
)
def test_a_model_gets_what_its_card_asks_for(
    model: str, document: str, query: str | None
) -> None:
    """By any of the names under which it is served; the unknown get nothing."""
    found = look_up_prefixes(model)

    assert found.document == document
    assert query is None or found.query == query


@pytest.mark.parametrize(
    "model", ["qwen3-embedding:0.6b", "Qwen/Qwen3-Embedding-8B", "qwen3_embedding"]
)
def test_qwen_gets_an_instruction_for_questions_only(model: str) -> None:
    """Its card: no instruction for documents."""
    found = look_up_prefixes(model)

    assert found.document == ""
    assert found.query.startswith("Instruct: ")
    assert found.query.endswith("\nQuery:")


def test_multilingual_e5_instruct_is_not_taken_for_plain_e5() -> None:
    """The special row stands above the general one."""
    found = look_up_prefixes("intfloat/multilingual-e5-large-instruct")

    assert found.document == ""
    assert found.query.endswith("\nQuery: ")


def test_the_settings_override_the_table() -> None:
    """Also with nothing, which is not the same as not set."""
    found = choose_prefixes("nomic-embed-text", document="", query="q: ")

    assert found == ("", "q: ")


@pytest.mark.parametrize(
    ("url", "place", "is_loopback"),
    [
        ("http://localhost:11434", "localhost:11434", True),
        ("http://LOCALHOST/", "localhost", True),
        ("http://127.0.0.1:80/v1", "127.0.0.1", True),
        ("http://127.1.2.3", "127.1.2.3", True),
        ("http://[::1]:8080/v1/", "[::1]:8080", True),
        ("https://api.openai.com/v1", "api.openai.com", False),
        ("https://user:pass@example.com:444/x?y=1", "example.com:444", False),
        ("http://127.0.0.1.example.com", "127.0.0.1.example.com", False),
        ("http://localhost.example.com", "localhost.example.com", False),
        ("http://127.evil.com", "127.evil.com", False),
        ("http://127.0.0.1@evil.com", "evil.com", False),
        ("http://192.168.0.7:11434", "192.168.0.7:11434", False),
        ("http://0.0.0.0:11434", "0.0.0.0:11434", False),
    ],
)
def test_an_address_tells_whose_machine_it_is(
    url: str, place: str, is_loopback: bool
) -> None:
    """Only what is surely this machine is asked without being chosen."""
    address = parse_address(url)

    assert (address.place, address.is_loopback) == (place, is_loopback)


BASE = VectorSpace(
    provider="openai",
    base_url="http://localhost:8080/v1",
    model="some-model",
    document_prefix="d: ",
    query_prefix="q: ",
)


def space(**changes: object) -> VectorSpace:
    """Return BASE with changes."""
    values = {name: getattr(BASE, name) for name in VectorSpace.__dataclass_fields__}
    return VectorSpace(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"provider": "ollama"},
        {"base_url": "http://localhost:8081/v1"},
        {"base_url": "https://localhost:8080/v1"},
        {"base_url": "http://localhost:8080/v2"},
        {"base_url": "http://example.com:8080/v1"},
        {"model": "Some-model"},
        {"model": "some-model:latest"},
        {"dimensions": 256},
        {"document_prefix": "d:"},
        {"query_prefix": ""},
        {"document_prefix": "d: q: ", "query_prefix": ""},
    ],
)
def test_whatever_shapes_a_vector_changes_the_fingerprint(
    changes: dict[str, object],
) -> None:
    """Vectors of two models look alike and mean nothing to each other."""
    assert space(**changes).fingerprint != BASE.fingerprint


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080/v1/",
        "HTTP://LocalHost:8080/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080/v1",
        "http://me:secret@localhost:8080/v1",
    ],
)
def test_the_same_place_in_other_words_is_the_same_space(url: str) -> None:
    """Embedding everything twice costs money and time."""
    assert space(base_url=url).fingerprint == BASE.fingerprint


def test_a_tag_that_ollama_adds_itself_is_no_other_model() -> None:
    """nomic-embed-text and nomic-embed-text:latest are one."""
    short = VectorSpace(provider="ollama", base_url="http://localhost:11434", model="m")
    long = VectorSpace(provider="ollama", base_url="http://localhost", model="m:latest")
    tagged = VectorSpace(
        provider="ollama", base_url="http://localhost:11434", model="m:v2"
    )

    assert short.fingerprint != tagged.fingerprint
    assert short.fingerprint != long.fingerprint  # port 80, as http says
    at = "http://localhost:11434"
    assert (
        short.fingerprint
        == VectorSpace(provider="ollama", base_url=at, model="m:latest").fingerprint
    )


def test_ollama_knows_a_model_in_any_case() -> None:
    """BGE-m3 and bge-m3 are one model to Ollama, so their vectors are one space."""
    at = "http://localhost:11434"
    upper, lower = (
        VectorSpace(provider="ollama", base_url=at, model=model)
        for model in ("BGE-m3", "bge-m3")
    )

    assert upper.fingerprint == lower.fingerprint
    assert space(model="A").fingerprint != space(model="a").fingerprint


def test_a_fingerprint_is_readable_and_has_no_secret() -> None:
    """It is shown by `hm status` and stands in the index."""
    told = space(base_url="https://me:secret@example.com/v1", dimensions=256)

    assert told.fingerprint.startswith("openai/some-model/256@example.com#")
    assert "secret" not in told.fingerprint


def test_the_default_settings_describe_openai_and_ollama() -> None:
    """The names of the seed's configuration."""
    openai = describe_space(Settings(), "openai")
    ollama = describe_space(Settings(), "ollama")

    assert (openai.who, openai.model) == ("OpenAI", "text-embedding-3-small")
    assert ollama.who == "Ollama at localhost:11434"
    assert ollama.document_prefix == "search_document: "


@given(st.text(), st.integers(1, 50))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    """Whole characters, and never more bytes than stated."""
    cut = cut_text(text, limit)

    assert len(cut.encode()) <= limit
    assert text.startswith(cut)


@given(
    st.lists(st.text(max_size=30), max_size=40), st.integers(1, 8), st.integers(1, 60)
)
def test_batches_are_all_texts_in_order_within_the_limits(
    texts: list[str], max_texts: int, max_chars: int
) -> None:
    """Nothing is lost, doubled or moved."""
    batches = list(split_batches(texts, max_texts=max_texts, max_chars=max_chars))

    assert [text for batch in batches for text in batch] == texts
    assert all(1 <= len(batch) <= max_texts for batch in batches)
    assert all(
        len(batch) == 1 or sum(map(len, batch)) <= max_chars for batch in batches
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://ollama.com", True),
        ("https://api.ollama.com/v1", True),
        ("http://ollama.com", False),
        ("https://notollama.com", False),
        ("https://ollama.com.example.org", False),
        ("http://127.0.0.1:11434", False),
    ],
)
def test_only_its_own_service_gets_the_key_of_ollama(
    url: str, *, expected: bool
) -> None:
    """In plain text, not even that."""
    assert is_of_ollama(parse_address(url)) is expected
