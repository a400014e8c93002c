"""Models that are made on the spot: 20 kB, and no meaning in them.

Each byte of a text has a vector of its own; the vector of a text is their mean. To the
cross-encoder, a text answers the better the more of it is the letter z.
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
from tests.support import onnx_file

DIMS = 24


def make_tiny_model(folder: Path, *, seed: int = 7, dims: int = DIMS) -> Path:
    """Write ``model.onnx`` and ``tokenizer.json`` into a folder; return it."""
    letters = _write_tokenizer(folder)
    chance = random.Random(seed)
    table = [chance.gauss(0, 1) for _ in range(len(letters) * dims)]
    shape = ("batch", "tokens")
    data = onnx_file.model(
        nodes=[onnx_file.node("Gather", ["table", "input_ids"], "last_hidden_state")],
        constants=[
            onnx_file.floats(
                "table", struct.pack(f"<{len(table)}f", *table), (len(letters), dims)
            )
        ],
        inputs=[
            onnx_file.value("input_ids", onnx_file.INT64, shape),
            onnx_file.value("attention_mask", onnx_file.INT64, shape),
        ],
        outputs=[onnx_file.value("last_hidden_state", onnx_file.FLOAT, (*shape, dims))],
    )
    (folder / "model.onnx").write_bytes(data)
    return folder


def make_tiny_cross_encoder(folder: Path, *, liked: str = "z") -> Path:
    """Write a model that gives one number for two texts into a folder; return it."""
    letters = _write_tokenizer(folder)
    table = [float(letter == liked) for letter in letters]
    shape = ("batch", "tokens")
    data = onnx_file.model(
        nodes=[
            onnx_file.node("Gather", ["table", "input_ids"], "marks"),
            onnx_file.node("ReduceMean", ["marks"], "logits", axes=[1], keepdims=0),
        ],
        constants=[
            onnx_file.floats(
                "table", struct.pack(f"<{len(table)}f", *table), (len(table), 1)
            )
        ],
        inputs=[
            onnx_file.value(name, onnx_file.INT64, shape)
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        outputs=[onnx_file.value("logits", onnx_file.FLOAT, ("batch", 1))],
    )
    (folder / "model.onnx").write_bytes(data)
    return folder


def _write_tokenizer(folder: Path) -> list[str]:
    """Write ``tokenizer.json``, which cuts into bytes; return its tokens in order."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(
        models.BPE({letter: number for number, letter in enumerate(letters)}, [])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    return letters


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
