"""Our own request says and does what the providers' libraries do, without them."""

from __future__ import annotations

import datetime as dt
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from hivemind_memory.errors import EmbeddingError, EmbeddingInvalidError
from hivemind_memory.providers import ollama_wire, openai_wire
from hivemind_memory.providers.direct_request import (
    _CERTIFICATES,
    _PROXIES,
    DirectRequest,
    can_ask_directly,
)
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.providers.ollama_request import OllamaRequest
from hivemind_memory.providers.openai_request import OpenAIRequest
from tests.providers.conftest import KEY, SECRET_TEXT
from tests.providers.test_faults import HARMLESS
from tests.support.embedding_server import FAULTS, EmbeddingServer
from tests.support.waiting import HANG_S

if TYPE_CHECKING:
    from hivemind_memory.providers.remote import EmbeddingRequest

    Pair = tuple[EmbeddingRequest, EmbeddingRequest]

TEXTS = ["the first note", SECRET_TEXT, "größer, 東京 🙂 \0"]
NO_NUMBER = ("null", "words", "nested")
"""Ollama's library says of these that the form is wrong; we say what stands there."""

LASTING = ("slow", "drip")
"""Faults that only the time of the caller ends."""

PACKED = "compressed"
"""Only the library would unpack it."""


def space_of(provider: str, server: EmbeddingServer, **more: int) -> VectorSpace:
    """Return a space at the server of the test."""
    is_openai = provider == "openai"
    url = server.openai_url if is_openai else server.url
    return VectorSpace(provider=provider, base_url=url, model="m", **more)


def both(provider: str, server: EmbeddingServer, **more: int) -> Pair:
    """Return the library's request and ours."""
    space = space_of(provider, server, **more)
    if provider == "openai":
        return OpenAIRequest(space, KEY), DirectRequest(space, openai_wire, KEY)
    return OllamaRequest(space, 5.0), DirectRequest(space, ollama_wire)


@pytest.fixture
def pair(provider: str, server: EmbeddingServer) -> Iterator[Pair]:
    requests = both(provider, server)
    yield requests
    for request in requests:
        request.close()


def outcome(request: EmbeddingRequest) -> list[bytes] | tuple[object, ...]:
    """Return the vectors, or all that an error says."""
    try:
        return request(TEXTS, timeout_s=5.0)
    except EmbeddingError as error:
        return type(error), str(error), error.hint, error.retry_after_s


@pytest.mark.parametrize(
    "fault", [name for name in FAULTS if name not in (*LASTING, PACKED)]
)
def test_both_make_the_same_of_every_answer(
    fault: str, pair: Pair, server: EmbeddingServer
) -> None:
    server.always = fault
    library, direct = pair

    expected, ours = outcome(library), outcome(direct)

    if isinstance(library, OllamaRequest) and fault in NO_NUMBER:
        assert (ours[0], expected[0]) == (EmbeddingInvalidError,) * 2
    else:
        assert ours == expected
    assert isinstance(expected, list) or fault not in HARMLESS


def test_both_make_the_same_vectors(pair: Pair) -> None:
    library, direct = pair

    assert outcome(direct) == outcome(library)
    assert isinstance(outcome(direct), list)


@pytest.mark.parametrize("dimensions", [0, 16])
def test_both_send_the_same(
    provider: str, dimensions: int, server: EmbeddingServer
) -> None:
    for request in both(provider, server, dimensions=dimensions):
        request(TEXTS, timeout_s=5.0)
        request.close()

    theirs, ours = server.requests
    if provider == "ollama":
        assert "dimensions" not in ours
    assert ours == theirs
    for name in ("accept", "content-type", "authorization", "host"):
        assert server.headers[1].get(name) == server.headers[0].get(name), name


def test_an_answer_that_never_comes_is_a_timeout(
    provider: str, server: EmbeddingServer
) -> None:
    server.always = "slow"
    _, direct = both(provider, server)

    with pytest.raises(EmbeddingError, match=r"did not answer within 0\.1 s"):
        direct(TEXTS, timeout_s=0.1)


def test_an_endless_answer_is_not_read_to_its_end(
    provider: str, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hivemind_memory.providers.json_connection.MAX_ANSWER_BYTES", 1_000
    )
    _, direct = both(provider, server)

    with pytest.raises(EmbeddingError, match="far more than a vector"):
        direct(["text " * 10] * 20, timeout_s=5.0)


def test_a_connection_is_kept_for_the_next_query(
    provider: str, server: EmbeddingServer
) -> None:
    _, direct = both(provider, server)

    for _ in range(5):
        direct(TEXTS, timeout_s=5.0)
    direct.close()

    assert server.connections == 1


def test_a_server_that_started_anew_answers_the_next_query(provider: str) -> None:
    """The connection that was kept is gone, and that is no failure."""
    with EmbeddingServer() as first:
        _, direct = both(provider, first)
        before = direct(TEXTS, timeout_s=5.0)
        port = int(first.url.rpartition(":")[2])
        first.drop_connections()
    with EmbeddingServer(port=port):
        after = direct(TEXTS, timeout_s=5.0)
    direct.close()

    assert after == before


