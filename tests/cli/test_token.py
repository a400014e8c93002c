"""`hm token`: what is shown once, what is kept, and who may make one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.state.tokens import Tokens
from tests.cli.conftest import Hm


def test_a_token_is_shown_once_and_kept_as_a_hash(hm: Hm, home: Path) -> None:
    """No file of the home holds it, and the list has everything else."""
    added = hm("token", "add", "ci", "--project", "Shop", "--read-only")
    secret = added.out.strip()
    hm("token", "add", "web", "--team", "a, b", "--expires", "2d")

    listed = json.loads(hm("token", "list", "--json").out)
    assert secret.startswith("hm_")
    assert len(secret) == 46
    assert "Copy the token now" in added.err
    [ci, web] = listed
    assert (ci["name"], ci["project"], ci["is_read_only"]) == ("ci", "shop", True)
    assert (ci["expires"], ci["used_at"], ci["is_expired"]) == ("", "", False)
    assert web["teams"] == ["a", "b"]
    assert len(web["expires"]) == len("2026-11-21")
    assert "any project" not in hm("token", "list").out
    for path in home.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("add", "ci"), "There is already a token named ci."),
        (("add", "default"), "'default' cannot be the name of a token."),
        (("add", "Two Words"), "'Two Words' cannot be the name of a token."),
        (("add", "x", "--expires", "2020-01-01"), "That day is in the past"),
        (("add", "x", "--project", "../y"), "'../y' cannot be the name of a project"),
        (("add", "x", "--team", "a,b c"), "'b c' cannot be the name of a team"),
        (("revoke", "x"), "There is no token 'x'."),
    ],
)
def test_bad_input_makes_no_token(hm: Hm, words: tuple[str, ...], error: str) -> None:
    """And says what is wrong."""
    hm("token", "add", "ci")

    said = hm("token", *words)

    assert said.code == 2
    assert error in said.err
    assert [one["name"] for one in json.loads(hm("token", "list", "--json").out)] == [
        "ci"
    ]


@pytest.mark.parametrize(
    ("variable", "error"),
    [
        ("CLAUDECODE", "for a person to decide"),
        ("HIVEMIND_PROJECT", "covers the whole memory"),
    ],
)
def test_only_the_owner_makes_sees_and_revokes_tokens(
    hm: Hm, monkeypatch: pytest.MonkeyPatch, variable: str, error: str
) -> None:
    """A token would give an agent what its own server does not."""
    hm("token", "add", "ci")
    monkeypatch.setenv(variable, "1")

    for words in (("add", "mine"), ("list",), ("revoke", "ci")):
        said = hm("token", *words)
        assert said.code == 2
        assert error in said.err
        assert said.out == ""
    monkeypatch.delenv(variable)
    assert "ci" in hm("token", "list").out


def test_a_token_belongs_to_its_notes_folder(hm: Hm, tmp_path: Path) -> None:
    """One home may have several, and a token opens no other."""
    secret = hm("token", "add", "ci").out.strip()
    other = str(tmp_path / "other")

    assert hm("token", "list", "--memory-dir", other).out == ""
    with opening.open_memory() as memory:
        assert Tokens(memory.state()).find(secret) is not None
    with opening.open_memory(memory_dir=other) as memory:
        assert Tokens(memory.state()).find(secret) is None


def test_a_token_follows_its_renamed_project(hm: Hm, notes: Path) -> None:
    """Else its client would see nothing, or a new project of the old name."""
    hm("save", "--scope", "project/shop", "port", "It is 5433.")
    hm("token", "add", "ci", "--project", "shop")

    assert hm("project", "rename", "shop", "store").code == 0

    [listed] = json.loads(hm("token", "list", "--json").out)
    assert listed["project"] == "store"
