"""The name of a project brings no text from elsewhere that only has that word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.opening import open_injector
from tests.inject.repos import git, make_repo

Shown = Callable[..., set[str]]
UNRELATED = {
    f"{word}.md": f"Bread number {number} needs {word} and an oven.\n"
    for number, word in enumerate(("flour", "yeast", "salt", "water", "rye"))
}


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    """Return which notes are in the section of a repository ``name``."""

    def paths(notes: dict[str, str], name: str = "blog", branch: str = "") -> set[str]:
        worktree = make_repo(tmp_path / name)
        if branch:
            git(worktree, "switch", "-q", "-c", branch)
        folder = tmp_path / "home" / "memory"
        for path, text in {**UNRELATED, **notes}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        with open_memory(home=str(tmp_path / "home")) as memory:
            plan = open_injector(memory).inject(str(worktree), is_dry_run=True).planned
        return {excerpt.path for excerpt in plan.choice.excerpts}

    return paths


def test_free_text_that_only_has_the_name_of_the_project_stays_out(
    shown: Shown,
) -> None:
    """Notes, entries and lists of the global scope came into it by one common word."""
    notes = {
        "2026-11-01.md": "Aunt Mia's blog has a good recipe for plum cake.\n",
        "links.md": "# Links\n\nA blog on tea, and another one on coffee.\n",
        "projects/blog/today.md": "Comments are off.\n",
    }

    assert shown(notes) == {"projects/blog/today.md"}


def test_a_note_about_the_project_and_a_typed_memory_come_into_it(
    shown: Shown,
) -> None:
    """Its path or a heading names the project; or someone saved it with a type."""
    notes = {
        "blog.md": "It runs on Ghost.\n",
        "sites.md": "## Blog\n\nBuilt at night.\n\n## Wiki\n\nBuilt at noon.\n",
        "host.md": "---\ntype: decision\n---\nThe blog stays on its own machine.\n",
    }

    assert shown(notes) == {*notes}


@pytest.mark.parametrize("name", ["tiny", "console"])
def test_a_manual_with_the_name_of_the_project_as_a_word_stays_out(
    shown: Shown, name: str
) -> None:
    """A heading that has it among other words; a page on it, among many mentions."""
    mentions = {
        f"node/{word}{number}.md": f"The {word} {number} writes to the console.\n"
        for word in ("buffer", "stream", "timer", "worker")
        for number in range(6)
    }
    notes = {
        **mentions,
        "node/readline.md": "# Readline\n\n## Example: Tiny CLI\n\nA tiny one.\n",
        "node/console.md": "# Console\n\nThe console prints to stdout.\n",
        f"projects/{name}/today.md": "Lunch is at noon.\n",
    }

    assert shown(notes, name) == {f"projects/{name}/today.md"}


def test_a_commit_with_the_name_of_the_project_is_no_reason(tmp_path: Path) -> None:
    """Each note of the project has the name in its path, so each matched the commit."""
    worktree = make_repo(tmp_path / "shop")
    git(worktree, "commit", "--allow-empty", "-qm", "Paint shop")
    notes = {
        "projects/shop/lunch.md": "Lunch is at noon.\n",
        "projects/shop/doors.md": "We paint the doors blue.\n",
    }

    for path, text in notes.items():
        file = tmp_path / "home" / "memory" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with open_memory(home=str(tmp_path / "home")) as memory:
        plan = open_injector(memory).inject(str(worktree), is_dry_run=True).planned

    facets = {
        excerpt.path.rpartition("/")[2]: {part.facet for part in excerpt.reasons}
        for excerpt in plan.choice.excerpts
    }
    assert facets == {"lunch.md": {"project"}, "doors.md": {"project", "commit"}}


def test_a_name_of_several_words_is_no_chance(shown: Shown) -> None:
    """Side by side they name the project, and apart they do not."""
    notes = {
        "day.md": "The tide-gauge was painted red.\n",
        "sea.md": "The tide was high, and the gauge of the track is wide.\n",
    }

    assert shown(notes, "tide-gauge") == {"day.md"}


def test_a_branch_that_has_the_name_brings_nothing_by_it(shown: Shown) -> None:
    """But by its other words it does."""
    notes = {
        "mia.md": "Aunt Mia has a blog.\n",
        "login.md": "Rate limits for logins: five tries a minute.\n",
    }

    assert shown(notes, branch="blog/limit-logins") == {"login.md"}


@pytest.mark.parametrize("text", ["The garden has a blong bench.", "The weblogs run."])
def test_no_word_is_corrected_for_a_section(shown: Shown, text: str) -> None:
    """A note with a word like the name, or with the name within one, came into it."""
    notes = {"sections/a.md": text + "\n"}

    assert shown(notes, "blongs") == set()
    assert shown(notes, "logs") == set()


def test_a_section_is_that_of_the_worktree_wherever_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From another repository the project's own notes were left out."""
    shop, till = make_repo(tmp_path / "shop"), make_repo(tmp_path / "till")
    sections = []
    for folder in (shop, till):
        monkeypatch.chdir(folder)
        with open_memory(home=str(tmp_path / "home")) as memory:
            if folder == shop:
                memory.write("Lunch is at noon.")
                # Else its path has the name, and is found by that.
                memory.curation.projects.move("shop", "store", is_merge=False)
            done = open_injector(memory).inject(str(shop), is_dry_run=True)
            sections.append(done.planned.body)

    assert "Lunch is at noon." in sections[0]
    assert sections[0] == sections[1]