def test_32_threads_get_their_own_vectors(
    provider: str, server: EmbeddingServer
) -> None:
    """One connection of two threads would hand one the answer of the other."""
    _, direct = both(provider, server)
    alone = {f"text {at}": direct([f"text {at}"], timeout_s=5.0) for at in range(32)}
    wrong: list[str] = []

    def ask(text: str) -> None:
        answers = [direct([text], timeout_s=HANG_S) for _ in range(10)]
        wrong.extend(text for answer in answers if answer != alone[text])

    threads = [threading.Thread(target=ask, args=(text,)) for text in alone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    direct.close()

    assert not wrong
    assert len(server.requests) == 32 + 320


@pytest.mark.parametrize(
    "set_variable",
    [
        lambda patch: patch.setenv("HTTPS_PROXY", "http://proxy:3128"),
        lambda patch: patch.setenv("all_proxy", "socks5://proxy"),
        lambda patch: patch.setenv("SSL_CERT_FILE", "/etc/ours.pem"),
        lambda patch: patch.setenv("OPENAI_PROJECT_ID", "proj_1"),
    ],
)
def test_what_the_environment_tells_the_library_is_left_to_it(
    set_variable: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    space = VectorSpace(
        provider="openai", base_url="https://api.example.com/v1", model="m"
    )
    names = ("OPENAI_PROJECT_ID",)
    for name in (*names, *_PROXIES, *map(str.upper, _PROXIES), *_CERTIFICATES):
        monkeypatch.delenv(name, raising=False)
    assert can_ask_directly(space, settings_of_library=names)

    set_variable(monkeypatch)

    assert not can_ask_directly(space, settings_of_library=names)


@pytest.mark.parametrize(
    "url", ["http://me:word@127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1?version=2"]
)
def test_an_address_with_more_in_it_is_left_to_the_library(url: str) -> None:
    space = VectorSpace(provider="openai", base_url=url, model="m")

    assert not can_ask_directly(space, settings_of_library=())


def test_a_proxy_is_nothing_to_a_server_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    space = VectorSpace(provider="ollama", base_url="http://localhost:1", model="m")

    assert can_ask_directly(space, settings_of_library=())


def make_certificate(folder: Path, name: str) -> tuple[str, str]:
    """Return files with a certificate for *name* that nobody signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(Encoding.PEM))
    private.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    return str(certificate), str(private)


@pytest.mark.parametrize(
    ("name", "is_trusted", "arrives"),
    [
        ("localhost", True, True),
        ("localhost", False, False),
        ("elsewhere.example", True, False),
    ],
)
def test_only_a_server_with_a_trusted_certificate_of_its_name_gets_the_text(
    name: str,
    *,
    is_trusted: bool,
    arrives: bool,
    provider: str,
    server: EmbeddingServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    certificate, key = make_certificate(tmp_path, name)
    server.use_tls(certificate, key)
    if is_trusted:
        monkeypatch.setattr("certifi.where", lambda: certificate)
    space = space_of(provider, server)
    url = space.base_url.replace("http://127.0.0.1", "https://localhost")
    wire = openai_wire if provider == "openai" else ollama_wire
    direct = DirectRequest(replace(space, base_url=url), wire, KEY)

    if arrives:
        assert len(direct(TEXTS, timeout_s=HANG_S)) == len(TEXTS)
    else:
        with pytest.raises(EmbeddingError, match="cannot be reached"):
            direct(TEXTS, timeout_s=HANG_S)
    direct.close()

    assert bool(server.requests) is arrives


def test_an_answer_before_the_answer_is_not_taken_for_that_of_the_next_query() -> None:
    """The vector of the first text came back for the second, and was kept for it."""
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
    body = b'{"embeddings": [[1.0, 0.0]]}'
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for _ in range(2):
                link, _ = listening.accept()
                connections.append(link)
                link.recv(65_536)
                link.sendall(early + answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        space = VectorSpace(provider="ollama", base_url=url, model="m")
        direct = DirectRequest(space, ollama_wire)
        for _ in range(2):
            with pytest.raises(EmbeddingError):
                direct(["text"], timeout_s=HANG_S)
        thread.join(HANG_S)
        direct.close()

    assert len(connections) == 2
    for link in connections:
        link.close()


def test_a_connection_that_was_not_used_for_a_while_is_not_used_again(
    provider: str, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a router that forgot it, a query would wait for its whole time."""
    _, direct = both(provider, server)
    direct(TEXTS, timeout_s=5.0)
    monkeypatch.setattr("hivemind_memory.providers.json_connection.IDLE_S", 0.0)
    direct(TEXTS, timeout_s=5.0)
    direct.close()

    assert server.connections == 2


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_the_vector_of_a_query_loads_no_library(
    provider: str, server: EmbeddingServer
) -> None:
    """openai takes 0.7 s: more than everything else in a search together."""
    space = space_of(provider, server)
    program = f"""
import sys, time
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.providers.{provider}_embedder import connect
from hivemind_memory.providers.retry_policy import RetryPolicy
space = VectorSpace(provider={provider!r}, base_url={space.base_url!r}, model="m")
policy = RetryPolicy(now=time.monotonic, sleep=time.sleep)
embedder = connect(space, api_key="key", retry_policy=policy)
assert len(embedder.embed_query("when", timeout_s=20)) == {server.dims} * 4
print(*sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    slow = {"openai", "ollama", "httpx", "numpy", "tenacity", "pydantic"}
    assert not slow & set(result.stdout.split())
