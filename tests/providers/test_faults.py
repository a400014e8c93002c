"""The real clients against a real server that fails in every way we know of."""

from __future__ import annotations

import logging
import traceback

import pytest

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingRefusedError,
    EmbeddingTooLongError,
)
from hivemind_memory.providers.remote import RemoteEmbedder
from hivemind_memory.providers.vectors import unpack
from tests.providers.conftest import KEY, SECRET_TEXT, Connect, Hours
from tests.support.embedding_server import ENDLESS_FAULTS, FAULTS, EmbeddingServer

TEXTS = ["the first note", SECRET_TEXT, "the third note"]

REFUSED = ("400", "401", "403", "404", "429-quota", "redirect")
TOO_LONG = ("400-long", "413", "500-long")
PASSING = ("429", "429-2s", "429-1h", "500", "503", "slow", "drip", "cut", "reset")
HARMLESS = ("reordered", "no-index", "huge", "tiny")
INVALID = tuple(
    fault for fault in FAULTS if fault not in (*REFUSED, *TOO_LONG, *PASSING, *HARMLESS)
)
OUTCOME: dict[str, type[EmbeddingError]] = {
    **dict.fromkeys(REFUSED, EmbeddingRefusedError),
    **dict.fromkeys(TOO_LONG, EmbeddingTooLongError),
    **dict.fromkeys(PASSING, EmbeddingError),
    **dict.fromkeys(INVALID, EmbeddingInvalidError),
}
# A vector of another length than before takes a before: a test of its own.
FAILING = [fault for fault in OUTCOME if fault != "other-dims"]
# One text alone has no neighbour to differ from.
FAILING_ALONE = [
    fault for fault in FAILING if fault not in ("one-short", "doubled-index")
]
CASES = [
    (provider, fault)
    for provider in ("openai", "ollama")
    for fault in FAILING
    # Index and quota are words of OpenAI's; Ollama's answers do not have them.
    if provider == "openai" or fault not in ("doubled-index", "429-quota")
]
CASES_ALONE = [(provider, fault) for provider, fault in CASES if fault in FAILING_ALONE]


def retry_policy_for(fault: str) -> float:
    """Return a timeout: short only where it is going to be used up."""
    return 0.15 if fault in ("slow", "drip") else 5.0


def fail(embedder: RemoteEmbedder, texts: list[str]) -> EmbeddingError:
    """Return the error that embedding *texts* ends with."""
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_documents(texts)
    return caught.value


