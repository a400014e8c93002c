"""Embeds with a model that runs on this machine, in this process or a longer-lived one.

The vector of a query comes from where the model is loaded already: here, or in the
leader that serves it (``local_host``). Else it is loaded, if that fits into the time
that a query may take; a process that only searches would wait longer for its model than
for its answer.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingNotReadyError,
)
from hivemind_memory.providers.local_host import ask_host
from hivemind_memory.providers.local_weights import find_weights, read_measured
from hivemind_memory.providers.vectors import check_batch
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.providers.fingerprint import VectorSpace
    from hivemind_memory.providers.local_model import OnnxModel
    from hivemind_memory.providers.local_weights import Measured, Weights


IMPORT_S = 0.3
"""What importing onnxruntime and numpy takes; a load is measured without."""

LOAD_MARGIN = 1.2
"""A load takes up to so many times as long as the one that was measured."""

TEXT_LIMIT_BYTES = 8_000
"""Characters read of one text; a model reads at most 512 tokens of it."""


def connect(
    space: VectorSpace, *, models: str, dims: int | None = None, **_: object
) -> LocalEmbedder:
    """Return an embedder for *space*; loads nothing yet.

    Args:
        space: Folder, digest and prefixes.
        models: Folder of the fetched models, where measurements are kept.
        dims: Numbers that a vector of this space has; None: not known yet.
    """
    return LocalEmbedder(space, models, dims)


class LocalEmbedder:
    """An ``Embedder`` over a model in a folder."""

    def __init__(self, space: VectorSpace, models: str, dims: int | None) -> None:
        self._space = space
        self._models = models
        self._dims = dims
        self._fingerprint = space.fingerprint

    @property
    def fingerprint(self) -> str:
        """Name of the space that the vectors belong to."""
        return self._fingerprint

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector for each text, in order; see the port."""
        prepared = [prepare(text, self._space.document_prefix) for text in texts]
        if not prepared:
            return []
        model = self.load()
        vectors = [model.embed(text) for text in prepared]
        check_batch(vectors, count=len(texts), dims=self._dims)
        return vectors

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        """Return the vector of a query within *timeout_s* seconds; see the port."""
        if timeout_s <= 0:
            raise EmbeddingError("There is no time left to compute a vector.")
        prepared = prepare(text, self._space.query_prefix)
        vector = b""
        if not _is_loaded(self._space):
            vector = ask_host(self._fingerprint, prepared, timeout_s=timeout_s)
        if not vector:
            vector = self._model_within(timeout_s).embed(prepared)
        check_batch([vector], count=1, dims=self._dims)
        return vector

    def load(self) -> OnnxModel:
        """Return the model, loaded now if it is not yet.

        Raises:
            EmbeddingError: The weights of this space are no longer there.
        """
        from hivemind_memory.providers.local_model import load_model

        return load_model(self._find()[0], self._space.weights)

    def close(self) -> None:
        """Do nothing: the model stays loaded for the next query of this process."""

    def _model_within(self, timeout_s: float) -> OnnxModel:
        """Return the model if it is loaded, or can be within *timeout_s* seconds."""
        load_s = IMPORT_S + self._find()[1].load_s
        if LOAD_MARGIN * load_s > timeout_s and not _is_loaded(self._space):
            raise EmbeddingNotReadyError(
                f"The local model takes {load_s:.1f} s to load, longer than a search"
                " waits; once `hm watch` or an agent's server has loaded it, searches"
                " use it."
            )
        return self.load()

    def _find(self) -> tuple[Weights, Measured]:
        """Return the weights of this space, and what is known of them."""
        weights = find_weights(os.path.join(self._space.base_url, ""), self._models)
        measured = (
            None if isinstance(weights, str) else read_measured(weights, self._models)
        )
        if isinstance(weights, str) or measured is None:
            is_gone = isinstance(weights, str)
            what = "are gone" if is_gone else "are new or have changed"
            raise EmbeddingNotReadyError(
                f"The weights in {self._space.base_url} {what}; `hm sync` embeds the"
                " notes with those of local_model."
            )
        if measured.digest != self._space.weights:
            raise EmbeddingNotReadyError(
                "The weights that these vectors were made with are gone; `hm sync`"
                " embeds the notes with the new ones."
            )
        return weights, measured


def prepare(text: str, prefix: str) -> str:
    """Return what the model reads of *text*, without secrets of a known form.

    A vector tells much of its text.

    Raises:
        EmbeddingInvalidError: It is blank.
    """
    if not text.strip():
        raise EmbeddingInvalidError("A text without any characters has no vector.")
    data = mask(text).encode("utf-8", "replace")
    return prefix + data[:TEXT_LIMIT_BYTES].decode("utf-8", "ignore")


def _is_loaded(space: VectorSpace) -> bool:
    """Return whether this process has the model of a space."""
    import sys

    module = sys.modules.get("hivemind_memory.providers.local_model")
    if module is None:
        return False
    return module.loaded_model(space.base_url, space.weights) is not None
