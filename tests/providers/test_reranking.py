"""What every reranker does, and what the one of a local model does besides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest

from hivemind_memory.environment import system_clocks
from hivemind_memory.errors import RerankError, RerankNotReadyError
from hivemind_memory.model.ports import Reranker
from hivemind_memory.providers import local_host, local_reranker
from hivemind_memory.providers.http_reranker import HttpReranker
from hivemind_memory.providers.local_reranker import LocalReranker
from hivemind_memory.providers.reranking import CheckedReranker
from hivemind_memory.testing import FakeReranker
from tests.support.rerank_server import RerankServer
from tests.support.tiny_model import make_tiny_cross_encoder, make_tiny_model

TEXTS = [
    "the backup runs at night, zzz",
    "größer, Größe; 東京の天気; привет",
    "a\ud800lone surrogate and a \0",
    "",
    "the backup runs at night, zzz",
]


@pytest.fixture(autouse=True)
def no_models() -> Iterator[None]:
    """What one test loads or serves, the next one does not find."""
    yield
    local_host.stop_serving()
    local_reranker._loaded.clear()


def local(folder: Path) -> LocalReranker:
    return local_reranker.connect(str(folder), stopwatch=system_clocks().stopwatch)


def served(folder: Path) -> LocalReranker:
    """Return a reranker that another process serves."""
    reranker = local(folder)
    reranker.serve()
    local_reranker._loaded.clear()
    return reranker


@pytest.fixture(params=["loaded", "served", "http", "fake"])
def any_reranker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reranker]:
    if request.param == "http":
        with RerankServer() as server:
            clock = system_clocks().stopwatch
            one = HttpReranker(server.url, "m", "", timeout_s=1.8, stopwatch=clock)
            yield one
            one.close()
        return
    yield _other_reranker(request.param, tmp_path)


def _other_reranker(kind: str, tmp_path: Path) -> Reranker:
    """Return a reranker that is behind no server."""
    if kind == "fake":
        return FakeReranker()
    folder = make_tiny_cross_encoder(tmp_path / "tiny")
    if kind == "served":
        return served(folder)
    reranker = local(folder)
    reranker.serve()
    return reranker


def test_each_text_gets_a_score_in_order(any_reranker: Reranker) -> None:
    """Of whatever scale; the same text has the same score, whatever is beside it."""
    together = any_reranker.rerank("when is the backup", TEXTS, timeout_s=5)

    alone = [
        any_reranker.rerank("when is the backup", [text], timeout_s=5)[0]
        for text in TEXTS
    ]
    assert together == pytest.approx(alone)
    assert together[0] == together[-1] > together[1]
    assert any_reranker.rerank("when", [], timeout_s=5) == []


def test_without_time_there_is_no_score(any_reranker: Reranker) -> None:
    """No time left is no answer, not an endless wait."""
    with pytest.raises(RerankError):
        any_reranker.rerank("when", TEXTS, timeout_s=0)


def test_a_reranker_has_a_name(any_reranker: Reranker) -> None:
    """The explanation of a score shows it."""
    assert any_reranker.name.isprintable()
    assert 0 < len(any_reranker.name) <= 80


# -- the local model -------------------------------------------------------------


def test_a_search_never_loads_the_reranker(tmp_path: Path) -> None:
    """It would take longer than the answer."""
    reranker = local(make_tiny_cross_encoder(tmp_path / "tiny"))

    with pytest.raises(RerankNotReadyError, match="no running `hm watch` or agent"):
        reranker.rerank("when", TEXTS, timeout_s=5)

    assert local_reranker._loaded == {}


def test_without_a_model_the_option_is_named(tmp_path: Path) -> None:
    reranker = local(tmp_path / "nowhere")

    reranker.serve()

    with pytest.raises(RerankNotReadyError, match="local_rerank_model has to be"):
        reranker.rerank("when", TEXTS, timeout_s=5)
    assert local_host._hosts == {}


@pytest.mark.parametrize("damage", ["embeddings", "no model"])
def test_a_model_that_cannot_rerank_is_served_with_the_reason(
    tmp_path: Path, damage: str
) -> None:
    """Else the leader alone would know why nothing is reranked."""
    folder = make_tiny_model(tmp_path / "tiny")
    if damage == "no model":
        (folder / "model.onnx").write_bytes(b"no model")

    with pytest.raises(RerankError, match=r"cannot be used .* of a cross-encoder"):
        served(folder).rerank("when", TEXTS, timeout_s=5)


def test_changed_weights_are_another_reranker(tmp_path: Path) -> None:
    """The leader loads them when it next looks; until then nothing is reranked."""
    folder = make_tiny_cross_encoder(tmp_path / "tiny")
    reranker = served(folder)
    assert reranker.rerank("q", ["z", "y"], timeout_s=5) == pytest.approx([0.5, 0.0])

    make_tiny_cross_encoder(folder, liked="y")

    with pytest.raises(RerankNotReadyError):
        reranker.rerank("q", ["z", "y"], timeout_s=5)
    reranker.serve()
    assert reranker.rerank("q", ["z", "y"], timeout_s=5) == pytest.approx([0.0, 0.5])
    assert len(local_host._hosts) == 1


def test_a_slow_reranker_stops_between_two_texts(tmp_path: Path) -> None:
    """Here or in the leader: nobody reads the rest."""
    folder = make_tiny_cross_encoder(tmp_path / "tiny")
    ticks = count()
    slow = local_reranker.connect(str(folder), stopwatch=lambda: float(next(ticks)))
    slow.serve()

    with pytest.raises(RerankError, match="read 2 of 5 texts in time"):
        slow.rerank("when", TEXTS, timeout_s=2.5)
    local_reranker._loaded.clear()
    with pytest.raises(RerankError, match="read 2 of 5 texts in time"):
        local(folder).rerank("when", TEXTS, timeout_s=2.5)


# -- how a reranker is asked -----------------------------------------------------


class Broken(FakeReranker):
    """Answers with what a test wants."""

    def __init__(self, scores: Sequence[float]) -> None:
        super().__init__()
        self._scores = list(scores)

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_s: float
    ) -> list[float]:
        return self._scores


@pytest.mark.parametrize(
    "scores",
    [[], [1.0], [1.0, 2.0, 3.0], [1.0, float("nan")], [1.0, -1e300], [1e308, -1e308]],
)
def test_what_is_no_score_for_each_text_is_no_answer(scores: list[float]) -> None:
    with pytest.raises(RerankError):
        CheckedReranker(Broken(scores), lambda: 0.0).rerank(
            "q", ["a", "b"], timeout_s=1
        )


def test_a_reranker_is_sent_no_secret() -> None:
    """It may be on another machine."""
    fake = FakeReranker()
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    CheckedReranker(fake, lambda: 0.0).rerank("q", [f"use {secret}"], timeout_s=1)

    [text] = fake.texts
    assert text.startswith("use ")
    assert secret not in text


def test_a_failing_reranker_rests_for_a_minute() -> None:
    """No search waits for it meanwhile; one that is only not ready is asked again."""
    fake, now_s = FakeReranker(), 0.0
    reranker = CheckedReranker(fake, lambda: now_s)

    def ask() -> str:
        try:
            reranker.rerank("q", ["a"], timeout_s=1)
        except RerankError as error:
            return str(error)
        return ""

    fake.failure = RerankNotReadyError("not loaded")
    assert [ask() for _ in range(5)] == ["not loaded"] * 5
    fake.failure = RerankError("it broke")
    assert [ask() for _ in range(3)] == ["it broke"] * 3
    fake.failure = None
    assert ask() == "it broke; it is tried again in 60 s"
    now_s = 61.0
    assert ask() == ""
