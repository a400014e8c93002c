"""A model for embeddings that is made on the spot: 20 kB, and no meaning in it.

Each byte of a text has a vector of its own; the vector of a text is their mean. The
ONNX file is written by hand, field by field as in ``onnx.proto``, for the library that
writes such files is needed nowhere else.
"""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

from hivemind_memory.config.resolve import load_settings
from hivemind_memory.environment import system_clocks
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.providers.provider import Provider

FLOAT, INT64 = 1, 7
DIMS = 24


def make_tiny_model(folder: Path, *, seed: int = 7, dims: int = DIMS) -> Path:
    """Write ``model.onnx`` and ``tokenizer.json`` into a folder; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(
        models.BPE({letter: number for number, letter in enumerate(letters)}, [])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    chance = random.Random(seed)
    table = [chance.gauss(0, 1) for _ in range(len(letters) * dims)]
    (folder / "model.onnx").write_bytes(_model(table, len(letters), dims))
    return folder


def use_pooling(folder: Path, pooling: str) -> None:
    """Say in a model's folder how the vectors of tokens become one."""
    (folder / "model.json").write_text(json.dumps({"pooling": pooling}))


def local_provider(home: Path, model: object, **flags: object) -> Provider:
    """Return the provider of a home that has chosen a local model."""
    named = {"embedding_provider": "local", "local_model": str(model), **flags}
    return Provider(
        load_settings(str(home), {}, named),
        str(home / "models"),
        stopwatch=system_clocks().stopwatch,
        sleep=lambda _: None,
    )


def ready_space(provider: Provider) -> VectorSpace:
    """Return the space of a provider after what a sync does first."""
    assert provider.prepare() == ""
    space = provider.space()
    assert space is not None
    return space


def _model(table: list[float], rows: int, dims: int) -> bytes:
    """Return a model that looks the vector of each token up in a table."""
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "last_hidden_state")
    graph = (
        _bytes(1, node + _text(4, "Gather"))
        + _text(2, "tiny")
        + _bytes(5, _tensor("table", table, (rows, dims)))
        + _bytes(11, _value("input_ids", INT64, ("batch", "tokens")))
        + _bytes(11, _value("attention_mask", INT64, ("batch", "tokens")))
        + _bytes(12, _value("last_hidden_state", FLOAT, ("batch", "tokens", dims)))
    )
    opset = _number(2, 17)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, opset)


def _tensor(name: str, values: list[float], shape: tuple[int, ...]) -> bytes:
    dims = b"".join(_number(1, size) for size in shape)
    raw = struct.pack(f"<{len(values)}f", *values)
    return dims + _number(2, FLOAT) + _text(8, name) + _bytes(9, raw)


def _value(name: str, kind: int, shape: tuple[str | int, ...]) -> bytes:
    sizes = b"".join(
        _bytes(1, _text(2, size) if isinstance(size, str) else _number(1, size))
        for size in shape
    )
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])
