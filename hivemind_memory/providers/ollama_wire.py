"""The wire of Ollama: what is sent, and what comes back."""

from __future__ import annotations

import json

from hivemind_memory.providers.errors import explain_bad_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.providers.fingerprint import VectorSpace

PATH = "/api/embed"


def write_request(space: VectorSpace, texts: Sequence[str]) -> dict[str, object]:
    """Return what is asked, before it becomes JSON.

    Args:
        space: What the vectors are for.
        texts: What to embed.
    """
    return {"model": space.model, "input": list(texts), "truncate": True}


def read_error(body: bytes) -> tuple[str, str]:
    """Return (message, code) of a refusal; Ollama has no codes."""
    try:
        return str(json.loads(body)["error"]), ""
    except (ValueError, RecursionError, KeyError, TypeError):
        return body.decode("utf-8", "replace"), ""


def read_vectors(space: VectorSpace, body: bytes) -> list[Sequence[float]]:
    """Return the vectors of an answer, which come in the order of the texts.

    Raises:
        EmbeddingInvalidError: It holds something else.
    """
    try:
        vectors = json.loads(body)["embeddings"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise explain_bad_answer(space, "not with a list of vectors") from None
    if not isinstance(vectors, list) or not all(
        isinstance(vector, list) for vector in vectors
    ):
        raise explain_bad_answer(space, "not with a list of vectors")
    return vectors
