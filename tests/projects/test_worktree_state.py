"""What git is asked about a worktree: one question tells branch and changed files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from hivemind_memory.git.repository import Repository, find_repository
from hivemind_memory.git.worktree import ORIGIN, WorktreeState, worktree_state
from tests.inject.repos import git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with two commits."""
    folder = tmp_path / "shop"
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    for name in ("a", "b", "z"):
        (folder / name).write_text(name)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"Add {name}")
    return folder


def repository_of(folder: Path) -> Repository:
    found = find_repository(str(folder), os.environ)
    assert found is not None
    return found


def state_of(folder: Path) -> WorktreeState:
    return worktree_state(str(folder), repository_of(folder))


def test_changed_files_are_told_in_order_whatever_they_are_called(shop: Path) -> None:
    """Those that git tracks come first, as they did when each was a line of its own."""
    (shop / "b").write_text("other")
    git(shop, "mv", "a", "c d")
    git(shop, "rm", "-q", "--cached", "z")
    (shop / "new\nline").write_text("")
    (shop / "ü ? #").write_text("")

    state = state_of(shop)

    assert state.changed == ("a", "b", "c d", "z", "new\nline", "z", "ü ? #")
    assert state.branch == "main"


def test_files_in_conflict_are_among_the_changed(shop: Path) -> None:
    """Git tells of them after all others in this form."""
    git(shop, "checkout", "-q", "-b", "other")
    (shop / "b").write_text("theirs")
    git(shop, "commit", "-q", "-a", "-m", "Theirs")
    git(shop, "checkout", "-q", "main")
    (shop / "b").write_text("ours")
    git(shop, "commit", "-q", "-a", "-m", "Ours")
    git(shop, "merge", "-q", "other", check=False)
    (shop / "z").write_text("changed")

    assert state_of(shop).changed == ("b", "z")


def test_a_branch_has_its_name_beside_a_tag_of_the_same(shop: Path) -> None:
    git(shop, "checkout", "-q", "-b", "feat/pay")
    git(shop, "tag", "feat/pay")
    git(shop, "config", "status.showStash", "true")
    (shop / "a").write_text("put away")
    git(shop, "stash", "-q")

    state = state_of(shop)

    assert (state.branch, state.changed) == ("feat/pay", ())


def test_a_branch_without_a_commit_has_a_name_and_a_detached_head_none(
    shop: Path, tmp_path: Path
) -> None:
    git(shop, "checkout", "-q", "--detach")
    git(tmp_path, "init", "-q", "-b", "first", str(tmp_path / "empty"))

    assert state_of(shop).branch == ""
    assert state_of(tmp_path / "empty").branch == "first"


def test_a_status_that_fails_leaves_the_branch(shop: Path) -> None:
    (shop / ".git" / "index").write_bytes(b"damaged")

    state = state_of(shop)

    assert (state.branch, state.changed, len(state.subjects)) == ("main", (), 3)


def test_the_origin_is_the_same_from_a_list_of_options(shop: Path) -> None:
    """The last one counts, and none is as good as an empty one."""
    repository = repository_of(shop)
    for url in ("", "../up.git", "git@example.com:acme/shop.git"):
        if url:
            git(shop, "config", "--add", ORIGIN, url)
        options = repository.options(ORIGIN)

        listed = worktree_state(str(shop), repository, options)

        assert listed == state_of(shop)
        assert listed.origin == url
