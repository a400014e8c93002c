"""Runs a model from a folder with onnxruntime. The only module that imports it.

Import it only when a vector is computed here: the libraries take 0.2 s, the weights up
to two seconds. A model is loaded once for each process and then stays.

Texts are run one at a time: that is faster on a processor than a batch, which fills the
shorter texts up, and the vector of a text does not depend on the texts beside it.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import contextmanager

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from tokenizers import Tokenizer

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingRefusedError,
)
from hivemind_memory.files.errors import reason_of
from hivemind_memory.providers.local_weights import (
    TOKENIZER_FILE,
    Measured,
    Weights,
    digest_of,
    read_model_settings,
    record_measured,
)
from hivemind_memory.providers.vectors import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Floats = np.typing.NDArray[np.float32]

MAX_THREADS = 4
_SENTENCE_OUTPUT = "sentence_embedding"
_SCORE_OUTPUT = "logits"
_SCORE_SIZES = (1, 2)
_KNOWN_INPUTS = frozenset(("input_ids", "attention_mask", "token_type_ids"))
_EXIT_WAIT_S = 5.0
_ONLY_ERRORS = 3


class _LoadedModel:
    """Weights and their tokenizer, loaded. Several threads may use them at once."""

    def __init__(self, weights: Weights, outputs: tuple[str, ...]) -> None:
        """Load the files.

        Args:
            weights: The files.
            outputs: Name of the output to read if the model has it, else the first.

        Raises:
            EmbeddingRefusedError: They hold no model that reads texts.
        """
        self._settings = read_model_settings(weights.folder)
        try:
            with _at_work():
                self._tokenizer = Tokenizer.from_file(
                    os.path.join(weights.folder, TOKENIZER_FILE)
                )
                self._tokenizer.no_padding()
                self._tokenizer.enable_truncation(self._settings.max_tokens)
                self._session = onnxruntime.InferenceSession(
                    os.path.join(weights.folder, weights.model_file),
                    _session_options(),
                    providers=["CPUExecutionProvider"],
                )
        except EmbeddingError:
            raise
        # Both libraries raise classes of their own that share nothing but Exception.
        except Exception as error:
            raise _unusable(weights, type(error).__name__) from error
        self._inputs = [given.name for given in self._session.get_inputs()]
        made = [output.name for output in self._session.get_outputs()]
        self._output = next((name for name in outputs if name in made), made[0])
        unknown = sorted(set(self._inputs) - _KNOWN_INPUTS)
        if unknown or "input_ids" not in self._inputs:
            raise _unusable(weights, f"its inputs are {', '.join(self._inputs)}")

    def _run(self, text: str, second: str | None = None) -> Floats:
        """Return what the model makes of a text, or of two that it reads together.

        They are cut where the model ends.

        Raises:
            EmbeddingInvalidError: It makes nothing of it.
        """
        encoded = self._tokenizer.encode(text, second)
        ids = np.array([encoded.ids], dtype=np.int64)
        if not ids.size:
            raise EmbeddingInvalidError("The model sees no words in a text.")
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([encoded.type_ids], dtype=np.int64),
        }
        try:
            with _at_work():
                [found] = self._session.run(
                    [self._output], {name: given[name] for name in self._inputs}
                )
        except EmbeddingError:
            raise
        # From None: what the library says may hold the text.
        except Exception as error:  # noqa: BLE001 - as above
            message = f"The local model failed on a text ({type(error).__name__})."
            raise EmbeddingInvalidError(message) from None
        first: Floats = found[0]
        return first


class OnnxModel(_LoadedModel):
    """A model for embeddings."""

    def __init__(self, weights: Weights) -> None:
        """Load the files; see above."""
        super().__init__(weights, (_SENTENCE_OUTPUT,))
        self._pooling = self._settings.pooling

    def embed(self, text: str) -> bytes:
        """Return the packed vector of one text, which is cut where the model ends.

        Raises:
            EmbeddingInvalidError: The model made none of it.
        """
        return pack(self._pooled(self._run(text)).tolist())

    def _pooled(self, found: Floats) -> Floats:
        """Return one vector: the model's own, or made of those of the tokens."""
        if found.ndim == 1:
            return found
        token = {"cls": 0, "last": -1}.get(self._pooling)
        pooled: Floats = found[token] if token is not None else found.mean(axis=0)
        return pooled


class CrossEncoder(_LoadedModel):
    """A model that reads two texts together and says how well one answers the other."""

    def __init__(self, weights: Weights) -> None:
        """Load the files; see above."""
        super().__init__(weights, (_SCORE_OUTPUT,))
        if self._run("ready?", "ready").size not in _SCORE_SIZES:
            raise _unusable(weights, "it gives no score of two texts")

    def score(self, query: str, text: str) -> float:
        """Return how well a text answers, larger is better; both are cut if long.

        Raises:
            EmbeddingInvalidError: The model made no number of them.
        """
        found = [float(number) for number in self._run(query, text).reshape(-1)]
        # With two numbers the second is for what answers, the first for what does not.
        return found[0] if len(found) == 1 else found[1] - found[0]


_models: dict[tuple[str, str], OnnxModel] = {}
_loading = threading.Lock()


def loaded_model(folder: str, digest: str) -> OnnxModel | None:
    """Return the model of some weights if this process has loaded it."""
    return _models.get((folder, digest))


def load_model(weights: Weights, digest: str) -> OnnxModel:
    """Return the model of some weights, loaded once for each process.

    Raises:
        EmbeddingRefusedError: They are none.
    """
    key = weights.folder, digest
    with _loading:
        if key not in _models:
            _models[key] = OnnxModel(weights)
        return _models[key]


def measure(weights: Weights, models: str) -> Measured:
    """Read and load weights; record their digest and how long loading took.

    Raises:
        EmbeddingRefusedError: They cannot be read, or hold no model.
    """
    try:
        digest = digest_of(weights)
    except OSError as error:
        raise _unusable(weights, reason_of(error)) from error
    start_s = time.perf_counter()
    load_model(weights, digest).embed("ready?")
    measured = Measured(digest, round(time.perf_counter() - start_s, 3))
    record_measured(weights, models, measured)
    return measured


def thread_count() -> int:
    """Return how many threads one text is computed with: half of the processors."""
    return max(1, min(MAX_THREADS, (os.cpu_count() or 1) // 2))


def _session_options() -> onnxruntime.SessionOptions:
    """Return options with bounded threads that do not spin while they wait."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = _ONLY_ERRORS
    return options


def _unusable(weights: Weights, what: str) -> EmbeddingRefusedError:
    """Return the error for files that are not a model."""
    message = f"The local model in {weights.folder} cannot be used ({what})."
    hint = (
        "It needs model.onnx and tokenizer.json of a model for embeddings;"
        " `hm model fetch` downloads one."
    )
    return EmbeddingRefusedError(message, hint=hint)


_work = threading.Condition()
_at_work_count = 0
_is_exiting = False


@contextmanager
def _at_work() -> Iterator[None]:
    """Mark that the library computes: the process must not end meanwhile."""
    global _at_work_count  # noqa: PLW0603 - one for the process, as its end is one
    with _work:
        if _is_exiting:
            raise EmbeddingError("The process ends.")
        _at_work_count += 1
    try:
        yield
    finally:
        with _work:
            _at_work_count -= 1
            _work.notify_all()


@atexit.register
def _wait_for_work() -> None:
    """Let the library finish its text: its threads crash in a process that ends."""
    global _is_exiting  # noqa: PLW0603
    with _work:
        _is_exiting = True
        _work.wait_for(lambda: not _at_work_count, _EXIT_WAIT_S)
