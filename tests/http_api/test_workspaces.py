"""Memories of a workspace, and its namespaces, over a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from hivemind_memory import opening
from tests.http_api.served import Served, add_token, serving
from tests.inject.repos import make_repo

TREE = {"memory": {"workspaces": {"web": {"parent": "office"}, "alone": {}}}}


@dataclass(frozen=True)
class Office:
    """A server, and a token for each workspace of a tree."""

    served: Served
    tokens: dict[str, str]

    def ask(self, who: str, method: str, path: str, **more: Any) -> httpx.Response:
        """Ask as a workspace; ``:id`` is its own name."""
        own = path.replace(":id", who)
        return self.served.ask(method, own, token=self.tokens[who], **more)

    def facts_of(self, who: str, query: str = "") -> list[str]:
        """Return what a workspace recalls."""
        rows = self.ask(who, "GET", f"/workspaces/:id/memories{query}").json()
        return [row["content"] for row in rows]


@pytest.fixture
def office(home: Path) -> Iterator[Office]:
    """``office`` with its child ``web``, and ``alone``."""
    (home / "config.json").write_text(json.dumps(TREE), encoding="utf-8")
    with serving() as served:
        names = ("office", "web", "alone")
        tokens = {name: add_token(name, workspace=name) for name in names}
        tokens["reader"] = add_token("reader", workspace="web", is_read_only=True)
        yield Office(served, tokens)


def test_each_scope_is_seen_by_whom_it_is_for(office: Office) -> None:
    """LOCAL by one, TEAM by parent and children, GLOBAL by all."""
    for who, scope in (
        ("web", "LOCAL"),
        ("web", "TEAM"),
        ("office", "LOCAL"),
        ("office", "GLOBAL"),
        ("alone", "LOCAL"),
    ):
        body = {"content": f"{who} writes {scope}", "scope": scope}
        answer = office.ask(who, "POST", "/workspaces/:id/memories", json=body)
        assert (answer.status_code, answer.json()["scope"]) == (201, scope)

    team, everyone = "web writes TEAM", "office writes GLOBAL"
    assert set(office.facts_of("web")) == {"web writes LOCAL", team, everyone}
    assert set(office.facts_of("office")) == {"office writes LOCAL", team, everyone}
    assert set(office.facts_of("alone")) == {"alone writes LOCAL", everyone}
    assert office.facts_of("web", "?scope=TEAM") == [team]
    assert office.facts_of("office", "?q=writes+global&limit=1") == [everyone]
    [row] = office.ask("web", "GET", "/workspaces/:id/memories?scope=LOCAL").json()
    assert row.keys() == {"id", "content", "scope", "created_at"}
    assert row["scope"] == "LOCAL"


def test_every_refusal_has_its_text_and_writes_nothing(
    office: Office, home: Path
) -> None:
    """Word for word, in the envelope of the workspace routes."""
    memories = "/workspaces/:id/memories"
    refused: list[tuple[str, str, str, Any, int, str]] = [
        ("web", "POST", memories, {}, 400, "content is required"),
        ("web", "POST", memories, {"content": " "}, 400, "content is required"),
        (
            *("web", "POST", memories, {"content": "x", "scope": "ALL"}, 400),
            "scope must be LOCAL, TEAM or GLOBAL",
        ),
        (
            *("web", "POST", memories, {"content": "x", "scope": "GLOBAL"}, 403),
            "GLOBAL is writable only from the root side",
        ),
        (
            *("alone", "POST", memories, {"content": "x", "scope": "TEAM"}, 400),
            "this workspace has no team",
        ),
        (
            *("web", "POST", memories, {"content": "x" * 4001}, 400),
            "content has more than 4000 characters",
        ),
        (
            *("web", "GET", f"{memories}?scope=ALL", None, 400),
            "scope must be LOCAL, TEAM or GLOBAL",
        ),
        (
            *("web", "GET", f"{memories}?limit=101", None, 400),
            "limit: must be a whole number from 1 to 100",
        ),
        (
            *("web", "POST", "/workspaces/alone/memories", {"content": "x"}, 404),
            "workspace not found",
        ),
        (
            *("web", "POST", "/workspaces/none/v2/memories", {"content": "x"}, 404),
            "workspace not found",
        ),
        ("web", "POST", "/workspaces/:id/v2/memories", {}, 400, "content is required"),
        (
            *("web", "POST", "/workspaces/:id/v2/memories"),
            *({"content": "x", "namespace": "workspace:alone"}, 403, "forbidden"),
        ),
        (
            *("web", "POST", "/workspaces/:id/v2/memories"),
            *({"content": "x", "namespace": "org:global"}, 403, "forbidden"),
        ),
        (
            *("web", "DELETE", "/workspaces/:id/v2/memories/x", None, 404),
            "memory not found in namespace",
        ),
    ]
    for who, method, path, body, status, error in refused:
        answer = office.ask(who, method, path, json=body)
        assert (answer.status_code, answer.json()["error"]) == (status, error)
    own = office.served.ask(
        "POST",
        "/workspaces/web/memories",
        token=office.tokens["reader"],
        json={"content": "x"},
    )
    assert (own.status_code, own.json()) == (403, {"error": "this token only reads"})
    assert list(home.glob("memory/**/*.md")) == []


def test_a_path_that_is_not_the_tokens_gives_nothing(office: Office) -> None:
    """Whether there is such a workspace or not, and whatever it holds."""
    office.ask("alone", "POST", "/workspaces/:id/memories", json={"content": "secret"})

    for other in ("alone", "none", "WEB", "web%2F..", ".."):
        for path, empty in (
            ("memories?q=secret", []),
            ("v2/namespaces", {"readable": [], "writable": []}),
            ("v2/memories?q=secret", {"memories": []}),
        ):
            answer = office.ask("web", "GET", f"/workspaces/{other}/{path}")
            if other == "..":
                assert answer.status_code == 404
            else:
                assert (answer.status_code, answer.json()) == (200, empty)
    visitor = office.served.ask("GET", "/workspaces/alone/memories", token=None)
    assert visitor.status_code == 401


def test_v2_names_what_may_be_read_and_written(office: Office) -> None:
    """And writes, finds and forgets there."""
    names = {
        who: office.ask(who, "GET", "/workspaces/:id/v2/namespaces").json()
        for who in ("web", "office")
    }
    readable = ["workspace:web", "team:office", "org:global"]
    assert [one["name"] for one in names["web"]["readable"]] == readable
    assert [one["name"] for one in names["web"]["writable"]] == readable[:2]
    assert [one["name"] for one in names["office"]["writable"]] == [
        *("workspace:office", "team:office", "org:global")
    ]
    assert names["web"]["readable"][0] == {
        "name": "workspace:web",
        "kind": "workspace",
        "label": "This workspace",
    }

    path = "/workspaces/:id/v2/memories"
    body = {"content": "Ask before a release.", "kind": "summary", "pin": True}
    saved = office.ask("web", "POST", path, json=body).json()
    assert saved["namespace"] == "workspace:web"
    team = {"content": "Releases are on Mondays.", "namespace": "team:office"}
    office.ask("web", "POST", path, json=team)
    ended = {"content": "A release is over.", "expires_at": "2020-01-01T00:00:00Z"}
    office.ask("web", "POST", path, json=ended)

    [first, second] = office.ask("web", "GET", f"{path}?q=release").json()["memories"]
    assert (first["id"], first["pin"]) == (saved["id"], True)
    assert second["namespace"] == "team:office"
    assert 0 < second["score"] <= 1
    found = office.ask("web", "GET", f"{path}?kind=summary").json()["memories"]
    assert [one["id"] for one in found] == [saved["id"]]
    assert "score" not in found[0]
    assert "expires_at" not in found[0]
    hidden = office.ask("office", "GET", f"{path}?namespace=workspace:web").json()
    assert hidden == {"memories": []}
    refused = office.ask("office", "DELETE", f"{path}/{saved['id']}")
    assert refused.status_code == 404
    gone = office.ask("web", "DELETE", f"{path}/{saved['id']}")
    assert (gone.status_code, gone.json()) == (200, {"status": "deleted"})
    assert office.facts_of("web") == ["Releases are on Mondays."]


def test_a_memory_that_a_route_forgets_goes_from_the_section(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``DELETE`` of a workspace and of the plugin, as that of the owner's own route."""
    (home / "config.json").write_text(json.dumps(TREE), encoding="utf-8")
    worktree = make_repo(tmp_path / "site")
    vault = "The vault is opened on Mondays by two people."
    stairs = "The stairs are swept by the baker every morning."

    def section() -> str:
        return (worktree / "CLAUDE.md").read_text(encoding="utf-8")

    with serving("--plugin") as served:
        put = {"kind": "workspace"}
        served.ask("PUT", "/v1/namespaces/workspace:web", json=put)
        office = Office(served, {"web": add_token("web", workspace="web")})
        path = "/workspaces/:id/v2/memories"
        made = office.ask("web", "POST", path, json={"content": vault, "pin": True})
        fields = {"content": stairs, "kind": "fact", "source": "user", "pin": True}
        path_v1 = "/v1/namespaces/workspace:web/memories"
        put_v1 = served.ask("POST", path_v1, json=fields)
        monkeypatch.setenv("HIVEMIND_WORKSPACE", "web")
        with opening.open_memory() as memory:
            opening.open_injector(memory).inject(str(worktree))
        assert vault in section()
        assert stairs in section(), put_v1.text

        office.ask("web", "DELETE", f"{path}/{made.json()['id']}")
        assert vault not in section()
        by = {"requested_by_namespace": "workspace:web"}
        gone = served.ask("DELETE", f"/v1/memories/{put_v1.json()['id']}", json=by)
        assert gone.status_code == 204, gone.text
        assert stairs not in section()
