"""Sends batches with OpenAI's own client.

Import it only when notes are embedded: the library takes 0.7 s.
"""

from __future__ import annotations

import openai

from hivemind_memory.providers.errors import (
    TOO_MUCH,
    explain_bad_answer,
    explain_no_answer,
    explain_status,
    explain_timeout,
)
from hivemind_memory.providers.json_connection import AnswerTooLongError
from hivemind_memory.providers.openai_client import open_client
from hivemind_memory.providers.openai_wire import read_vectors
from hivemind_memory.providers.vectors import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.providers.fingerprint import VectorSpace


class OpenAIRequest:
    """Sends one request; see ``EmbeddingRequest``."""

    def __init__(self, space: VectorSpace, api_key: str) -> None:
        self._space = space
        self._client = open_client(space.base_url, space.address, api_key)

    def __call__(self, texts: Sequence[str], *, timeout_s: float) -> list[bytes]:
        """Return one packed vector for each text, in order."""
        space = self._space
        try:
            # Raw: the client's own parsing passes over what it does not understand.
            answer = self._client.embeddings.with_raw_response.create(
                input=list(texts),
                model=space.model,
                encoding_format="float",
                dimensions=space.dimensions or openai.omit,
                timeout=timeout_s,
            )
            body = answer.content
        # From None, all of them: what the library says may hold the key or the text.
        except openai.APITimeoutError:
            raise explain_timeout(space, timeout_s) from None
        except AnswerTooLongError:
            raise explain_bad_answer(space, TOO_MUCH) from None
        except openai.APIConnectionError:
            raise explain_no_answer(space) from None
        except openai.APIStatusError as error:
            raise explain_status(
                space,
                error.status_code,
                body=error.message,
                code=error.code or "",
                headers=dict(error.response.headers),
            ) from None
        except openai.OpenAIError:
            raise explain_bad_answer(space, "in a form that cannot be read") from None
        return [pack(values) for values in read_vectors(space, body)]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
