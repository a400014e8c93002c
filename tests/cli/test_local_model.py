"""A model that runs on this machine, from its download to an answer."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hivemind_memory.cli.commands import init
from hivemind_memory.providers import local_catalog
from hivemind_memory.providers.local_catalog import LocalModel, ModelFile
from tests.cli.conftest import Hm
from tests.support.tiny_model import make_tiny_model

NAME = "multilingual-e5-small"


class ModelServer:
    """Serves the files of one model, as huggingface.co does, or breaks off."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ranges: list[str] = []
        self.status = 0
        self.breaks_at = 0
        handler = partial(_Handler, self)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)  # type: ignore[arg-type]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, served: ModelServer, *args: object) -> None:
        self.served = served
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        served = self.served
        name = self.path.rpartition("/")[2].replace("model_quantized", "model")
        if served.status or "/resolve/r1/" not in self.path:
            return self.send_error(served.status or 404)
        data = (served.folder / name).read_bytes()
        asked = self.headers.get("Range", "")
        served.ranges.append(asked)
        first = int(asked.removeprefix("bytes=").rstrip("-") or 0)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        end = served.breaks_at or len(data)
        self.wfile.write(data[first:end])
        return None

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server with a tiny model, which is the one model that is known."""
    served = ModelServer(make_tiny_model(tmp_path / "served"))

    def file(source: str, name: str) -> ModelFile:
        data = (served.folder / name).read_bytes()
        return ModelFile(source, name, len(data), hashlib.sha256(data).hexdigest())

    model = LocalModel(
        name=NAME,
        repository="someone/tiny",
        revision="r1",
        files=(
            file("tokenizer.json", "tokenizer.json"),
            file("onnx/model_quantized.onnx", "model.onnx"),
        ),
        about="tiny",
        license="MIT",
        pooling="cls",
    )
    monkeypatch.setattr(local_catalog, "MODELS", (model,))
    monkeypatch.setenv("HF_ENDPOINT", served.url)
    yield served
    served.close()


@pytest.fixture
def local(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notes of a home in which the local model is chosen."""
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "local")
    return notes


def test_a_chosen_model_that_is_not_here_is_named_everywhere_and_words_answer(
    local: Path, hm: Hm, server: ModelServer
) -> None:
    """One sentence with its remedy; and a search downloads nothing."""
    remedy = f"`hm model fetch {NAME}` downloads it"

    report = json.loads(hm("search", "--json", "deploy").out)["report"]

    assert (report["mode"], report["confidence"]) == ("keyword", "strong")
    assert remedy in report["reason"]
    status = json.loads(hm("status", "--json").out)
    assert (status["provider"], remedy in status["provider_reason"]) == ("none", True)
    doctor = hm("doctor")
    assert doctor.code == 1
    assert remedy in doctor.out
    assert remedy in hm("sync").err
    assert server.ranges == []


def test_a_fetched_model_answers(
    local: Path, home: Path, hm: Hm, server: ModelServer
) -> None:
    """From nothing to a hybrid answer, with what is said on the way."""
    assert hm("model").out.startswith(f"{NAME}\t")
    assert "chosen, not fetched" in hm("model").out
    assert hm("model", "fetch").code == 1, "without a terminal it asks for --yes"
    assert server.ranges == []

    fetched = hm("model", "fetch", "--yes")

    assert fetched.code == 0
    assert f"fetched {NAME}: {home}/models/{NAME}" in fetched.out
    assert "`hm sync`" in fetched.err
    assert "\tused\t" in hm("model").out
    assert (home / "models" / NAME / "model.onnx").stat().st_mode & 0o077 == 0
    assert "texts embedded" in hm("sync").out
    report = json.loads(hm("search", "--json", "deploy").out)["report"]
    assert (report["mode"], report["pending_vectors"]) == ("hybrid", 0)
    status = json.loads(hm("status", "--json").out)
    assert status["provider"] == f"local {NAME}"
    assert "It answers." in hm("doctor").out
    assert "is here already" in hm("model", "fetch", "--yes").out
    assert len(server.ranges) == 2


def test_a_download_that_was_broken_off_goes_on(
    local: Path, home: Path, hm: Hm, server: ModelServer
) -> None:
    """And a file that is another one is removed, not used."""
    server.breaks_at = 1_000
    broken = hm("model", "fetch", "--yes")
    assert (broken.code, "resumes where it stopped" in broken.err) == (1, True)
    server.breaks_at = 0

    assert hm("model", "fetch", "--yes").code == 0

    assert server.ranges == ["", "bytes=1000-", ""]
    folder = home / "models" / NAME
    assert not [*folder.glob("*.part")]
    (folder / "model.onnx").unlink()
    data = (server.folder / "model.onnx").read_bytes()
    (server.folder / "model.onnx").write_bytes(data[:-1] + b"?")
    wrong = hm("model", "fetch", "--yes")
    assert (wrong.code, "is not the file it should be" in wrong.err) == (1, True)
    assert not [*folder.glob("model.onnx*")]


@pytest.mark.parametrize("status", [404, 503])
def test_a_server_that_refuses_is_named(
    local: Path, hm: Hm, server: ModelServer, status: int
) -> None:
    server.status = status

    refused = hm("model", "fetch", "--yes")

    assert refused.code == 1
    assert f"answers {status}" in refused.err


def test_offline_the_remedy_is_a_folder(
    local: Path, hm: Hm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    offline = hm("model", "fetch", "--yes")

    assert offline.code == 1
    assert "cannot be reached" in offline.err
    assert "set local_model to its path" in offline.err


def test_init_offers_the_model_and_uses_it_once_a_person_agrees(
    home: Path, hm: Hm, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is downloaded and nothing chosen by a no."""
    monkeypatch.delenv("HIVEMIND_EMBEDDING_PROVIDER")
    monkeypatch.setenv("HIVEMIND_OLLAMA_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(init, "is_terminal", lambda stream: True)
    monkeypatch.setattr("hivemind_memory.cli.confirm.is_terminal", lambda stream: True)
    monkeypatch.setattr(init, "_offer_connect", lambda request: 0)

    refused = hm("init", stdin=b"n\n")
    assert f"Download {NAME}" in " ".join(refused.err.split())
    assert server.ranges == []
    agreed = hm("init", stdin=b"y\n")

    assert "`hm sync`" in agreed.err
    assert len(server.ranges) == 2
    options = json.loads((home / "config.json").read_text())["memory"]
    assert options["embedding_provider"] == "local"
    assert "Download" not in hm("init", stdin=b"").err
