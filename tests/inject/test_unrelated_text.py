"""Free text from outside a project needs two words of the work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.context.query_words import telling_words
from hivemind_memory.opening import open_injector
from tests.inject.repos import git

Shown = Callable[..., set[str]]
NOTES = {
    "til/git-init.md": "# git init\n\n`git init` copies hooks; the initial commit is"
    " often empty.\n",
    "til/protocol.md": "# Protocols\n\nA protocol may declare `__init__`.\n",
    "til/typos.md": "# typos\n\nIt can fix a typo in docs, and update tests.\n",
    "til/release.md": "# Packages\n\nBump the version, tag the release.\n",
    "2026-10-02.md": "Webhook signatures: the old secret is valid for a day during a"
    " rotation.\n",
    "2026-10-03.md": "The thumbnail cache is cleared when the image resizer changes.\n",
    "notes/oauth.md": "# OAuth\n\nRefresh tokens live thirty days.\n",
    "mention.md": "Dana once wrote a talk on OAuth and wine.\n",
    "broker.md": "---\ntype: decision\n---\nJobs go through Postgres, not a broker.\n",
    **{
        f"{word}.md": f"Bread number {number} needs {word} and an oven.\n"
        for number, word in enumerate(("flour", "yeast", "salt", "water", "rye"))
    },
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Return which notes are in the section of a repository with some commits."""
    top = tmp_path_factory.mktemp("work")
    folder = top / "home" / "memory"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")

    def paths(*subjects: str, branch: str = "main", files: str = "") -> set[str]:
        worktree = top / f"ledger{len(list(top.iterdir()))}"
        git(top, "init", "-q", "-b", branch, str(worktree))
        for subject in subjects:
            git(worktree, "commit", "-q", "--allow-empty", "-m", subject)
        for name in files.split():
            Path(worktree, name).write_text("x")
        with open_memory(home=str(top / "home")) as memory:
            done = open_injector(memory).inject(str(worktree), is_dry_run=True)
        return {excerpt.path for excerpt in done.planned.choice.excerpts}

    return paths


@pytest.mark.parametrize(
    "subjects",
    [
        ["init"],
        ["Initial commit", "init"],
        ["fix typo", "update tests", "Bump version"],
    ],
)
def test_a_commit_that_says_only_what_kind_of_change_it_is_brings_nothing(
    shown: Shown, subjects: list[str]
) -> None:
    """Notes on git, typos and releases filled the section of every new repository."""
    assert shown(*subjects) == set()


def test_what_is_about_the_work_still_comes_from_outside(shown: Shown) -> None:
    """By a commit, by changed files, by a branch, and what was saved with a type."""
    assert shown("Accept webhook signatures with the old secret") == {"2026-10-02.md"}
    assert shown("init", files="image_resizer.py thumbnail_cache.py") == {
        "2026-10-03.md"
    }
    assert shown("init", branch="oauth") == {"notes/oauth.md"}
    assert shown("Postgres instead of a broker") == {"broker.md"}


def test_one_word_in_common_is_a_chance(shown: Shown) -> None:
    """A commit about wine brought the talk of someone who drinks it."""
    assert shown("Sort the list by wine") == set()
    assert shown("Print the labels of wine bottles") == set()


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("init", ()),
        ("Fix the parser of dates in 2.3", ("parser", "dates")),
        ("ledger: round totals", ("round", "totals")),
    ],
)
def test_telling_words_are_neither_the_project_nor_the_kind_of_change(
    text: str, telling: tuple[str, ...]
) -> None:
    """And no numbers."""
    assert telling_words(text, ["ledger"]) == telling


def test_a_script_without_blanks_has_telling_words() -> None:
    """A whole sentence of it is one word to most patterns."""
    assert len(telling_words("修复登录页面")) > 1
