"""Asks a provider for vectors with the standard library alone.

For the vector of a query, which a person waits for: loading a provider's own library
takes ten times as long as the answer. Batches of notes go through that library, and so
does a query where the environment tells the library something, such as a proxy.
"""

from __future__ import annotations

import os
from http.client import HTTPException

from hivemind_memory.providers.errors import (
    TOO_MUCH,
    explain_bad_answer,
    explain_no_answer,
    explain_status,
    explain_timeout,
)
from hivemind_memory.providers.json_connection import (
    AnswerTooLongError,
    JsonConnection,
)
from hivemind_memory.providers.vectors import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        self._connection = JsonConnection(space.address, api_key)

    def __call__(self, texts: Sequence[str], *, timeout_s: float) -> list[bytes]:
        """Return one packed vector for each text, in order."""
        space, wire = self._space, self._wire
        path, asked = space.address.path + wire.PATH, wire.write_request(space, texts)
        try:
            status, headers, answer = self._connection.post(path, asked, timeout_s)
        # From None, all of them: what is said there may hold the key or the text.
        except TimeoutError:
            raise explain_timeout(space, timeout_s) from None
        except AnswerTooLongError:
            raise explain_bad_answer(space, TOO_MUCH) from None
        except (OSError, HTTPException, ValueError):
            raise explain_no_answer(space) from None
        if not 200 <= status < 300:
            message, code = wire.read_error(answer)
            raise explain_status(
                space, status, body=message, code=code, headers=headers
            ) from None
        return [pack(values) for values in wire.read_vectors(space, answer)]

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()
