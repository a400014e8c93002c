"""A secret in the place of a name is told to nobody: no failure repeats it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http_api.served import Served

SECRET = "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
LONG = "x" * 40 + "." + SECRET  # cut where only a part of the secret is left
ENTRY = {"key": "new", "content": "Something new."}


@pytest.mark.parametrize("name", [SECRET, LONG])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/memories", ENTRY),
        ("POST", "/workspaces/web/memories", {"content": "Something new."}),
        ("GET", "/api/v1/search?q=a&{}=1", None),
        ("GET", "/api/v1/search?q=a&{0}=1&{0}=2", None),
        ("GET", "/api/v1/memories/{}", None),
        ("GET", "/api/v1/{}", None),
    ],
)
def test_a_secret_as_a_name_is_masked(
    served: Served, method: str, path: str, body: dict[str, Any] | None, name: str
) -> None:
    """`{"ghp_…": 1}` was answered with "ghp_…: unknown field"."""
    given = {**body, name: 1} if body else None

    answer = served.ask(method, path.format(name), json=given)

    assert answer.status_code in {400, 404}
    assert SECRET[:12] not in answer.text


def test_a_name_that_is_no_secret_is_told(served: Served) -> None:
    """So a program finds its mistake."""
    answer = served.ask("POST", "/api/v1/memories", json={**ENTRY, "colour": "red"})

    assert answer.json()["details"] == [{"field": "colour", "problem": "unknown field"}]
