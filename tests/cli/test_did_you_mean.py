"""A mistyped name is answered with the nearest one that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Hm


@pytest.fixture
def shop(hm: Hm, home: Path) -> None:
    """A home with a project, a team and a memory."""
    hm("save", "--scope", "project/shop", "--type", "lesson", "tea", "Green tea.")
    hm("write", "--scope", "team/red", "--by", "claude", "We meet on Mondays.")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("list", "--scope", "projct/shop"), "project/shop"),
        (("list", "--scope", "projct:shop"), "project/shop"),
        (("search", "--scope", "project:shop", "tea"), "project/shop"),
        (("search", "--scope", "shop", "tea"), "project/shop"),
        (("write", "--scope", "globl", "x"), "global"),
        (("save", "--scope", "prject", "k", "x"), "project"),
        (("list", "--scope", "project/shpo"), "--scope projects/shop"),
        (("log", "--scope", "team/rde"), "--scope teams/red"),
        (("log", "--agent", "cluade"), "--agent claude"),
        (("project", "rename", "shpo", "store"), "shop"),
        (("project", "merge", "shpo", "store"), "shop"),
        (("list", "--type", "lessn"), "lesson"),
        (("list", "--status", "activ"), "active"),
        (("link", "tea", "tea", "--kind", "relatd_to"), "related_to"),
        (("connect", "cluade"), "claude"),
        (("inject", "--agent", "cluade"), "claude"),
        (("config", "get", "min_scor"), "min_score"),
        (("config", "set", "embedding_provider", "olama"), "ollama"),
        (("completion", "bsh"), "bash"),
        (("project", "renam", "a", "b"), "hm project rename"),
        (("serch", "tea"), "hm search"),
        (("list", "--typ", "lesson"), "--type"),
        (("list", "-t", "lesson"), "--type or --tag"),
        (("save", "-t", "fact", "k", "x"), "--type or --tag or --tags"),
        (("save", "-r", "typo", "tea", "x"), "--reason or --related"),
        (("search", "-t", "lesson", "tea"), "--type or --tag"),
        (("get", "te"), "tea"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_nearest(
    hm: Hm, words: tuple[str, ...], near: str
) -> None:
    """Whatever kind of name it is."""
    said = hm(*words).err.lower().replace("`", "").replace("'", "")

    assert f"did you mean {near}?" in said


@pytest.mark.usefixtures("shop")
def test_a_letter_with_a_dash_inside_a_question_is_asked_about(hm: Hm) -> None:
    """Only before the question is it likely to be an option."""
    said = hm("search", "what", "does", "tar", "-t", "do").err

    assert "option" not in said


def test_an_option_of_config_that_is_near_is_named_alone(hm: Hm) -> None:
    """`max_result` was also taken for `ollama_url`."""
    assert "Did you mean max_results?\n" in hm("config", "set", "max_result", "5").err


def test_the_name_of_a_writer_that_is_suggested_is_one_word_for_a_shell(hm: Hm) -> None:
    """Clients of MCP name themselves as they like, with blanks."""
    hm("write", "--by", "Visual Studio Code", "Tea is at four.")

    said = hm("log", "--agent", "Visual Studio Cod").err

    assert "did you mean --agent 'Visual Studio Code'?" in said
