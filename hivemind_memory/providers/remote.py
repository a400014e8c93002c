"""Turns a function that sends one request into an ``Embedder``.

Prefixes, limits, batches, timeouts and retries are the same for every provider. Only
the request differs: what a provider is asked and answers is in its wire module, its own
client in its request module.

``run_within`` bounds a whole call: HTTP clients bound each read, so a server that sends
a byte now and then, or a name server that never answers, could hold one forever.
"""

from __future__ import annotations

import re
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from functools import partial

from hivemind_memory.errors import EmbeddingInvalidError, EmbeddingTooLongError
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.providers.bounded_answer import bound_answer
from hivemind_memory.providers.errors import explain_no_address, explain_timeout
from hivemind_memory.providers.vectors import check_batch
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Protocol, TypedDict, TypeVar

    from hivemind_memory.providers.addresses import Address
    from hivemind_memory.providers.fingerprint import VectorSpace
    from hivemind_memory.providers.retry_policy import RetryPolicy

    class EmbeddingRequest(Protocol):
        """Sends one request."""

        def __call__(self, texts: Sequence[str], *, timeout_s: float) -> list[bytes]:
            """Return one packed vector for each text, in order, or raise our own error.

            *timeout_s* bounds each step of the exchange, perhaps not the whole of it.
            """
            ...

        def close(self) -> None:
            """Close the connections."""
            ...

    class TransportOptions(TypedDict):
        """Options of an ``httpx`` client, which both providers' clients pass on."""

        follow_redirects: bool
        trust_env: bool
        verify: bool
        event_hooks: dict[str, list[Callable[[Any], None]]]

    T = TypeVar("T")


_SHORTEST_BYTES = 200
_ADDRESS = lazy_re(
    r"https?://([^\s/@]*@)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?(/[!-~]*)?",
    re.IGNORECASE,
)

TEXT_LIMIT_BYTES = 8_000
"""How much of one text is sent. A token is at least one byte in every tokenizer in use,
so this is below OpenAI's 8,191 tokens in any script; of a note in English it is 8,000
characters, ten times the usual chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """What goes into one request."""

    batch_texts: int = 64
    batch_chars: int = 100_000
    """About 25,000 tokens of English; OpenAI takes 300,000 in one request."""

    text_bytes: int = TEXT_LIMIT_BYTES
    timeout_s: float = 30.0
    """Seconds for one attempt at one batch."""


def require_address(space: VectorSpace) -> None:
    """Raise EmbeddingRefusedError unless requests can be sent to the address."""
    if not is_usable_address(space.base_url, space.address):
        raise explain_no_address(space)


def is_usable_address(url: str, address: Address) -> bool:
    """Return whether requests can be sent to an address."""
    return bool(_ADDRESS.fullmatch(url) and address.port)


def transport_of(address: Address) -> TransportOptions:
    """Return how a provider's client sends its requests.

    No redirects: notes go to the address that was chosen and no other. What stays on
    this machine must not go through a proxy. Without TLS there is nothing to verify,
    and loading the certificates takes 30 ms. No answer is read without end.
    """
    return {
        "follow_redirects": False,
        "trust_env": not address.is_loopback,
        "verify": address.scheme == "https",
        "event_hooks": {"response": [bound_answer]},
    }


class LateRequest:
    """A request that is opened when it is first sent; opening loads a library."""

    def __init__(self, open_request: Callable[[], EmbeddingRequest]) -> None:
        self._open_request = open_request
        self._opened: EmbeddingRequest | None = None
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str], *, timeout_s: float) -> list[bytes]:
        """Send it; see ``EmbeddingRequest``."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open_request()
            opened = self._opened
        return opened(texts, timeout_s=timeout_s)

    def close(self) -> None:
        """Close the connections, if it was opened."""
        if self._opened is not None:
            self._opened.close()


