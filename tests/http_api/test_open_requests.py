"""One token, and all visitors together, hold only a part of the connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from hivemind_memory.mcp_server.open_requests import OpenRequests
from tests.http_api.served import TIMEOUT_S, Served, add_token, save, serving

API, PAGES = "/api/v1/events", "/memory/events"
MOST = 50


@contextmanager
def held(
    served: Served, path: str, headers: dict[str, str], most: int
) -> Iterator[str]:
    """Hold as many streams as the server grants; yield why it refused the next."""
    with ExitStack() as streams:
        client = streams.enter_context(
            httpx.Client(
                trust_env=False,
                timeout=TIMEOUT_S,
                limits=httpx.Limits(max_connections=None),
            )
        )
        for number in range(most + 1):
            asked = client.stream("GET", served.url + path, headers=headers)
            answer = streams.enter_context(asked)
            if answer.status_code != 200:
                answer.read()
                assert (number, answer.status_code) == (most, 429)
                assert int(answer.headers["retry-after"]) > 0
                yield answer.text
                return
        raise AssertionError("all streams were granted")


@pytest.mark.parametrize("is_read_only", [True, False])
def test_a_token_with_many_streams_leaves_the_others_their_service(
    served: Served, is_read_only: bool
) -> None:
    """The next one is refused in a sentence; it still asks, and so do all others."""
    known = save("plan", "The shop opens at nine.", "project/shop")
    greedy = add_token("greedy", project="shop", is_read_only=is_read_only)
    other = add_token("other", project="shop")
    path = f"/api/v1/memories/{known}"
    headers = {"Authorization": f"Bearer {greedy}"}

    with held(served, API, headers, MOST) as said:
        assert "this token has 50 streams of events open" in said
        assert served.ask("GET", path, token=greedy).is_success
        assert served.ask("GET", path, token=other).is_success
        assert served.ask("GET", path).is_success
    for _ in range(2):  # what it closed counts no more
        with held(served, API, headers, MOST):
            pass


@pytest.mark.parametrize("path", [API, PAGES])
def test_visitors_with_many_streams_leave_the_others_their_service(
    home: Path, path: str
) -> None:
    """However many they are, they share one bound; with a token there is room."""
    assert home.is_dir()
    known = save("plan", "The shop opens at nine.")
    own = add_token("own")
    with serving("--public") as served, held(served, path, {}, MOST) as said:
        assert "visitors have 50 streams of events open" in said
        asked = f"/api/v1/memories/{known}"
        for token in (None, own, served.token):
            assert served.ask("GET", asked, token=token).is_success
        headers = {"Authorization": f"Bearer {own}"}
        with httpx.stream("GET", served.url + API, headers=headers) as stream:
            assert stream.status_code == 200


def test_requests_are_counted_until_they_end() -> None:
    """Streams take half of the requests; who has no bound is not counted."""
    counts = OpenRequests(most=4)

    def refused(names: list[str | None], *, is_stream: bool) -> list[bool]:
        with ExitStack() as stack:
            return [
                bool(stack.enter_context(counts.counted(one, is_stream=is_stream)))
                for one in names
            ]

    for _ in range(2):
        assert refused(["a"] * 5 + ["b"], is_stream=False) == [False] * 4 + [
            True,
            False,
        ]
        assert refused(["a"] * 3 + ["b"], is_stream=True) == [False] * 2 + [True, False]
        assert not any(refused([None] * 9, is_stream=True))
