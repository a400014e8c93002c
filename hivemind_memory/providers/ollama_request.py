"""Sends batches with Ollama's own client. The only module that imports ollama.

Import it only when notes are embedded: the library takes 0.4 s.
"""

from __future__ import annotations

import httpx
import ollama

from hivemind_memory.providers.addresses import is_of_ollama
from hivemind_memory.providers.bounded_answer import PLAIN
from hivemind_memory.providers.errors import (
    TOO_MUCH,
    explain_bad_answer,
    explain_no_answer,
    explain_status,
    explain_timeout,
)
from hivemind_memory.providers.json_connection import AnswerTooLongError
from hivemind_memory.providers.remote import transport_of
from hivemind_memory.providers.vectors import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.providers.addresses import Address
    from hivemind_memory.providers.fingerprint import VectorSpace


def open_client(
    base_url: str, address: Address, *, timeout_s: float, api_key: str = ""
) -> ollama.Client:
    """Return a client that sends no key but the one that it is given.

    Args:
        base_url: Where it sends its requests.
        address: The same, parsed.
        timeout_s: For each step of every request, be it short of time or not: the
            client knows no other. The caller bounds the whole.
        api_key: The key; empty for none.
    """
    headers, transport = dict(PLAIN), transport_of(address)
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    elif not is_of_ollama(address):
        # From the environment, by the client: a key of Ollama's own service.
        transport["event_hooks"]["request"] = [_drop_key]
    return ollama.Client(base_url, timeout=timeout_s, headers=headers, **transport)


def _drop_key(request: httpx.Request) -> None:
    """Send a request without a key."""
    request.headers.pop("Authorization", None)


class OllamaRequest:
    """Sends one request; see ``EmbeddingRequest``."""

    def __init__(self, space: VectorSpace, timeout_s: float) -> None:
        self._space = space
        self._client = open_client(space.base_url, space.address, timeout_s=timeout_s)

    def __call__(self, texts: Sequence[str], *, timeout_s: float) -> list[bytes]:
        """Return one packed vector for each text, in order."""
        space = self._space
        try:
            answer = self._client.embed(space.model, list(texts), truncate=True)
        # From None, all of them: what the library says may hold the text.
        except ollama.ResponseError as error:
            raise explain_status(
                space,
                error.status_code,
                body=str(error.error),
                headers=find_headers(error),
            ) from None
        except httpx.TimeoutException:
            raise explain_timeout(space, timeout_s) from None
        except AnswerTooLongError:
            raise explain_bad_answer(space, TOO_MUCH) from None
        except (httpx.HTTPError, ConnectionError):
            raise explain_no_answer(space) from None
        except (ValueError, TypeError, AttributeError, RecursionError):
            # Not JSON, or JSON of another shape: the library does not look.
            raise explain_bad_answer(space, "not with a list of vectors") from None
        return [pack(values) for values in answer.embeddings]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()  # type: ignore[no-untyped-call]


def find_headers(error: ollama.ResponseError) -> dict[str, str]:
    """Return the headers of a refusal, which the library keeps from its callers."""
    cause = error.__context__
    if isinstance(cause, httpx.HTTPStatusError):
        return dict(cause.response.headers)
    return {}
