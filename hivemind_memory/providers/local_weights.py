"""Finds the files of a local model, and tells by a digest whether they are the same.

Reading 100 MB for their digest takes a tenth of a second, loading them a second. So
both are measured once, by ``hm model fetch`` or the first sync, and kept in a file with
the signatures of what was read: a search compares signatures and reads nothing.
Needs no library: every search with vectors comes through here.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.model.embedding_providers import LOCAL
from hivemind_memory.providers.fingerprint import VectorSpace, choose_prefixes
from hivemind_memory.providers.local_catalog import find_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.providers.settings import EmbeddingSettings


MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_optimized.onnx",
)
"""Where the weights may be in a folder; the first one that is there counts."""

TOKENIZER_FILE = "tokenizer.json"
_OWN_FILE = "model.json"
_DATA_SUFFIXES = (".data", "_data")
"""Of a second file with the numbers of a large model, beside its weights."""

_SETTING_FILES = (
    _OWN_FILE,
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
)
"""Files that may say how vectors are made; each may be missing."""

_MEASURED_FILE = "measured.json"
_DIGEST_CHARS = 24
DEFAULT_MAX_TOKENS = 512
_POOLINGS = (
    ("pooling_mode_cls_token", "cls"),
    ("pooling_mode_lasttoken", "last"),
    ("pooling_mode_mean_tokens", "mean"),
)


class Weights(NamedTuple):
    """The files of a model in a folder."""

    folder: str
    model_file: str
    """Path below the folder."""

    files: tuple[str, ...]
    """All files that shape a vector, as paths below the folder."""


class Measured(NamedTuple):
    """What is known of some weights since they were read."""

    digest: str
    load_s: float
    """Seconds that loading them took on this machine."""


class ModelSettings(NamedTuple):
    """How a model is used, as its folder says."""

    pooling: str = "mean"
    max_tokens: int = DEFAULT_MAX_TOKENS
    document_prefix: str | None = None
    query_prefix: str | None = None


def find_weights(model: str, models: str) -> Weights | str:
    """Return the files of a model, or why there are none, in a sentence with a remedy.

    Args:
        model: Name of a known model, or path of a folder.
        models: Folder into which known models are fetched.
    """
    known = find_model(model)
    if known is not None:
        from shlex import quote

        folder = os.path.join(models, known.name)
        remedy = f"`hm model fetch {quote(known.name)}` downloads it."
        missing = f"The local model {known.name} is not here yet: {remedy}"
    elif "/" in model:
        folder = os.path.abspath(os.path.expanduser(model))
        missing = (
            f"The folder {folder} has no {MODEL_FILES[0]} with a {TOKENIZER_FILE}:"
            " correct local_model in config.json."
        )
    else:
        return (
            f"There is no local model {model}: `hm model` lists them; local_model may"
            " also be the path of a folder."
        )
    has = {name: os.path.isfile(os.path.join(folder, name)) for name in MODEL_FILES}
    file = next((name for name in MODEL_FILES if has[name]), "")
    if not file or not os.path.isfile(os.path.join(folder, TOKENIZER_FILE)):
        return missing
    extra = (*(f"{file}{suffix}" for suffix in _DATA_SUFFIXES), *_SETTING_FILES)
    there = tuple(name for name in extra if os.path.isfile(os.path.join(folder, name)))
    return Weights(folder, file, (file, TOKENIZER_FILE, *there))


def describe_local_space(
    settings: EmbeddingSettings, models: str
) -> VectorSpace | None:
    """Return the space of the chosen model; its digest is empty until it is measured.

    None: there are no weights.
    """
    weights = find_weights(settings.local_model, models)
    if isinstance(weights, str):
        return None
    measured = read_measured(weights, models)
    known = find_model(settings.local_model)
    name = known.name if known else weights.folder
    used = read_model_settings(weights.folder)
    prefixes = choose_prefixes(
        os.path.basename(name),
        document=_first(settings.document_prefix, used.document_prefix),
        query=_first(settings.query_prefix, used.query_prefix),
    )
    return VectorSpace(
        provider=LOCAL.name,
        base_url=weights.folder,
        model=name,
        document_prefix=prefixes.document,
        query_prefix=prefixes.query,
        weights=measured.digest if measured else "",
    )


def why_no_space(settings: EmbeddingSettings, models: str) -> str:
    """Return why there is no space to ask, in one sentence; empty: there is one."""
    weights = find_weights(settings.local_model, models)
    if isinstance(weights, str):
        return weights
    if read_measured(weights, models) is None:
        return (
            f"The weights in {weights.folder} are new or have changed: `hm sync` reads"
            " them."
        )
    return ""


def read_model_settings(folder: str) -> ModelSettings:
    """Return what the files beside the weights say about using them.

    Those are the files of sentence-transformers, or ``model.json`` with ``pooling``,
    ``max_tokens``, ``document_prefix`` and ``query_prefix``, which wins.
    """
    own, pooling, bert, prompts = (
        _read_object(os.path.join(folder, name)) for name in _SETTING_FILES
    )
    named = next((name for key, name in _POOLINGS if pooling.get(key) is True), "mean")
    prefixes = prompts.get("prompts")
    prefixes = prefixes if isinstance(prefixes, dict) else {}
    document = own.get("document_prefix", prefixes.get("document"))
    query = own.get("query_prefix", prefixes.get("query"))
    tokens = own.get("max_tokens", bert.get("max_seq_length"))
    is_count = type(tokens) is int and 0 < tokens <= DEFAULT_MAX_TOKENS
    return ModelSettings(
        pooling=str(own.get("pooling", named)),
        max_tokens=int(str(tokens)) if is_count else DEFAULT_MAX_TOKENS,
        document_prefix=document if isinstance(document, str) else None,
        query_prefix=query if isinstance(query, str) else None,
    )


def read_measured(weights: Weights, models: str) -> Measured | None:
    """Return what is known of weights; None: nothing, or their files have changed."""
    entry = _read_object(os.path.join(models, _MEASURED_FILE)).get(weights.folder)
    if not isinstance(entry, dict) or entry.get("files") != _signatures(weights):
        return None
    digest, load_s = entry.get("digest"), entry.get("load_s")
    if not isinstance(digest, str) or not isinstance(load_s, int | float):
        return None
    return Measured(digest, float(load_s))


def record_measured(weights: Weights, models: str, measured: Measured) -> None:
    """Keep what was measured; a folder that cannot be written is no reason to stop."""
    from contextlib import suppress

    from hivemind_memory.files.atomic import write_file
    from hivemind_memory.files.descriptors import make_private_folder

    path = os.path.join(models, _MEASURED_FILE)
    entry = {"files": _signatures(weights), **measured._asdict()}
    known = {**_read_object(path), weights.folder: entry}
    with suppress(OSError):
        make_private_folder(models)
        write_file(path, json.dumps(known, indent=1).encode(), is_durable=False)


def digest_of(weights: Weights) -> str:
    """Return one digest of all files that shape a vector; reads all of them.

    Raises:
        OSError: One cannot be read.
    """
    import hashlib

    whole = hashlib.sha256()
    for name in weights.files:
        with open(
            os.path.join(weights.folder, name), "rb", opener=open_regular
        ) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        # The place does not matter: onnx/model.onnx may be copied beside the tokenizer.
        whole.update(f"{os.path.basename(name)} {digest}\n".encode())
    return whole.hexdigest()[:_DIGEST_CHARS]


def signature_text(weights: Weights) -> str:
    """Return a text that changes with the files of a model, without reading them."""
    return json.dumps(_signatures(weights))


def _signatures(weights: Weights) -> list[list[object]]:
    """Return what tells that files have changed: name, size, time and inode of each."""
    found: list[list[object]] = []
    for name in weights.files:
        try:
            status = os.stat(os.path.join(weights.folder, name))
        except OSError:
            return []
        found.append([name, status.st_size, status.st_mtime_ns, status.st_ino])
    return found


def _read_object(path: str) -> dict[str, object]:
    """Return the JSON object in a file; empty if there is none."""
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _first(one: str | None, other: str | None) -> str | None:
    """Return the first that is given."""
    return other if one is None else one
