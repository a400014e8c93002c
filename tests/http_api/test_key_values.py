"""The routes of the key-value store, over a real server."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.http_api.served import Served, add_token
from tests.support.waiting import wait_until

TOKEN = "glpat-Zx81kQwErTyUiOpAsDfG"


def ask(served: Served, method: str, path: str, **more: Any) -> tuple[int, Any]:
    """Return status and JSON of an answer about the workspace ``web``."""
    answer = served.ask(method, f"/workspaces/web/memory{path}", **more)
    return answer.status_code, answer.json()


def put(served: Served, key: str, value: object, **more: object) -> tuple[int, Any]:
    """Set a key."""
    return ask(served, "POST", "", json={"key": key, "value": value, **more})


def test_each_route_answers_as_documented(served: Served) -> None:
    """The table of exact replies: status and body of every case."""
    missing = (404, {"error": "key not found"})

    def mismatch(expected: int, current: int) -> tuple[int, object]:
        return 409, {
            "error": "if_match_version mismatch",
            "expected_version": expected,
            "current_version": current,
        }

    assert ask(served, "GET", "") == (200, [])
    assert ask(served, "GET", "/a") == missing
    assert ask(served, "DELETE", "/a") == missing
    assert put(served, "a", 1, if_match_version=3) == missing
    assert put(served, "a", {"n": [1, None]}, if_match_version=0) == (
        200,
        {"status": "ok", "key": "a", "version": 1},
    )
    assert put(served, "a", 1, if_match_version=0) == mismatch(0, 1)
    assert put(served, "a", "x", if_match_version=1)[1]["version"] == 2
    assert put(served, "a", "y", if_match_version=1) == mismatch(1, 2)
    status, row = ask(served, "GET", "/a")
    assert (status, row["value"], row["version"]) == (200, "x", 2)
    assert row["expires_at"] is None
    assert row["updated_at"].endswith("Z")
    assert ask(served, "DELETE", "/a") == (200, {"status": "deleted"})
    assert ask(served, "DELETE", "/a") == missing
    assert put(served, "a", 1, if_match_version=2) == missing
    assert put(served, "a", 1, if_match_version=0)[1]["version"] == 3
    assert put(served, "deploy/last run", True)[0] == 200
    for path in ("/deploy/last%20run", "/deploy%2Flast%20run"):
        assert ask(served, "GET", path)[1]["value"] is True
    assert [one["key"] for one in ask(served, "GET", "")[1]] == ["a", "deploy/last run"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"value": 1}, "key: is required"),
        ({"key": "a"}, "value: is required"),
        ({"key": "", "value": 1}, "key: "),
        ({"key": "k" * 257, "value": 1}, "key: "),
        ({"key": "a\nb", "value": 1}, "A key has 1 to 256 characters"),
        ({"key": 5, "value": 1}, "key: "),
        ({"key": "a", "value": 1, "ttl_seconds": 0}, "ttl_seconds: "),
        ({"key": "a", "value": 1, "ttl_seconds": 315_360_001}, "ttl_seconds: "),
        ({"key": "a", "value": 1, "ttl_seconds": "9"}, "ttl_seconds: "),
        ({"key": "a", "value": 1, "ttl_seconds": 1.5}, "ttl_seconds: "),
        ({"key": "a", "value": 1, "if_match_version": -1}, "if_match_version: "),
        ({"key": "a", "value": 1, "if_match_version": True}, "if_match_version: "),
        ({"key": "a", "value": 1, "ttl": 5}, "ttl: unknown field"),
        ({"key": "a", "value": "x" * 262_143}, "The value has 262,145 bytes"),
        ([], "body: must be an object"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    served: Served, body: object, error: str
) -> None:
    """With a sentence, and 400."""
    answer = served.ask("POST", "/workspaces/web/memory", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(error)
    assert ask(served, "GET", "") == (200, [])


@pytest.mark.parametrize("body", ["", "{", '{"key": "a", "value": NaN}', "[" * 5_000])
def test_what_is_no_json_is_refused(served: Served, body: str) -> None:
    """Before anything is looked at."""
    answer = served.ask("POST", "/workspaces/web/memory", content=body.encode())

    assert answer.status_code == 400
    assert ask(served, "GET", "") == (200, [])


def test_the_token_decides_whose_keys_they_are(served: Served) -> None:
    """A path that names another workspace finds nothing, and writes nothing."""
    own, other = add_token("own", workspace="web"), add_token("api", workspace="api")
    reads = add_token("reads", workspace="web", is_read_only=True)
    free = add_token("free")
    assert put(served, "a", 1)[0] == 200

    for token in (own, reads):
        assert ask(served, "GET", "/a", token=token)[1]["value"] == 1
    body = {"key": "b", "value": 2}
    assert ask(served, "POST", "", token=own, json=body)[0] == 200
    for method, path, more in (("POST", "", {"json": body}), ("DELETE", "/a", {})):
        assert ask(served, method, path, token=reads, **more) == (
            403,
            {"error": "this token only reads"},
        )
        for token in (other, free):
            assert ask(served, method, path, token=token, **more) == (
                404,
                {"error": "workspace not found"},
            )
    for token in (other, free):
        assert ask(served, "GET", "", token=token) == (200, [])
        assert ask(served, "GET", "/a", token=token)[0] == 404
    assert ask(served, "GET", "", token=None)[0] == 401


def test_a_list_shows_no_secret(served: Served) -> None:
    """The key alone gives what was put there: a program needs it as it is."""
    value = {"token": TOKEN, "user": "bo", "n": 5}
    put(served, "login", value)

    listed = served.ask("GET", "/workspaces/web/memory").text
    assert TOKEN not in listed
    assert json.loads(listed)[0]["value"]["user"] == "bo"
    assert ask(served, "GET", "/login")[1]["value"] == value


def test_a_key_is_gone_when_its_time_is_over(served: Served) -> None:
    """By the server's clock; it may be written again, with the next version."""
    put(served, "lock", "me", ttl_seconds=1)
    row = ask(served, "GET", "/lock")[1]
    assert row["expires_at"] > row["updated_at"]

    wait_until(lambda: ask(served, "GET", "/lock")[0] == 404)

    assert put(served, "lock", "you", if_match_version=0)[1]["version"] == 2


def test_what_was_answered_outlives_a_killed_server(served: Served, home: Path) -> None:
    """It was on the disk before the answer."""
    for number in range(20):
        assert put(served, f"k{number}", number)[0] == 200
    served.process.kill()
    served.process.wait()

    from hivemind_memory.state.key_values import KeyValueStore
    from hivemind_memory.state.state_file import StateFile

    store = KeyValueStore(StateFile(str(home / "state.db")))
    assert len(store.all("workspaces/web", 1)) == 20


@pytest.mark.thorough
def test_thirty_two_clients_count_up_without_losing_one(served: Served) -> None:
    """Whoever comes second is told so, and reads again."""
    put(served, "n", 0)
    won: list[int] = []

    def count() -> None:
        for _ in range(3):
            row = ask(served, "GET", "/n")[1]
            status, _ = put(
                served, "n", row["value"] + 1, if_match_version=row["version"]
            )
            assert status in {200, 409}
            won.append(status == 200)

    threads = [threading.Thread(target=count) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == 96
    assert ask(served, "GET", "/n")[1]["value"] == sum(won)
