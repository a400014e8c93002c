"""Text that the repository has, or gets from another one, is never refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.opening import open_injector
from tests.inject.repos import git, tracked
from tests.inject.test_escape import PRELUDE, shell
from tests.inject.test_quoted_memories import BOTH, MEMORY, OTHER

COMMIT = "git add -A && git commit -q -m all"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """The repository of a colleague, who writes both sentences after the injection."""
    made = tracked(tmp_path)
    made.rename(tmp_path / "theirs")
    return tmp_path / "theirs"


@pytest.fixture
def worktree(theirs: Path, tmp_path: Path) -> Path:
    """A worktree with a section that quotes both, and a remote of its own."""
    made = tmp_path / "repo"
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(theirs, "push", "-q", "../remote", "main")
    git(tmp_path, "clone", "-q", "-b", "main", "remote", str(made))
    git(made, "remote", "add", "theirs", "../theirs")
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "global.md").write_text(f"## One\n\n{MEMORY}\n\n## Two\n\n{OTHER}\n")
    with open_memory(home=str(tmp_path / "home")) as memory:
        open_injector(memory).inject(str(made))
    _their_commits(theirs)
    return made


def _their_commits(theirs: Path) -> None:
    """Write both sentences on a branch, and take them away on another."""
    git(theirs, "switch", "-q", "-c", "guide")
    (theirs / "guide.rst").write_text(BOTH)
    git(theirs, "add", "-A")
    git(theirs, "commit", "-q", "-m", "guide")
    git(theirs, "switch", "-q", "-c", "without")
    git(theirs, "rm", "-q", "guide.rst")
    git(theirs, "commit", "-q", "-m", "no guide")


FETCHED = "git fetch -q theirs && git fetch -q origin && echo x > mine && " + COMMIT
WAYS = {
    "merge": f"{FETCHED} && git merge -q --no-edit theirs/guide",
    "squash": f"{FETCHED} && git merge -q --squash theirs/guide && git commit -qm all",
    "cherry-pick": f"{FETCHED} && git cherry-pick theirs/guide",
    "revert of a revert": f"{FETCHED} && git merge -q --no-edit theirs/without"
    " && git revert --no-edit HEAD^2",
    "two reverts": f"{FETCHED} && git merge -q --no-edit theirs/guide"
    " && git revert --no-edit -m 1 HEAD && git revert --no-edit HEAD",
    "rebase": f"{FETCHED} && git rebase -q theirs/guide",
    "rebase of their commits": f"{FETCHED} && git switch -q -c g theirs/guide"
    " && git rebase -q main",
    "file of another branch": f"{FETCHED} && git checkout theirs/guide -- guide.rst"
    f" && {COMMIT}",
    "file of an earlier commit": f"{FETCHED} && git merge -q --no-edit theirs/without"
    f" && git checkout theirs/without^ -- guide.rst && {COMMIT}",
    "another name": f"{FETCHED} && git merge -q --no-edit theirs/without"
    f" && git show theirs/without^:guide.rst > other.rst && {COMMIT}",
    "stash": f"{FETCHED} && git checkout theirs/guide -- guide.rst && git stash -q"
    f" && git stash pop -q && {COMMIT}",
    "conflict": f"{FETCHED} && echo mine > guide.rst && {COMMIT} &&"
    " ! git merge -q theirs/guide && (echo mine; git show theirs/guide:guide.rst)"
    f" > guide.rst && {COMMIT}",
    "branch by its address": "git fetch -q ../theirs guide:guide && git merge -q guide",
    "branch that was deleted": "git fetch -q ../theirs guide:guide && git merge -q"
    " guide && git branch -q -D guide && git revert --no-edit HEAD &&"
    " git revert --no-edit HEAD",
    "pull by its address": "git pull -q --no-rebase ../theirs guide && echo x > mine"
    f" && {COMMIT}",
    "two pulls by address": "git pull -q --no-rebase ../theirs guide && git fetch -q"
    " ../remote main && git revert --no-edit HEAD && git revert --no-edit HEAD",
    "push into it": "git config receive.denyCurrentBranch ignore &&"
    " git -C ../theirs push -q ../repo guide:guide && git merge -q guide",
}


@pytest.mark.parametrize("script", WAYS.values(), ids=WAYS)
def test_text_of_someone_else_is_never_refused(script: str, worktree: Path) -> None:
    """Nor told, even if the remote that it is pushed to does not have it yet."""
    done = shell(worktree, PRELUDE + script)
    pushed = shell(worktree, "git push -q origin HEAD:new")

    assert (done.returncode, pushed.returncode) == (0, 0), done.stderr + pushed.stderr
    assert b"hivemind" not in done.stderr + pushed.stderr
    assert git(worktree, "log", "--all", "--format=%H", "--", "*.rst")


def test_a_section_of_someone_else_arrives_in_a_branch(
    theirs: Path, worktree: Path
) -> None:
    """`git fetch URL pull/1/head:review` is how a review begins."""
    (theirs / "a.rst").write_text("<!-- hivemind:begin v1 -->\nx\n")
    git(theirs, "add", "-A")
    git(theirs, "commit", "-q", "-m", "marks")

    done = shell(worktree, "git fetch -q ../theirs without:review")

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "script",
    [
        f"git fetch -q ../theirs main && echo y > y && {COMMIT}",
        "git fetch -q . main",
        "git pull -q . main",
    ],
)
def test_what_is_copied_here_is_refused_after_a_fetch(
    script: str, worktree: Path
) -> None:
    """A fetch makes nothing one's own text from elsewhere, and none from here does."""
    quick = "git -c core.hooksPath=/dev/null commit -q -a -m quick"
    (worktree / "notes.txt").write_text(BOTH)
    shell(worktree, f"git add -A; {quick}; {script}")

    pushed = shell(worktree, "git push -q origin HEAD:main")

    assert b"hivemind: refused" in pushed.stderr


def test_what_a_branch_was_pushed_with_on_purpose_is_no_longer_refused(
    worktree: Path,
) -> None:
    """Its author has decided; a rebase must not ask again."""
    on_purpose = "git -c hivemind.check=false"
    (worktree / "notes.txt").write_text(BOTH)
    shell(worktree, COMMIT)
    shell(worktree, f"{on_purpose} push -q origin HEAD:notes")

    done = shell(
        worktree, "git commit -q --amend -m again && git push -q -f origin HEAD:notes"
    )

    assert (done.returncode, done.stderr) == (0, b"")
