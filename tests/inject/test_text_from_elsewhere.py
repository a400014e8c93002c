"""Text that the repository has, or gets from another one, is never refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.opening import open_injector
from tests.inject.repos import git, tracked
from tests.inject.test_escape import PRELUDE, shell
from tests.inject.test_quoted_memories import BOTH, MEMORY, OTHER, is_carried
from tests.support.tiers import mostly_thorough

COMMIT = "git add -A && git commit -q -m all"
ON_PURPOSE = "git add -A && git -c hivemind.check=false commit -q -m all"


def with_colleague(folder: Path) -> Path:
    """Make a worktree with a remote, beside a clone in which a colleague works.

    What they write is shared in a bare repository, ``theirs``.
    """
    colleague, made = folder / "colleague", folder / "repo"
    tracked(folder).rename(colleague)
    git(folder, "clone", "-q", "--bare", "colleague", "theirs")
    git(colleague, "remote", "add", "shared", "../theirs")
    git(folder, "init", "-q", "--bare", "remote")
    git(colleague, "push", "-q", "../remote", "main")
    git(folder, "clone", "-q", "-b", "main", "remote", str(made))
    git(made, "remote", "add", "theirs", "../theirs")
    return made


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A worktree with a section that quotes both sentences of its colleague."""
    made = with_colleague(tmp_path)
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "global.md").write_text(f"## One\n\n{MEMORY}\n\n## Two\n\n{OTHER}\n")
    with open_memory(home=str(tmp_path / "home")) as memory:
        open_injector(memory).inject(str(made))
    write_both(tmp_path / "colleague")
    return made


@pytest.fixture
def theirs(worktree: Path) -> Path:
    """Where the colleague works."""
    return worktree.parent / "colleague"


def write_both(theirs: Path) -> None:
    """Write both sentences on a branch, and take them away on another."""
    git(theirs, "switch", "-q", "-c", "guide")
    (theirs / "guide.rst").write_text(BOTH)
    git(theirs, "add", "-A")
    git(theirs, "commit", "-q", "-m", "guide")
    git(theirs, "switch", "-q", "-c", "without")
    git(theirs, "rm", "-q", "guide.rst")
    git(theirs, "commit", "-q", "-m", "no guide")
    git(theirs, "push", "-q", "shared", "guide", "without")


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
}


@pytest.mark.parametrize("script", mostly_thorough(WAYS.values(), every=3), ids=WAYS)
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
    git(theirs, "push", "-q", "shared", "without")

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
    shell(worktree, ON_PURPOSE)
    shell(worktree, f"{on_purpose} push -q origin HEAD:notes")

    done = shell(
        worktree, "git commit -q --amend -m again && git push -q -f origin HEAD:notes"
    )

    assert (done.returncode, done.stderr) == (0, b"")


HERE = {
    "worktree": "git worktree add -q ../wt -b feat && cd ../wt",
    "clone": "git clone -q . ../wt && cd ../wt && git switch -q -c feat",
}
BY_PATH = {
    "pull": "git pull -q --no-rebase ../wt feat",
    "pull by absolute path": 'git pull -q --no-rebase "$PWD/../wt" feat',
    "fetch into a branch": "git fetch -q ../wt feat:copied && git merge -q copied",
    "two fetches": "git fetch -q ../wt feat:f && git fetch -q ../remote main"
    " && git merge -q f",
    "fetch with options": "git fetch -q -j 4 --depth 50 ../wt feat:f; git merge -q f",
    "remote": "git remote add wt ../wt && git fetch -q wt && git merge -q wt/feat",
    "pull, and it is deleted": "git pull -q --no-rebase ../wt feat && rm -rf ../wt",
    "remote, and it is deleted": "git remote add wt ../wt && git fetch -q wt"
    " && git merge -q wt/feat && rm -rf ../wt",
    "blanks in its name": "mv ../wt '../best of all' &&"
    " git pull -q --no-rebase '../best of all' feat",
    "blanks in its name, fetched": "mv ../wt '../my wt' &&"
    " git fetch -q '../my wt' feat:copied && git merge -q copied",
    "behind another source": "git fetch -q ../remote main && cp .git/FETCH_HEAD"
    " ../head && git fetch -q ../wt feat && cat .git/FETCH_HEAD >> ../head &&"
    " cp ../head .git/FETCH_HEAD && git merge -q $(git -C ../wt rev-parse feat)",
    "URL of a file": 'git pull -q --no-rebase "file://$(cd ../wt; pwd)" feat',
    "remote with the URL of a file": 'git remote add wt "file://$(cd ../wt; pwd)"'
    " && git fetch -q wt && git merge -q wt/feat",
}


@pytest.mark.parametrize("way", mostly_thorough(BY_PATH.values(), every=2), ids=BY_PATH)
@pytest.mark.parametrize("here", HERE.values(), ids=HERE)
def test_text_of_a_worktree_or_clone_with_a_section_is_not_from_elsewhere(
    here: str, way: str, tmp_path: Path, worktree: Path
) -> None:
    """Agents in sibling folders, merged by path, published their memories."""
    assert shell(worktree, here).returncode == 0
    with open_memory(home=str(tmp_path / "home")) as memory:
        open_injector(memory).inject(str(tmp_path / "wt"))
    (tmp_path / "wt" / "r.rst").write_text(BOTH)
    assert shell(tmp_path / "wt", ON_PURPOSE).returncode == 0

    merged = shell(worktree, way)
    pushed = shell(worktree, "git push -q origin HEAD:new")

    assert b"hivemind: refused" in merged.stderr + pushed.stderr
    assert not is_carried(tmp_path / "remote")


def test_what_was_published_on_purpose_is_known_without_a_remote_branch(
    worktree: Path,
) -> None:
    """A shallow clone, or a push by address, keeps no branch that says so."""
    (worktree / "notes.txt").write_text(BOTH)
    shell(worktree, ON_PURPOSE)
    shell(worktree, "git -c hivemind.check=false push -q ../remote HEAD:one")
    (worktree / "more.txt").write_text("more")

    done = shell(worktree, f"{COMMIT} && git push -q ../remote HEAD:two")

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_fetch_of_many_tags_starts_few_processes(worktree: Path) -> None:
    """A thousand took 109 s instead of 0.3 s: each read and wrote what was fetched."""
    created = "".join(f"create refs/tags/t{n} refs/heads/guide\n" for n in range(20))
    (worktree.parent / "tags").write_text(created)
    shell(worktree, "git -C ../theirs update-ref --stdin < ../tags")

    fetched = shell(worktree, "GIT_TRACE=$PWD/../trace git fetch -q --tags ../theirs")

    assert fetched.returncode == 0
    assert git(worktree, "tag").count("t") == 20
    trace = (worktree.parent / "trace").read_text()
    assert trace.count("trace: built-in: git rev-list") <= 2
