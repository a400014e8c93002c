"""Reranks through a server: Jina, Cohere, text-embeddings-inference, llama.cpp, vLLM.

They all take ``POST …/rerank`` with a query and documents. Only
text-embeddings-inference calls the documents texts and answers with a bare list.
"""

from __future__ import annotations

import json
from http.client import HTTPException
from math import isfinite

from hivemind_memory.errors import RerankError, RerankNotReadyError
from hivemind_memory.providers.addresses import parse_address
from hivemind_memory.providers.json_connection import AnswerTooLongError, JsonConnection
from hivemind_memory.providers.remote import is_usable_address, run_within
from hivemind_memory.redaction import mask
from hivemind_memory.redaction.redact import without_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.config.settings import Settings

MAX_TEXT_CHARS = 4_000
"""Characters sent of one text; a model reads at most 512 tokens of it, some 8,192."""

_PATH = "/rerank"
_NO_SCORES = "did not give one score for each text"
_BY_TEXTS = (400, 422)
"""How a server says that a field is missing: it may be the one with the texts."""


def connect(settings: Settings, *, stopwatch: Callable[[], float]) -> HttpReranker:
    """Return a reranker; asks nothing yet."""
    return HttpReranker(
        settings.rerank_url,
        settings.rerank_model,
        settings.rerank_api_key,
        timeout_s=settings.rerank_timeout_s,
        stopwatch=stopwatch,
    )


class HttpReranker:
    """A ``Reranker`` over a server."""

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str,
        *,
        timeout_s: float,
        stopwatch: Callable[[], float],
    ) -> None:
        """Ask nothing yet.

        Args:
            url: Address, with or without ``/rerank`` at its end.
            model: Name; empty: the server has only one.
            api_key: The key; empty: it wants none.
            timeout_s: Seconds that it may take.
            stopwatch: Seconds on a clock that never goes back.
        """
        self._url = url
        self._model = model
        self._timeout_s = timeout_s
        self._stopwatch = stopwatch
        self._address = parse_address(url)
        self._is_key_usable = api_key.isascii() and api_key.isprintable()
        self._connection = JsonConnection(self._address, api_key)
        self._takes_texts = False

    @property
    def name(self) -> str:
        """The model and where it is."""
        return f"http {self._model} at {self._address.place}".replace("  ", " ")[:80]

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_s: float
    ) -> list[float]:
        """Return one score for each text; see the port."""
        if not self._url:
            raise RerankNotReadyError(
                "rerank_url is empty: `hm config set rerank_url URL`"
            )
        if not is_usable_address(self._url, self._address) or not self._is_key_usable:
            raise RerankNotReadyError("rerank_url or rerank_api_key cannot be used")
        if not texts:
            return []
        limit_s = min(timeout_s, self._timeout_s)
        if limit_s <= 0:
            raise RerankError("there was no time left")
        # The index has the texts masked; the vault may have got a value since.
        cut = [_cut(mask(query)), *(_cut(without_known(text)) for text in texts)]
        end_s = self._stopwatch() + limit_s
        try:
            status, body = run_within(limit_s, lambda: self._ask(cut, end_s))
        except TimeoutError:
            message = f"{self._who} did not answer within {limit_s:.1f} s"
            raise RerankError(message) from None
        except AnswerTooLongError:
            raise RerankError(f"{self._who} {_NO_SCORES}") from None
        except (OSError, HTTPException, ValueError):
            # From None: what is said there may hold the key or a text.
            raise RerankError(f"{self._who} cannot be reached") from None
        if not 200 <= status < 300:
            what = refusal_text(status, key="rerank_api_key", place="rerank_url")
            raise RerankError(f"{self._who} {what}")
        scores = _read_scores(body, count=len(texts))
        if scores is None:
            raise RerankError(f"{self._who} {_NO_SCORES}")
        return scores

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    @property
    def _who(self) -> str:
        """The server in a sentence."""
        return f"the reranker at {self._address.place}"

    def _ask(self, cut: Sequence[str], end_s: float) -> tuple[int, bytes]:
        """Return status and body; ask again if the server calls documents texts."""
        status, body = self._post(cut, end_s)
        if status in _BY_TEXTS and not self._takes_texts and b"texts" in body:
            self._takes_texts = True
            return self._post(cut, end_s)
        return status, body

    def _post(self, cut: Sequence[str], end_s: float) -> tuple[int, bytes]:
        """Send one request; return status and body."""
        query, *texts = cut
        asked: dict[str, object] = {"query": query}
        if self._takes_texts:
            asked |= {"texts": texts, "truncate": True}
        else:
            asked |= {"documents": texts, "top_n": len(texts)}
        if self._model:
            asked["model"] = self._model
        path = self._address.path
        path += "" if path.endswith(_PATH) else _PATH
        left_s = end_s - self._stopwatch()
        if left_s <= 0:
            raise TimeoutError
        status, _, body = self._connection.post(path, asked, left_s)
        return status, body


def _read_scores(body: bytes, *, count: int) -> list[float] | None:
    """Return the scores in the order of the texts; None: not one for each."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    rows = answer.get("results") if isinstance(answer, dict) else answer
    return scores_of(rows, count=count)


def scores_of(rows: object, *, count: int) -> list[float] | None:
    """Return the scores of some rows in the order of the texts.

    None: there is not exactly one for each text; then none counts.
    """
    scores: dict[int, float] = {}
    for row in rows if isinstance(rows, list) else ():
        found = _score_in(row)
        if found is None or found[0] in scores:
            return None
        scores[found[0]] = found[1]
    return (
        [scores[at] for at in range(count)] if set(scores) == {*range(count)} else None
    )


def _score_in(row: object) -> tuple[int, float] | None:
    """Return index and score of a row; None: it lacks one."""
    if not isinstance(row, dict):
        return None
    index, score = row.get("index"), row.get("relevance_score", row.get("score"))
    if type(index) is not int or isinstance(score, bool):
        return None
    if not isinstance(score, int | float):
        return None
    try:
        number = float(score)
    except OverflowError:
        return None
    return (index, number) if isfinite(number) else None


def _cut(text: str) -> str:
    """Return what is sent of a text."""
    return text[:MAX_TEXT_CHARS].encode("utf-8", "replace").decode()


def refusal_text(status: int, *, key: str, place: str) -> str:
    """Return what a status means, as the end of a sentence.

    Args:
        status: HTTP status.
        key: Name of the option with the key.
        place: Name of the option with the address.
    """
    if status in (401, 403):
        return f"did not accept the key ({status}): check {key}"
    if status == 404:
        model = place.replace("base_url", "model").replace("url", "model")
        return f"has nothing at that address (404): check {place} and {model}"
    if status == 429:
        return "received too many requests (429)"
    if 300 <= status < 400:
        return f"points to another address ({status}): check {place}"
    return f"answered with an error ({status})"