@pytest.mark.parametrize(("provider", "fault"), CASES)
def test_no_fault_lets_a_bad_vector_through(
    fault: str, provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """Each ends in the error that says whether asking again makes sense."""
    embedder = connect(provider, attempts=2, timeout_s=retry_policy_for(fault))
    server.always = fault

    error = fail(embedder, TEXTS)

    assert type(error) is OUTCOME[fault]


@pytest.mark.parametrize("fault", ENDLESS_FAULTS)
def test_no_answer_is_read_without_end(
    fault: str, server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    server.always = fault

    assert "with far more than a vector" in str(fail(embedder, TEXTS))


@pytest.mark.parametrize("fault", HARMLESS)
def test_what_is_only_unusual_gives_the_same_vectors(
    fault: str, server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    """Order by index, very large and very small numbers are no faults."""
    plain = embedder.embed_documents(TEXTS)
    server.always = fault

    unusual = embedder.embed_documents(TEXTS)

    for one, other in zip(plain, unusual, strict=True):
        assert unpack(one) == pytest.approx(unpack(other), abs=1e-6)


# An hour is longer than anybody waits.
@pytest.mark.parametrize("fault", [fault for fault in PASSING if fault != "429-1h"])
def test_what_may_pass_is_asked_again(
    fault: str, provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """One bad moment of the provider must not cost the batch."""
    embedder = connect(provider, timeout_s=2 * retry_policy_for(fault))
    server.script(fault)

    vectors = embedder.embed_documents(TEXTS)

    assert len(vectors) == len(TEXTS)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("provider", "fault"),
    [case for case in CASES if case[1] in (*REFUSED, *INVALID)],
)
def test_what_will_not_pass_is_asked_once(
    fault: str, provider: str, server: EmbeddingServer, connect: Connect, hours: Hours
) -> None:
    """Asking again after a no costs money, time, and sometimes the account."""
    server.always = fault

    fail(connect(provider), TEXTS)

    assert len(server.requests) == 1
    assert hours.slept == []


@pytest.mark.parametrize(("provider", "fault"), CASES_ALONE)
def test_a_question_is_asked_once_and_in_time(
    fault: str, provider: str, server: EmbeddingServer, connect: Connect, hours: Hours
) -> None:
    """A person waits; whatever the server does, the words answer within the bound."""
    embedder = connect(provider)
    server.always = fault

    with pytest.raises(EmbeddingError):
        embedder.embed_query(SECRET_TEXT, timeout_s=retry_policy_for(fault))

    assert server.outwaited == 0
    assert len(server.requests) == 1
    assert hours.slept == []


def test_the_client_reads_the_time_that_a_provider_asks_for(
    provider: str, server: EmbeddingServer, connect: Connect, hours: Hours
) -> None:
    """Ollama's client hides the headers; we find them all the same."""
    server.script("429-2s")

    connect(provider).embed_documents(TEXTS)

    [slept] = hours.slept
    assert 2.0 <= slept <= 3.0


def test_a_wait_beyond_the_policy_is_not_begun(
    provider: str, server: EmbeddingServer, connect: Connect, hours: Hours
) -> None:
    """The queue comes back later; a process that sleeps for an hour helps nobody."""
    server.always = "429-1h"

    error = fail(connect(provider), TEXTS)

    assert hours.slept == []
    assert error.retry_after_s == 3600
    assert "asks to wait 3600 s" in str(error)


def test_a_length_that_changes_between_batches_is_refused(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """Another model behind the same name would fill the space with noise."""
    embedder = connect(provider, batch_texts=2)
    before = embedder.embed_documents(TEXTS)
    server.script("", "other-dims")

    error = fail(embedder, TEXTS)

    assert type(error) is EmbeddingInvalidError
    assert "32 numbers; before it was 24" in str(error)
    assert embedder.embed_documents(TEXTS) == before


def test_one_odd_answer_at_first_does_not_spoil_all_that_follow(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """What was only seen is not yet known: the odd one may have been the first."""
    embedder = connect(provider)
    server.script("other-dims")
    embedder.embed_documents(["one"])

    fail(embedder, ["two"])

    assert len(embedder.embed_documents(["two"])) == 1


def test_the_length_of_the_space_is_known_to_a_new_process(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """A cold search asks one question and has seen nothing before."""
    embedder = connect(provider, dims=24)
    server.always = "other-dims"

    for _ in range(3):
        with pytest.raises(EmbeddingInvalidError, match="32 numbers; before it was 24"):
            embedder.embed_query("a question", timeout_s=2)


@pytest.mark.parametrize(("provider", "fault"), CASES_ALONE)
def test_neither_key_nor_text_is_ever_told(
    fault: str,
    provider: str,
    server: EmbeddingServer,
    connect: Connect,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Servers repeat both in their messages, and libraries log what they get."""
    caplog.set_level(logging.DEBUG)
    embedder = connect(provider, attempts=2, timeout_s=retry_policy_for(fault))
    server.always = fault

    error = fail(embedder, [SECRET_TEXT])

    told = "".join(traceback.format_exception(error)) + caplog.text + error.hint
    for secret in (KEY, KEY[-6:], SECRET_TEXT, "Zanzibar"):
        assert secret not in told


@pytest.mark.parametrize(("provider", "fault"), CASES)
def test_every_failure_is_one_sentence_and_a_hint(
    fault: str, provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """It ends up in a report that a person or an agent reads."""
    server.always = fault

    error = fail(
        connect(provider, attempts=1, timeout_s=retry_policy_for(fault)), TEXTS
    )

    assert str(error)[0].isupper()
    assert str(error).endswith(".")
    assert "\n" not in str(error)
    assert len(str(error)) < 160
    assert error.hint.endswith((".", "`."))


def test_a_redirect_is_not_followed(
    server: EmbeddingServer, embedder: RemoteEmbedder
) -> None:
    """The notes go to the address that was chosen, and to no other."""
    server.always = "redirect"

    fail(embedder, TEXTS)

    assert server.strays == []


def test_a_server_that_is_not_there_is_named(provider: str, connect: Connect) -> None:
    """The first thing to know is which address was asked."""
    with EmbeddingServer() as gone:
        place = gone.url.removeprefix("http://")

    error = fail(connect(provider, url=f"http://{place}"), TEXTS)

    assert type(error) is EmbeddingError
    assert place in str(error)