class RemoteEmbedder:
    """An ``Embedder`` over a provider that is asked by HTTP."""

    def __init__(
        self,
        space: VectorSpace,
        request: EmbeddingRequest,
        *,
        query_request: EmbeddingRequest | None = None,
        retry_policy: RetryPolicy,
        limits: RequestLimits | None = None,
        dims: int | None = None,
    ) -> None:
        """Send nothing yet.

        Args:
            space: Address, model, dimensions and prefixes.
            request: Sends one request.
            query_request: Sends one with a query; None: *request* does.
            retry_policy: How often and how long to ask again.
            limits: What goes into one request.
            dims: Numbers that a vector of this space has; None: not known yet.
        """
        self._space = space
        self._request = request
        self._query_request = query_request or request
        self._limits = limits or RequestLimits()
        self._retry_policy = retry_policy
        self._known_dims = dims
        self._seen_dims = dims
        self._fingerprint = space.fingerprint

    @property
    def fingerprint(self) -> str:
        """Name of the space that the vectors belong to."""
        return self._fingerprint

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector for each text, in order; see the port."""
        prepared = [self._prepare(text, self._space.document_prefix) for text in texts]
        vectors: list[bytes] = []
        limits = self._limits
        for batch in split_batches(
            prepared, max_texts=limits.batch_texts, max_chars=limits.batch_chars
        ):
            vectors += self._embed_batch(batch)
        return vectors

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        """Return the vector of a query within *timeout_s* seconds; see the port."""
        prepared = self._prepare(text, self._space.query_prefix)
        [vector] = self._ask([prepared], timeout_s, self._query_request)
        return vector

    def close(self) -> None:
        """Close the connections; a request under way fails."""
        self._query_request.close()
        self._request.close()

    def _prepare(self, text: str, prefix: str) -> str:
        """Return what is sent for *text*: no secret of a known form leaves here."""
        if not text.strip():
            message = "A text without any characters has no vector."
            raise EmbeddingInvalidError(message)
        return prefix + cut_text(mask(text), self._limits.text_bytes)

    def _embed_batch(self, batch: list[str]) -> list[bytes]:
        """Return the vectors of one batch, shortening a lone text that is too long."""
        # The vector of a query is asked for once.
        from hivemind_memory.providers.retry import retry

        while True:
            ask = partial(self._ask, batch, request=self._request)
            try:
                return retry(ask, self._retry_policy)
            except EmbeddingTooLongError:
                size = len(batch[0].encode())
                if len(batch) > 1 or size < 2 * _SHORTEST_BYTES:
                    raise
                # Servers are asked to cut by themselves, and some versions refuse
                # instead (ollama/ollama#14186). Half a text is better than none.
                batch = [cut_text(batch[0], size // 2)]

    def _ask(
        self, batch: list[str], left_s: float, request: EmbeddingRequest
    ) -> list[bytes]:
        """Send one request; return its vectors, checked."""
        timeout_s = min(self._limits.timeout_s, left_s)
        if timeout_s <= 0:
            raise explain_timeout(self._space, 0)
        try:
            vectors = run_within(timeout_s, lambda: request(batch, timeout_s=timeout_s))
        except TimeoutError:
            raise explain_timeout(self._space, timeout_s) from None
        expected = self._seen_dims
        # If it was not told but seen, the answer before may have been the odd one: it
        # is forgotten, so that one odd answer does not spoil all that follow.
        self._seen_dims = self._known_dims
        self._seen_dims = check_batch(vectors, count=len(batch), dims=expected)
        return vectors


def cut_text(text: str, limit_bytes: int = TEXT_LIMIT_BYTES) -> str:
    """Return the beginning of *text*, at most *limit_bytes* of UTF-8, whole characters.

    A lone surrogate, which no request can carry, becomes a question mark.

    >>> cut_text("größer", 4)
    'grö'
    """
    data = text.encode("utf-8", "replace")
    return data[:limit_bytes].decode("utf-8", "ignore")


def split_batches(
    texts: Sequence[str], *, max_texts: int, max_chars: int
) -> Iterator[list[str]]:
    """Yield *texts* in order, in lists of at most *max_texts* and *max_chars* together.

    A text that alone has more characters comes alone.
    """
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) >= max_texts or chars + len(text) > max_chars):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def run_within(timeout_s: float, call: Callable[[], T]) -> T:
    """Return what *call* returns, or raise TimeoutError after *timeout_s* seconds.

    *call* runs in a thread of its own. Out of time, the thread is left behind to end
    with its own timeouts; it does not keep the process alive.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - carried over to the caller
            future.set_exception(error)

    threading.Thread(target=run, name="hm-embed", daemon=True).start()
    try:
        return future.result(timeout_s)
    except FutureTimeoutError:
        if future.done():
            raise  # it was the call's own
        raise TimeoutError from None
