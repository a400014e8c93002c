"""A misspelt scope is answered with the one that was probably meant."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Hm


@pytest.fixture
def shop(hm: Hm, home: Path) -> Path:
    """A project with a note."""
    hm("write", "--scope", "project/shop", "The shop deploys on Tuesdays.")
    return home / "memory/projects"


@pytest.mark.parametrize("scope", ["project/shpo", "projects/shopp", "product/sohp"])
@pytest.mark.parametrize(
    "words", [("search", "{}", "deploys"), ("list", "{}"), ("log", "{}")]
)
def test_a_reading_command_names_the_scope_that_was_meant(
    hm: Hm, shop: Path, words: tuple[str, ...], scope: str
) -> None:
    """`hm search` said that no note within the filters had the word."""
    given = [f"--scope={scope}" if word == "{}" else word for word in words]

    ran = hm(*given)

    assert "did you mean" in ran.err
    assert "projects/shop?" in ran.err
    assert ran.code == 0


@pytest.mark.parametrize(
    "words", [("write", "x"), ("save", "k", "x"), ("learn", "t", "x")]
)
def test_a_text_in_a_new_scope_says_which_one_it_resembles(
    hm: Hm, shop: Path, words: tuple[str, ...]
) -> None:
    """It is saved, as the first text of every scope is, and can be undone."""
    first = hm(words[0], "--scope", "project/shpo", *words[1:])
    second = hm(words[0], "--scope", "project/shpo", *words[1:])
    other = hm(words[0], "--scope", "project/garden", *words[1:])

    assert "projects/shpo has no notes yet; did you mean projects/shop?" in first.err
    assert "`hm undo` reverts this" in first.err
    assert "did you mean" not in second.err + other.err


@pytest.mark.parametrize(
    "words", [("write", "x"), ("save", "k", "x"), ("save", "-g", "k", "x")]
)
def test_a_text_from_a_workspace_that_nothing_knows_says_so(
    hm: Hm, shop: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """`HIVEMIND_WORKSPACE=wbe hm save -g` wrote for everybody without a word."""
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "wbe")
    said = "workspaces/wbe has no notes yet, and config.json lists no workspaces"

    first = hm(*words)
    (shop.parent / "workspaces/wbe").mkdir(parents=True, exist_ok=True)
    second = hm(*words)

    assert f"{said}; if its name is wrong, `hm undo` reverts this" in first.err
    assert said not in second.err


def test_a_server_for_a_new_project_says_which_one_it_resembles(
    shop: Path, home: Path
) -> None:
    """It serves all the same: every project has a first note."""
    for name, is_near in (("shpo", True), ("shop", False), ("garden", False)):
        ran = subprocess.run(
            [sys.executable, "-m", "hivemind_memory.cli", "mcp", "--project", name],
            env={**os.environ, "HIVEMIND_HOME": str(home)},
            input="",
            capture_output=True,
            text=True,
            check=True,
        )
        assert ("did you mean --project shop?" in ran.stderr) is is_near


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("attach", "shop-claude"), "`hm attach shop-claude`"),
        (("kill", "shop-claude"), "`hm kill shop-claude`"),
        (("stop", "shop-claude"), "`hm kill shop-claude`"),
        (("list",), "`hm sessions`"),
        (("frobnicate",), "`hm attach frobnicate`"),
    ],
)
def test_a_word_after_sessions_is_answered_with_the_command(
    hm: Hm, words: tuple[str, ...], answer: str
) -> None:
    """tmux and others have these below one command."""
    ran = hm("sessions", *words)

    assert ran.code == 2
    assert answer in ran.err
