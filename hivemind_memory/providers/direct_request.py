"""Asks a provider for vectors with the standard library alone.

For the vector of a query, which a person waits for: loading a provider's own library
takes ten times as long as the answer. Batches of notes go through that library, and so
does a query where the environment tells the library something, such as a proxy.
"""

from __future__ import annotations

import json
import os
import time
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
    IncompleteRead,
)

from hivemind_memory.providers.errors import (
    explain_bad_answer,
    explain_no_answer,
    explain_status,
    explain_timeout,
)
from hivemind_memory.providers.vectors import pack
from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from typing import Protocol

    from hivemind_memory.providers.fingerprint import VectorSpace

    class Wire(Protocol):
        """What a provider is sent and what it answers, as JSON."""

        PATH: str
        """Below the address."""

        def write_request(
            self, space: VectorSpace, texts: Sequence[str]
        ) -> dict[str, object]:
            """Return what is asked."""
            ...

        def read_error(self, body: bytes) -> tuple[str, str]:
            """Return (message, code) of a refusal."""
            ...

        def read_vectors(
            self, space: VectorSpace, body: bytes
        ) -> list[Sequence[float]]:
            """Return the vectors of an answer in the order of the texts."""
            ...


_ANSWER_BYTES = 16_000_000
"""More than any answer with the vector of a query; the rest is not read."""

IDLE_S = 5.0
"""How long a connection is kept open: as long as the libraries keep theirs."""

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def can_ask_directly(
    space: VectorSpace, *, settings_of_library: tuple[str, ...]
) -> bool:
    """Return whether our own request says and does what the library would.

    Args:
        space: Where the provider answers.
        settings_of_library: Variables of the environment that change what it sends.
    """
    if "@" in space.base_url or "?" in space.base_url:
        return False
    if any(os.environ.get(name) for name in settings_of_library):
        return False
    # A proxy never sees what stays on this machine, and certificates are for TLS.
    is_local = space.address.is_loopback
    names = () if is_local else _PROXIES + tuple(map(str.upper, _PROXIES))
    names += _CERTIFICATES if space.address.scheme == "https" else ()
    return not any(os.environ.get(name) for name in names)


class DirectRequest:
    """Sends one request; see ``EmbeddingRequest``. Several threads may call it."""

    def __init__(self, space: VectorSpace, wire: Wire, api_key: str = "") -> None:
        self._space = space
        self._wire = wire
        self._headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": f"hivemind-memory/{__version__}",
        }
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._idle: list[tuple[HTTPConnection, float]] = []
        """Connections and when each was last used, by the monotonic clock."""

    def __call__(self, texts: Sequence[str], *, timeout_s: float) -> list[bytes]:
        """Return one packed vector for each text, in order."""
        space, wire = self._space, self._wire
        body = json.dumps(wire.write_request(space, texts)).encode()
        try:
            status, headers, answer = self._exchange(body, timeout_s)
        # From None, all of them: what is said there may hold the key or the text.
        except TimeoutError:
            raise explain_timeout(space, timeout_s) from None
        except (OSError, HTTPException, ValueError):
            raise explain_no_answer(space) from None
        if not 200 <= status < 300:
            message, code = wire.read_error(answer)
            raise explain_status(
                space, status, body=message, code=code, headers=headers
            ) from None
        if len(answer) > _ANSWER_BYTES:
            raise explain_bad_answer(space, "with far more than a vector")
        return [pack(values) for values in wire.read_vectors(space, answer)]

    def close(self) -> None:
        """Close the connections."""
        while self._idle:
            self._idle.pop()[0].close()

    def _exchange(
        self, body: bytes, timeout_s: float
    ) -> tuple[int, dict[str, str], bytes]:
        """Return (status, headers with names in lower case, body) of an answer."""
        while True:
            kept = self._take_idle()
            link = kept or self._connect(timeout_s)
            try:
                return self._send(link, body, timeout_s)
            except TimeoutError:
                link.close()
                raise
            except (ConnectionError, HTTPException):
                link.close()
                # The server may have closed a connection that was kept open.
                if not kept:
                    raise

    def _take_idle(self) -> HTTPConnection | None:
        """Return a connection that was used a moment ago; close those that were not.

        Others may be dead without anybody having said so, behind a router that forgot
        them or after the machine slept.
        """
        while self._idle:
            try:
                link, used_s = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if time.monotonic() - used_s < IDLE_S:
                return link
            link.close()
        return None

    def _send(
        self, link: HTTPConnection, body: bytes, timeout_s: float
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request over a connection, and keep it open if it can be."""
        if link.sock is not None:
            link.sock.settimeout(timeout_s)
        path = self._space.address.path + self._wire.PATH
        link.request("POST", path, body, self._headers)
        with link.getresponse() as response:
            answer = response.read(_ANSWER_BYTES + 1)
            headers = {name.lower(): text for name, text in response.getheaders()}
            if response.length and len(answer) <= _ANSWER_BYTES:
                raise IncompleteRead(b"", response.length)
            is_over = response.isclosed()
        if response.status < 200:
            link.close()
            message = "an answer that is none yet"
            raise HTTPException(message)
        if is_over and not response.will_close:
            self._idle.append((link, time.monotonic()))
        else:
            link.close()
        return response.status, headers, answer

    def _connect(self, timeout_s: float) -> HTTPConnection:
        """Return a connection that opens with its first request."""
        address = self._space.address
        if address.scheme != "https":
            return HTTPConnection(address.host, address.port, timeout=timeout_s)
        return HTTPSConnection(
            address.host, address.port, timeout=timeout_s, context=_trusted()
        )


def _trusted() -> ssl.SSLContext:
    """Return a context with the certificates that the libraries trust."""
    import ssl
    from contextlib import suppress

    with suppress(ImportError):
        import certifi

        return ssl.create_default_context(cafile=certifi.where())
    return ssl.create_default_context()
