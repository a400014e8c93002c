"""The local model: found, measured, loaded, shared; with a model made on the spot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.config import options
from hivemind_memory.errors import (
    EmbeddingInvalidError,
    EmbeddingNotReadyError,
    EmbeddingRefusedError,
)
from hivemind_memory.model.embedding_providers import LOCAL
from hivemind_memory.providers import choose, local_host, local_model, provider
from hivemind_memory.providers.local_catalog import MODELS, find_model
from hivemind_memory.providers.local_embedder import LocalEmbedder
from hivemind_memory.providers.local_weights import (
    find_weights,
    read_measured,
    record_measured,
)
from hivemind_memory.providers.provider import Provider
from hivemind_memory.providers.vectors import unpack
from tests.support.tiny_model import (
    DIMS,
    local_provider,
    make_tiny_model,
    ready_space,
    use_pooling,
)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return make_tiny_model(tmp_path / "tiny")


def embedder_of(provider: Provider) -> LocalEmbedder:
    embedder = provider.connect(ready_space(provider))
    assert isinstance(embedder, LocalEmbedder)
    return embedder


def slow_to_load(provider: Provider, tiny: Path, tmp_path: Path) -> LocalEmbedder:
    """Return an embedder of weights that another process took ten seconds to load."""
    embedder = embedder_of(provider)
    models = str(tmp_path / "models")
    weights = find_weights(str(tiny), models)
    assert not isinstance(weights, str)
    measured = read_measured(weights, models)
    assert measured is not None
    record_measured(weights, models, measured._replace(load_s=10.0))
    local_model._models.clear()
    return embedder


def test_the_names_and_the_default_are_those_of_the_tables() -> None:
    """Each is written where it must be cheap to read."""
    assert LOCAL.name == provider.LOCAL
    assert options()["local_model"].default == MODELS[0].name
    assert find_model("ALL-minilm-l6-V2") is MODELS[-1]
    for model in MODELS:
        assert [file.name for file in model.files] == ["tokenizer.json", "model.onnx"]
        assert all(len(file.sha256) == 64 for file in model.files)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("multilingual-e5-small", "`hm model fetch multilingual-e5-small`"),
        ("multilingual-e6", "There is no local model multilingual-e6: `hm model`"),
        ("/nowhere/at/all", "no model.onnx with a tokenizer.json"),
    ],
)
def test_missing_weights_are_named_with_a_remedy(
    tmp_path: Path, model: str, said: str
) -> None:
    """And nothing is downloaded by asking."""
    absent = local_provider(tmp_path, model)

    assert said in absent.choice().reason
    assert absent.choice().provider == "none"
    assert absent.why_none_is_named() == absent.choice().reason
    assert absent.prepare() == ""
    assert not (tmp_path / "models").exists()


def test_without_the_packages_the_remedy_is_to_install_them(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = ("onnxruntime", "tokenizers")
    monkeypatch.setattr(choose, "find_missing_packages", lambda name: missing)

    reason = local_provider(tmp_path, tiny).choice().reason

    assert "pip install onnxruntime tokenizers`" in reason


def test_auto_never_chooses_a_local_model(tmp_path: Path, tiny: Path) -> None:
    """Weights that happen to be there are not a choice."""
    flags = {"embedding_provider": "auto", "ollama_url": "http://127.0.0.1:9"}

    assert local_provider(tmp_path, tiny, **flags).choice().provider == "none"


def test_new_weights_are_read_by_a_sync_and_not_by_a_search(
    tmp_path: Path, tiny: Path
) -> None:
    """Two gigabytes take seconds to read; a search compares signatures."""
    local = local_provider(tmp_path, tiny)
    assert "`hm sync` reads them" in local.choice().reason

    space = ready_space(local)

    assert local.choice().provider == "local"
    assert space.fingerprint.startswith("local/tiny#")
    assert space.weights


def test_changed_weights_are_a_new_space_and_moved_ones_are_not(
    tmp_path: Path, tiny: Path
) -> None:
    """The digest of the files names the space, not the place where they are."""
    local = local_provider(tmp_path, tiny)
    before = ready_space(local)
    moved = shutil.copytree(tiny, tmp_path / "elsewhere/tiny")
    assert (
        ready_space(local_provider(tmp_path, moved)).fingerprint == before.fingerprint
    )

    make_tiny_model(tiny, seed=8)

    assert local.choice().provider == "none"
    after = ready_space(local)
    assert after.fingerprint != before.fingerprint
    with pytest.raises(EmbeddingNotReadyError, match="are gone"):
        local.connect(before).embed_query("when", timeout_s=5)
    use_pooling(tiny, "cls")
    assert ready_space(local).fingerprint != after.fingerprint


def test_pooling_is_as_the_folder_says(tmp_path: Path, tiny: Path) -> None:
    """The same weights; the first token, the last one, or the mean of all."""
    found = {}
    for pooling in ("mean", "cls", "last"):
        use_pooling(tiny, pooling)
        [vector] = embedder_of(local_provider(tmp_path, tiny)).embed_documents(["ab"])
        found[pooling] = unpack(vector)
    [first], [last] = (
        embedder_of(local_provider(tmp_path, tiny)).embed_documents([letter])
        for letter in "ab"
    )

    assert found["cls"] == unpack(first)
    assert found["last"] == unpack(last)
    assert len(set(found.values())) == 3


def test_prefixes_are_those_that_the_model_wants(tmp_path: Path) -> None:
    """E5 finds less without; the folder or the options may say others."""
    folder = make_tiny_model(tmp_path / "multilingual-e5-tiny")
    space = ready_space(local_provider(tmp_path, folder))
    assert (space.document_prefix, space.query_prefix) == ("passage: ", "query: ")

    (folder / "model.json").write_text(json.dumps({"query_prefix": "ask: "}))
    space = ready_space(local_provider(tmp_path, folder))
    assert (space.document_prefix, space.query_prefix) == ("passage: ", "ask: ")

    space = ready_space(local_provider(tmp_path, folder, query_prefix=""))
    assert (space.document_prefix, space.query_prefix) == ("passage: ", "")


def test_a_long_text_is_cut_where_the_model_ends(tmp_path: Path, tiny: Path) -> None:
    embedder = embedder_of(local_provider(tmp_path, tiny))

    long, longer = embedder.embed_documents(["x" * 512, "x" * 512 + "y" * 9_000])

    assert long == longer


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_files_that_hold_no_model_are_refused_with_a_remedy(
    tmp_path: Path, tiny: Path, damaged: str
) -> None:
    (tiny / damaged).write_bytes(b"no model")

    problem = local_provider(tmp_path, tiny).prepare()

    assert str(tiny) in problem
    assert "`hm model fetch` downloads one" in problem


def test_another_number_of_dimensions_is_not_mixed_in(
    tmp_path: Path, tiny: Path
) -> None:
    local = local_provider(tmp_path, tiny)
    embedder = local.connect(ready_space(local), dims=DIMS + 1)

    with pytest.raises(EmbeddingInvalidError):
        embedder.embed_documents(["text"])


def test_a_search_that_begins_does_not_wait_for_a_slow_model(
    tmp_path: Path, tiny: Path
) -> None:
    """It answers by words, says why, and the provider is not blamed."""
    embedder = slow_to_load(local_provider(tmp_path, tiny), tiny, tmp_path)

    with pytest.raises(EmbeddingNotReadyError, match=r"10\.3 s to load") as caught:
        embedder.embed_query("when", timeout_s=1.8)

    assert not caught.value.is_failure
    assert local_model._models == {}


def test_the_leader_answers_for_a_process_that_has_not_loaded_the_model(
    tmp_path: Path, tiny: Path
) -> None:
    """One loaded model serves all processes of the user."""
    local = local_provider(tmp_path, tiny)
    expected = embedder_of(local).embed_query("when", timeout_s=5)
    served = embedder_of(local).load()
    embedder = slow_to_load(local, tiny, tmp_path)
    local_host.serve(embedder.fingerprint, served.embed)
    try:
        assert local_host.is_serving(embedder.fingerprint)
        assert embedder.embed_query("when", timeout_s=1.8) == expected
        assert local_host.ask_host("local/other", "when", timeout_s=1) == b""
    finally:
        local_host.stop_serving()

    with pytest.raises(EmbeddingNotReadyError):
        embedder.embed_query("when", timeout_s=1.8)


def test_a_host_that_fails_is_no_answer(tmp_path: Path) -> None:
    """The process that asked goes on by itself."""

    def fail(text: str) -> bytes:
        raise EmbeddingRefusedError(text)

    local_host.serve("local/failing", fail)
    try:
        assert local_host.ask_host("local/failing", "when", timeout_s=1) == b""
    finally:
        local_host.stop_serving()


def test_nothing_heavy_is_imported_before_a_vector_is_computed(
    tmp_path: Path, tiny: Path
) -> None:
    """onnxruntime and numpy take 0.2 s, the weights a second."""
    local = local_provider(tmp_path, tiny)
    ready_space(local)
    words = f"""
import sys
from hivemind_memory.config.resolve import load_settings
from hivemind_memory.providers.provider import Provider
flags = {{"embedding_provider": "local", "local_model": {str(tiny)!r}}}
settings = load_settings({str(tmp_path)!r}, {{}}, flags)
local = Provider(
    settings, {str(tmp_path / "models")!r}, stopwatch=lambda: 0.0, sleep=lambda _: None
)
local.connect(local.space())
print(sorted({{"onnxruntime", "tokenizers", "numpy"}} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_threads_are_bounded() -> None:
    """Half of the processors: embedding must leave room for the person's own work."""
    count = local_model.thread_count()

    assert 1 <= count <= max(1, (os.cpu_count() or 1) // 2)
