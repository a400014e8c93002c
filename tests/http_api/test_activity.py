"""Programs post what they did, and search it with the memories."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.model.activity import ActivityQuery
from tests.http_api.served import Served, add_token, save

POST = "/workspaces/web/activity"
SEARCH = "/workspaces/web/session-search"
SECRET = "ghp_" + "a1B2c3D4e5" * 4


def post(served: Served, path: str = POST, token: str = "", **fields: object) -> str:
    """Post a row; return its id."""
    body = {"label": "deploy", "content": "version 4.2 is on staging", **fields}
    answer = served.ask("POST", path, token=token, json=body)
    assert (answer.status_code, list(answer.json())) == (201, ["id"]), answer.text
    return str(answer.json()["id"])


def test_a_posted_row_is_found_as_the_contract_says(served: Served) -> None:
    """Field by field; a body that was not posted is left out."""
    whole = post(
        served,
        method="POST",
        status="ok",
        request_body={"version": "4.2"},
        response_body="done",
    )
    bare = post(served, content="The gauge was read")

    rows = served.ask("GET", SEARCH).json()

    assert [row["id"] for row in rows] == [bare, whole]
    assert rows[1].pop("created_at").startswith("20")
    assert rows[1] == {
        "kind": "activity",
        "id": whole,
        "workspace_id": "web",
        "label": "deploy",
        "content": "version 4.2 is on staging",
        "method": "POST",
        "status": "ok",
        "request_body": {"version": "4.2"},
        "response_body": "done",
    }
    assert {"request_body", "response_body"}.isdisjoint(rows[0])


@pytest.mark.parametrize(
    ("q", "is_found"),
    [
        ("", True),
        ("STAGING", True),
        ("ersion 4.2 is", True),  # a part of a word: the contract matches substrings
        ("staging version", True),  # words in another order
        ("staging nowhere", False),
        ("%", False),
    ],
)
def test_a_row_is_found_by_a_part_or_by_its_words(
    served: Served, q: str, is_found: bool
) -> None:
    posted = post(served)

    rows = served.ask("GET", SEARCH, params={"q": q}).json()

    assert [row["id"] for row in rows] == ([posted] if is_found else [])


def test_memories_are_found_too_and_can_be_left_out(served: Served) -> None:
    """The rows are told apart by their kind; the newest comes first."""
    known = save("staging", "The staging host is db1.", scope="workspaces/web")
    save("other", "The staging host of another.", scope="workspaces/other")
    posted = post(served)

    both = served.ask("GET", SEARCH, params={"q": "staging"}).json()
    only = served.ask("GET", f"{SEARCH}?q=staging&kinds=activity").json()
    memories = served.ask("GET", f"{SEARCH}?q=staging&kinds=memory").json()

    assert [(row["kind"], row["id"]) for row in both] == [
        ("activity", posted),
        ("memory", known),
    ]
    assert set(memories[0]) == {
        *("kind", "id", "workspace_id", "label", "content", "scope", "created_at")
    }
    assert (memories[0]["label"], memories[0]["scope"]) == ("staging", "workspaces/web")
    assert (only, memories) == (both[:1], both[1:])


def test_another_workspace_finds_nothing_of_it(served: Served) -> None:
    """The path must agree with the token; what is not the caller's is not there."""
    post(served)
    web, other = (add_token(name, workspace=name) for name in ("web", "other"))

    assert len(served.ask("GET", SEARCH, token=web).json()) == 1
    assert served.ask("GET", SEARCH, token=other).json() == []
    assert served.ask("GET", SEARCH.replace("web", "other"), token=other).json() == []
    refused = served.ask("POST", POST, token=other, json={"label": "a", "content": "b"})
    assert (refused.status_code, refused.json()) == (
        404,
        {"error": "workspace not found"},
    )


def test_a_token_that_only_reads_posts_nothing(served: Served) -> None:
    token = add_token("reader", workspace="web", is_read_only=True)

    answer = served.ask("POST", POST, token=token, json={"label": "a", "content": "b"})

    assert (answer.status_code, answer.json()) == (
        403,
        {"error": "this token only reads"},
    )
    assert served.ask("GET", SEARCH, token=token).json() == []


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "label: is required"),
        ({"label": "a"}, "content: is required"),
        ({"label": "", "content": "b"}, "label: "),
        ({"label": "a", "content": ""}, "content: "),
        ({"label": "a" * 201, "content": "b"}, "label: "),
        ({"label": "a", "content": 7}, "content: "),
        ({"label": "a", "content": "b", "colour": "red"}, "colour: unknown field"),
        ([], "body: must be an object"),
    ],
)
def test_a_wrong_row_is_refused_and_not_kept(
    served: Served, body: object, error: str
) -> None:
    answer = served.ask("POST", POST, json=body)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(error)
    assert served.ask("GET", SEARCH).json() == []


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "kinds=notes"])
def test_a_wrong_query_is_refused(served: Served, query: str) -> None:
    answer = served.ask("GET", f"{SEARCH}?{query}")

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(query.partition("=")[0])


def test_secrets_are_masked_and_bodies_are_cut(served: Served, home: Path) -> None:
    """Before anything is written."""
    posted = post(
        served,
        content=f"pushed with {SECRET}",
        request_body={"token": SECRET},
        response_body="x" * 5_000,
    )

    [row] = served.ask("GET", SEARCH).json()

    assert row["id"] == posted
    assert "[redacted:" in row["content"]
    assert len(row["response_body"].encode()) <= 2_048
    for file in home.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()


def test_a_person_finds_and_opens_a_posted_row(served: Served) -> None:
    """With ``hm activity``, whatever workspace it is of."""
    posted = post(served)

    with opening.open_memory() as memory, opening.open_activity(memory) as activity:
        [hit] = activity.search(ActivityQuery(text="staging")).hits
        shown = activity.show(posted).hit

    assert (hit.id, hit.agent, hit.workspace) == (posted, "default", "workspaces/web")
    assert shown.content == "version 4.2 is on staging"
