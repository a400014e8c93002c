"""Reranks with a cross-encoder from a folder, which the leader has loaded.

A search never loads it: that would take longer than its answer. It asks the process
that has it (``local_host``), this one or another.
"""

from __future__ import annotations

import json
import os

from hivemind_memory.errors import (
    EmbeddingError,
    RerankError,
    RerankNotReadyError,
)
from hivemind_memory.providers.install_command import install_command
from hivemind_memory.providers.local_host import RERANKING, ask_host, is_serving, serve
from hivemind_memory.providers.local_weights import (
    MODEL_FILES,
    TOKENIZER_FILE,
    find_weights,
    signature_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.providers.local_model import CrossEncoder
    from hivemind_memory.providers.local_weights import Weights


MAX_TEXT_CHARS = 4_000
"""Characters read of one text; a model reads at most 512 tokens of it."""

HOST_SHARE = 0.9
"""Share of the time that the leader may compute, so that it says when it was late."""

_NOT_LOADED = (
    "no running `hm watch` or agent's server has loaded the reranker of"
    " local_rerank_model"
)

_NEEDED = (
    f"local_rerank_model has to be a folder with {MODEL_FILES[0]} and {TOKENIZER_FILE}"
    " of a cross-encoder"
)

_loaded: dict[str, CrossEncoder] = {}
"""Those of this process, by name of their weights."""


def connect(folder: str, *, stopwatch: Callable[[], float]) -> LocalReranker:
    """Return a reranker; loads nothing.

    Args:
        folder: Of the weights, as the settings name it.
        stopwatch: Seconds on a clock that never goes back.
    """
    return LocalReranker(folder, stopwatch)


class LocalReranker:
    """A ``Reranker`` over a cross-encoder in a folder."""

    def __init__(self, folder: str, stopwatch: Callable[[], float]) -> None:
        self._folder = folder
        self._stopwatch = stopwatch

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"local {os.path.basename(os.path.normpath(self._folder))}"

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_s: float
    ) -> list[float]:
        """Return one score for each text; see the port."""
        weights = self._find()
        if not texts:
            return []
        if timeout_s <= 0:
            raise RerankError("there was no time left")
        cut = [_cut(text) for text in (query, *texts)]
        name = _host_name(weights)
        if encoder := _loaded.get(name):
            return self._compute(encoder, cut, timeout_s)
        return self._ask(name, cut, timeout_s)

    def serve(self) -> None:
        """Load the weights, and rerank for all processes; cheap if it is done already.

        What cannot be loaded is served as well, so that a search says why.
        """
        try:
            name = _host_name(self._find())
        except RerankError:
            return  # a search finds that out by itself
        if is_serving(name):
            return
        found = _loaded.get(name) or _load(self._find(), name)

        def answer(asked: str) -> bytes:
            if isinstance(found, str):
                return json.dumps(found).encode()
            cut, timeout_s = json.loads(asked)
            try:
                return json.dumps(self._compute(found, cut, timeout_s)).encode()
            except RerankError as error:
                return json.dumps(str(error)).encode()

        serve(name, answer, what=RERANKING)

    def close(self) -> None:
        """Do nothing: the model stays loaded for the next query of this process."""

    def _find(self) -> Weights:
        """Return the files of the model."""
        found = find_weights(os.path.join(self._folder, ""), "")
        if isinstance(found, str):
            raise RerankNotReadyError(_NEEDED)
        return found

    def _compute(
        self, encoder: CrossEncoder, cut: Sequence[str], timeout_s: float
    ) -> list[float]:
        """Return the scores from a model of this process, one text at a time."""
        end_s = self._stopwatch() + timeout_s
        query, *texts = cut
        scores: list[float] = []
        for text in texts:
            if self._stopwatch() >= end_s:
                raise RerankError(_too_slow(len(scores), len(texts)))
            try:
                scores.append(encoder.score(query, text))
            except EmbeddingError as error:
                raise RerankError(str(error)) from error
        return scores

    def _ask(self, name: str, cut: Sequence[str], timeout_s: float) -> list[float]:
        """Return the scores from the process that has loaded the model."""
        end_s = self._stopwatch() + timeout_s
        asked = json.dumps([cut, HOST_SHARE * timeout_s])
        answer = ask_host(name, asked, timeout_s=timeout_s)
        if not answer and self._stopwatch() >= end_s:
            raise RerankError(_too_slow(0, len(cut) - 1))
        if not answer:
            raise RerankNotReadyError(_NOT_LOADED)
        found = json.loads(answer)
        if isinstance(found, str):
            raise RerankError(found)
        return [float(score) for score in found]


def _load(weights: Weights, name: str) -> CrossEncoder | str:
    """Return a model, loaded instead of the one before, or why it cannot be."""
    try:
        from hivemind_memory.providers.local_model import CrossEncoder
    except ImportError:
        command = install_command(("onnxruntime", "tokenizers"))
        return f"a local reranker needs `{command}`"
    _loaded.clear()
    try:
        encoder = CrossEncoder(weights)
    except EmbeddingError as error:
        return f"{str(error).removesuffix('.')}: {_NEEDED}"
    _loaded[name] = encoder
    return encoder


def _cut(text: str) -> str:
    """Return what the model reads of a text."""
    return text[:MAX_TEXT_CHARS].encode("utf-8", "replace").decode()


def _host_name(weights: Weights) -> str:
    """Return what names the model to other processes; other files are another one."""
    return f"reranker {weights.folder} {signature_text(weights)}"


def _too_slow(done: int, count: int) -> str:
    """Return that the model was not in time."""
    return f"the local reranker read {done} of {count} texts in time"
