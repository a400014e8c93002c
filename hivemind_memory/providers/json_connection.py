"""Posts JSON with the standard library alone, over connections that stay open a while.

For what a person waits for: loading a provider's own library takes ten times as long as
the answer.
"""

from __future__ import annotations

import json
import time
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
    IncompleteRead,
)

from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl

    from hivemind_memory.providers.addresses import Address

MAX_ANSWER_BYTES = 16_000_000
"""More than any answer that is waited for; one byte more is read, and no others."""

IDLE_S = 5.0
"""How long a connection is kept open: as long as the libraries keep theirs."""


class AnswerTooLongError(Exception):
    """An answer is longer than any that is waited for; the rest was not read."""


class JsonConnection:
    """Connections to one address. Several threads may use it."""

    def __init__(self, address: Address, api_key: str = "") -> None:
        self._address = address
        self._headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": f"hivemind-memory/{__version__}",
        }
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._idle: list[tuple[HTTPConnection, float]] = []
        """Connections and when each was last used, by the monotonic clock."""

    def close(self) -> None:
        """Close the connections."""
        while self._idle:
            self._idle.pop()[0].close()

    def post(
        self, path: str, document: object, timeout_s: float
    ) -> tuple[int, dict[str, str], bytes]:
        """Return (status, headers with names in lower case, body) of an answer.

        *timeout_s* bounds each step of the exchange, perhaps not the whole of it.

        Raises:
            AnswerTooLongError: It sends more than ``MAX_ANSWER_BYTES``.
            OSError: It could not be reached, or not in time.
            HTTPException: What it says is no HTTP.
        """
        body = json.dumps(document).encode()
        while True:
            kept = self._take_idle()
            link = kept or self._connect(timeout_s)
            try:
                return self._send(link, path, body, timeout_s)
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
        self, link: HTTPConnection, path: str, body: bytes, timeout_s: float
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request over a connection, and keep it open if it can be."""
        if link.sock is not None:
            link.sock.settimeout(timeout_s)
        link.request("POST", path, body, self._headers)
        with link.getresponse() as response:
            answer = response.read(MAX_ANSWER_BYTES + 1)
            headers = {name.lower(): text for name, text in response.getheaders()}
            if response.length and len(answer) <= MAX_ANSWER_BYTES:
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
        if len(answer) > MAX_ANSWER_BYTES:
            raise AnswerTooLongError
        return response.status, headers, answer

    def _connect(self, timeout_s: float) -> HTTPConnection:
        """Return a connection that opens with its first request."""
        address = self._address
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
