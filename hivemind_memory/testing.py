"""Fakes for what a test should not need: a network and a language model.

They pass the same contract tests as the real ones.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from hivemind_memory.errors import (
    ChatError,
    EmbeddingError,
    EmbeddingInvalidError,
    RerankError,
)
from hivemind_memory.providers.vectors import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hivemind_memory.model.chat import ChatMessage

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 3
_PART_WEIGHT = 1
_PART_CHARS = 3


def hash_text(text: str, dims: int = 64) -> list[float]:
    """Return *dims* numbers, the nearer to each other the more two texts share.

    Each word, and each run of three letters in it with less weight, adds one or takes
    one at two places that its hash chooses. So "deploy" is near "deployed", in every
    script, and the same text always gives the same numbers. Not scaled.
    """
    numbers = [0.0] * dims
    for word in _WORD.findall(text.casefold()) or [text]:
        marked = f"<{word}>"
        parts = [
            marked[start : start + _PART_CHARS]
            for start in range(max(1, len(marked) - _PART_CHARS + 1))
        ]
        for part, weight in [
            (marked, _WORD_WEIGHT),
            *((p, _PART_WEIGHT) for p in parts),
        ]:
            digest = blake2b(part.encode("utf-8", "replace"), digest_size=8).digest()
            for half in (digest[:4], digest[4:]):
                place = int.from_bytes(half, "little")
                numbers[(place >> 1) % dims] += weight if place & 1 else -weight
    if not any(numbers):
        numbers[0] = 1.0  # everything canceled out
    return numbers


class FakeEmbedder:
    """An ``Embedder`` without a network; notes what it is asked, fails on demand."""

    def __init__(
        self, *, dims: int = 64, fingerprint: str = "fake/hashed-words"
    ) -> None:
        self._dims = dims
        self._fingerprint = fingerprint
        self.failure: EmbeddingError | None = None
        """Raised instead of an answer, until it is None again."""

        self.documents: list[str] = []
        """All texts asked for so far, queries left out."""

        self.queries: list[str] = []

    @property
    def fingerprint(self) -> str:
        """Name of the space that the vectors belong to."""
        return self._fingerprint

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector for each text, in order; see the port."""
        self.documents += texts
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        """Return the vector of a query; see the port."""
        if timeout_s <= 0:
            message = "There is no time left to ask."
            raise EmbeddingError(message)
        self.queries.append(text)
        return self._embed(text)

    def close(self) -> None:
        """Do nothing: it has nothing open."""

    def _embed(self, text: str) -> bytes:
        """Return one vector, or fail as a test wants it."""
        if self.failure is not None:
            raise self.failure
        if not text.strip():
            message = "A text without any characters has no vector."
            raise EmbeddingInvalidError(message)
        return pack(hash_text(text, self._dims))


class FakeReranker:
    """A ``Reranker`` without a model: the more words in common, the better."""

    name = "fake words"

    def __init__(self) -> None:
        self.failure: RerankError | None = None
        """Raised instead of an answer, until it is None again."""

        self.liked = ""
        """A text that contains this answers better than any other."""

        self.texts: list[str] = []
        """All texts that were read so far."""

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_s: float
    ) -> list[float]:
        """Return one score for each text; see the port."""
        if timeout_s <= 0:
            message = "there was no time left"
            raise RerankError(message)
        if self.failure is not None:
            raise self.failure
        self.texts += texts
        words = set(_WORD.findall(query.casefold()))
        return [
            len(words & set(_WORD.findall(text.casefold())))
            + 100.0 * bool(self.liked and self.liked in text)
            for text in texts
        ]

    def close(self) -> None:
        """Do nothing: it has nothing open."""


class FakeChat:
    """A ``Chat`` without a model: it replies with what a test wants."""

    name = "fake model"

    def __init__(
        self,
        reply: Callable[[Sequence[ChatMessage]], dict[str, object]] | None = None,
    ) -> None:
        """Take what makes a reply; None: every list of the reply is empty."""
        self.reply = reply
        self.failure: ChatError | None = None
        """Raised instead of a reply, until it is None again."""

        self.asked: list[tuple[ChatMessage, ...]] = []
        """The messages of every request so far."""

    def prepare(self) -> None:
        """Do nothing: it needs no library."""

    def ask(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, object],
        *,
        timeout_s: float,
    ) -> dict[str, object]:
        """Return the reply, whatever the schema says; see the port."""
        if timeout_s <= 0:
            message = "There is no time left to ask."
            raise ChatError(message)
        self.asked.append(tuple(messages))
        if self.failure is not None:
            raise self.failure
        if self.reply is not None:
            return self.reply(messages)
        fields = schema.get("properties")
        rows = fields.items() if isinstance(fields, dict) else ()
        return {name: [] for name, field in rows if field.get("type") == "array"}

    def close(self) -> None:
        """Do nothing: it has nothing open."""
