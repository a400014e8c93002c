"""The local models that are known by name: where their files are, and their digests.

Each file is of one fixed revision, so that a name always means the same vectors, and a
file that was changed or broken on the way is noticed. Imports nothing slow.
"""

from __future__ import annotations

from typing import NamedTuple


class ModelFile(NamedTuple):
    """One file to fetch."""

    source: str
    """Its path in the repository."""

    name: str
    """Its name in the folder of the model."""

    size_bytes: int
    sha256: str


class LocalModel(NamedTuple):
    """A model that is known by name."""

    name: str
    repository: str
    """On huggingface.co, or a mirror of it."""

    revision: str
    files: tuple[ModelFile, ...]
    about: str
    """What distinguishes it, in a few words."""

    license: str
    pooling: str = "mean"
    """How the vectors of the tokens become one: ``mean``, ``cls`` or ``last``."""

    max_tokens: int = 512
    """Tokens of a text that are read; the rest of it is cut off."""

    @property
    def size_bytes(self) -> int:
        """Size of all files."""
        return sum(file.size_bytes for file in self.files)


def _files(
    size_bytes: int, sha256: str, tokenizer_bytes: int, tokenizer_sha256: str
) -> tuple[ModelFile, ...]:
    """Return the two files of a model: 8-bit weights, and how a text is cut."""
    return (
        ModelFile(
            "tokenizer.json", "tokenizer.json", tokenizer_bytes, tokenizer_sha256
        ),
        ModelFile("onnx/model_quantized.onnx", "model.onnx", size_bytes, sha256),
    )


MODELS = (
    # The default of the option local_model comes first; a test compares them.
    LocalModel(
        name="multilingual-e5-small",
        repository="Xenova/multilingual-e5-small",
        revision="761b726dd34fb83930e26aab4e9ac3899aa1fa78",
        files=_files(
            118_308_185,
            "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
            17_082_730,
            "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
        ),
        about="about 100 languages; the default",
        license="MIT",
    ),
    LocalModel(
        name="multilingual-e5-base",
        repository="Xenova/multilingual-e5-base",
        revision="1ec9243030a27d1a115d5c340572074c125b58b2",
        files=_files(
            278_647_662,
            "df7a9a29309e3ad491e1783adf8baee710262cc06079c7cbab63c630277fac94",
            17_082_660,
            "62c24cdc13d4c9952d63718d6c9fa4c287974249e16b7ade6d5a85e7bbb75626",
        ),
        about="about 100 languages; larger, slower",
        license="MIT",
    ),
    LocalModel(
        name="bge-m3",
        repository="Xenova/bge-m3",
        revision="4de13258303883538bd53b696b452bf8099f0858",
        files=_files(
            569_694_530,
            "0826f8c1ab9edf1801db86c61919d4d108e8bfc0b809ec823ad366882ff0b77d",
            17_082_821,
            "6710678b12670bc442b99edc952c4d996ae309a7020c1fa0096dd245c2faf790",
        ),
        about="about 100 languages; the largest, the slowest",
        license="MIT",
        pooling="cls",
    ),
    LocalModel(
        name="all-MiniLM-L6-v2",
        repository="Xenova/all-MiniLM-L6-v2",
        revision="751bff37182d3f1213fa05d7196b954e230abad9",
        files=_files(
            22_972_370,
            "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
            711_661,
            "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
        ),
        about="English only; the smallest",
        license="Apache-2.0",
        max_tokens=256,
    ),
)


def find_model(name: str) -> LocalModel | None:
    """Return the model of a name, in any case; None: none has it."""
    folded = name.strip().lower()
    return next((model for model in MODELS if model.name.lower() == folded), None)
