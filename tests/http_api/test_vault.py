"""The routes of the vault: the owner's token, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.http_api.served import Served, add_token, save, serving

SECRET = "correct-horse-9f2"
ROUTES = [
    ("GET", "", None),
    ("GET", "/A", None),
    ("PUT", "/A", {"value": "other"}),
    ("DELETE", "/A", None),
]


def test_the_owner_keeps_lists_reads_and_deletes(served: Served) -> None:
    """The table of exact replies."""
    missing = (404, {"error": 'vault key "A" not found'})

    def ask(method: str, path: str, **more: object) -> tuple[int, object]:
        answer = served.ask(method, f"/api/v1/vault{path}", **more)
        return answer.status_code, answer.json()

    assert ask("GET", "") == (200, [])
    assert ask("GET", "/A") == missing
    assert ask("DELETE", "/A") == missing
    assert ask("PUT", "/A", json={"value": SECRET}) == (
        200,
        {"status": "ok", "key": "A"},
    )
    read = served.ask("GET", "/api/v1/vault/A")
    assert read.json()["value"] == SECRET
    assert read.json()["is_secret"] is True
    assert read.headers["cache-control"] == "no-store"
    listed = served.ask("GET", "/api/v1/vault")
    assert SECRET not in listed.text
    assert [one["key"] for one in listed.json()] == ["A"]
    assert ask("DELETE", "/A") == (200, {"status": "deleted", "key": "A"})
    assert ask("GET", "/A") == missing


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_no_named_token_opens_it(
    served: Served, method: str, path: str, body: object
) -> None:
    """Not even to list keys, nor to hear which there are."""
    served.ask("PUT", "/api/v1/vault/A", json={"value": SECRET})
    more = {} if body is None else {"json": body}
    for name, scopes in {
        "free": {},
        "web": {"workspace": "web"},
        "shop": {"project": "shop"},
        "reads": {"is_read_only": True},
    }.items():
        answer = served.ask(
            method, f"/api/v1/vault{path}", token=add_token(name, **scopes), **more
        )

        assert answer.status_code == 403
        assert SECRET not in answer.text
        missing = served.ask(
            method,
            f"/api/v1/vault{path}x",
            token=add_token(f"{name}-2", **scopes),
            **more,
        )
        assert path == "" or missing.json() == answer.json()
    assert served.ask("GET", "/api/v1/vault/A").json()["value"] == SECRET


@pytest.mark.parametrize(
    ("key", "body", "error"),
    [
        ("A", {}, "value: is required"),
        ("A", {"value": 5}, "value: "),
        ("A", {"value": ""}, "The value is empty."),
        ("A", {"value": "x", "scope": "y"}, "scope: unknown field"),
        ("A", {"value": "x" * 65_537}, "The value has 65,537 bytes"),
        ("A", {"value": "a\0b"}, "The value has a NUL byte"),
        ("a%20b", {"value": "x"}, "A key of the vault has 1 to 128"),
        ("k" * 129, {"value": "x"}, "A key of the vault has 1 to 128"),
    ],
)
def test_bad_input_keeps_nothing(
    served: Served, key: str, body: object, error: str
) -> None:
    """And does not repeat the value."""
    answer = served.ask("PUT", f"/api/v1/vault/{key}", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(error)
    assert served.ask("GET", "/api/v1/vault").json() == []


def test_a_running_server_hides_a_value_from_the_moment_it_is_set(
    served: Served, home: Path
) -> None:
    """Also in a note that was written, indexed and answered before."""
    save("login", f"The login is {SECRET}, on the old host.")
    routes = ("/api/v1/search?q=login+old+host", "/api/v1/memories/login")
    for route in routes:
        assert SECRET in served.ask("GET", route).text

    served.ask("PUT", "/api/v1/vault/LOGIN", json={"value": SECRET})

    for route in routes:
        answer = served.ask("GET", route)
        assert answer.status_code == 200
        assert SECRET not in answer.text
        assert "[redacted:vault-value]" in answer.text
    refused = served.ask(
        "POST", "/workspaces/web/memory", json={"key": "a", "value": SECRET}
    )
    assert refused.status_code == 400
    assert SECRET not in refused.text


def test_activity_of_before_hides_a_value_that_the_vault_got_since(
    served: Served,
) -> None:
    """In every field; and no search spells it out, a letter at a time."""
    token = add_token("web", workspace="web")
    row = {
        "label": f"login {SECRET}",
        "content": f"the login is {SECRET}",
        "method": SECRET,
        "status": SECRET,
        "request_body": {"login": SECRET},
        "response_body": SECRET,
    }
    path = "/workspaces/web/activity"
    assert served.ask("POST", path, token=token, json=row).status_code == 201
    served.ask("PUT", "/api/v1/vault/LOGIN", json={"value": SECRET})
    route = "/workspaces/web/session-search?kinds=activity&q="

    shown = served.ask("GET", f"{route}login", token=token)

    assert len(shown.json()) == 1
    assert SECRET not in shown.text
    assert shown.json()[0]["request_body"] == {"login": "[redacted:vault-value]"}
    for part in (SECRET, SECRET[:-1], SECRET[:3], SECRET[-4:]):
        assert served.ask("GET", f"{route}{part}", token=token).json() == []


def test_the_list_of_memories_does_not_spell_a_value_of_the_vault(
    served: Served,
) -> None:
    """Its words were looked for in the text before it was masked."""
    save("login", f"The login is {SECRET}.", scope="workspaces/web")
    token = add_token("web", workspace="web")
    served.ask("PUT", "/api/v1/vault/LOGIN", json={"value": SECRET})

    def total(words: str) -> int:
        answer = served.ask("GET", f"/api/v1/memories?q={words}", token=token)
        found: int = answer.json()["total"]
        return found

    assert total("login") == 1
    assert [total(part) for part in (SECRET, SECRET[:-1], SECRET[:8])] == [0, 0, 0]


def test_the_plugin_hides_a_value_in_what_a_platform_has_added(home: Path) -> None:
    """In propagation and metadata that were kept before the vault had it."""
    assert home.is_dir()
    with serving("--plugin") as served:
        web = "/v1/namespaces/workspace:web"
        body = {"kind": "workspace", "metadata": {"login": SECRET}}
        assert served.ask("PUT", web, json=body).status_code == 200
        fact = {"content": "Hosts.", "kind": "fact", "source": "agent"}
        fact["propagation"] = {"login": [SECRET]}  # type: ignore[assignment]
        served.ask("POST", f"{web}/memories", json=fact)
        served.ask("PUT", "/api/v1/vault/LOGIN", json={"value": SECRET})

        found = served.ask("POST", "/v1/search", json={"namespaces": [web[15:]]})
        patch = {"expires_at": "2096-01-31T12:00:00Z"}
        patched = served.ask("PATCH", web, json=patch)

        hidden = "[redacted:vault-value]"
        assert found.json()["memories"][0]["propagation"] == {"login": [hidden]}
        assert patched.json()["metadata"] == {"login": hidden}
