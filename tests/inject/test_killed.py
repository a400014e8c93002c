"""An injection that is killed at any moment leaves the worktree as git knew it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.environment import git_environ
from hivemind_memory.errors import GitError
from hivemind_memory.git.repository import run_git
from hivemind_memory.inject.injector import Injector
from tests.inject.repos import absent, edited, git, ignored, tracked, untracked
from tests.support.killed_injection import kill_injections
from tests.support.tiers import one_in, pairs
from tests.support.waiting import wait_until, without_hanging

KINDS = (tracked, edited, untracked, ignored, absent)
EVERY = one_in(25, usual=50)
"""Each kind of file starts at another call, so that together a thorough run kills at
every fifth; ``benchmarks.kill_each_call`` kills each at every one."""


@pytest.mark.sampled
@pytest.mark.usefixtures("environ")
@pytest.mark.parametrize(("make", "is_eject"), pairs(KINDS, [False, True], every=2))
def test_a_killed_injection_leaves_no_change_for_git_and_no_lock(
    tmp_path: Path, noted_home: Path, make: Callable[[Path], Path], *, is_eject: bool
) -> None:
    """Whatever it was about to do; and the next one, or an eject, goes through."""
    every = EVERY * 2 if is_eject else EVERY
    first = 1 + KINDS.index(make) * every // len(KINDS)
    kills = kill_injections(
        noted_home, tmp_path, make, every=every, first=first, is_eject=is_eject
    )

    found = list(kills)

    assert [problem for one in found for problem in one] == []
    assert len(found) >= 50 // every


@pytest.mark.usefixtures("environ")
def test_a_git_that_takes_too_long_leaves_no_lock(tmp_path: Path) -> None:
    """A filter of the person's own hangs while git holds the lock of its index."""
    worktree = tracked(tmp_path)
    begun = tmp_path / "begun"
    git(worktree, "config", "filter.slow.clean", f"touch {begun}; exec sleep 30")
    (worktree / ".git" / "info").mkdir(exist_ok=True)
    (worktree / ".git" / "info" / "attributes").write_text("shop.py filter=slow\n")
    (worktree / "shop.py").write_text("price = 3\n")
    lock = worktree / ".git" / "index.lock"
    errors: list[GitError] = []

    def update() -> None:
        try:
            words = ("update-index", "shop.py")
            run_git(str(worktree), words, git_environ(), timeout_s=0.5)
        except GitError as error:
            errors.append(error)

    while not begun.exists():  # a machine this busy has not begun by then
        without_hanging(update)

    assert errors
    assert not lock.exists()


def waiting_filter(worktree: Path, folder: Path) -> tuple[Path, Path]:
    """Have git wait while it updates its index of one file.

    Returns:
        A file that then has its process id, and one that ends the wait.
    """
    begun, go_on = folder / "begun", folder / "go-on"
    wait = (
        f"echo $PPID > {begun}; for each in $(seq 3000);"
        f" do [ -e {go_on} ] && break; sleep 0.01; done; cat"
    )
    git(worktree, "config", "filter.slow.clean", wait)
    (worktree / ".git" / "info").mkdir(exist_ok=True)
    (worktree / ".git" / "info" / "attributes").write_text("shop.py filter=slow\n")
    (worktree / "shop.py").write_text("price = 3\n")
    return begun, go_on


UPDATE = """
import sys
from hivemind_memory.environment import git_environ
from hivemind_memory.git.repository import find_repository
repository = find_repository(sys.argv[1], git_environ())
sys.exit(not repository.update_index("shop.py"))
"""


def begin_update(worktree: Path) -> subprocess.Popen[bytes]:
    """Update the index as an injection does, in a process group of its own."""
    command = [sys.executable, "-c", UPDATE, str(worktree)]
    return subprocess.Popen(command, start_new_session=True)


def goes_on(worktree: Path, go_on: Path) -> bool:
    """Return whether git works there, and the next injection leaves nothing behind."""
    go_on.touch()
    git(worktree, "add", "shop.py")
    is_done = begin_update(worktree).wait() == 0
    return is_done and not [*(worktree / ".git").glob("hm-index-*")]


@pytest.mark.usefixtures("environ")
@pytest.mark.parametrize("killed", ["its group", "git"])
def test_a_killed_git_leaves_no_lock(tmp_path: Path, killed: str) -> None:
    """A harness kills a hook that takes too long, a system that has no memory any."""
    worktree = tracked(tmp_path)
    begun, go_on = waiting_filter(worktree, tmp_path)
    lock = worktree / ".git" / "index.lock"
    harness = begin_update(worktree)
    wait_until(lambda: begun.exists() and begun.read_text().strip())

    if killed == "git":
        os.kill(int(begun.read_text()), signal.SIGKILL)
        go_on.touch()  # the filter of a dead git would be waited for
    else:
        os.killpg(harness.pid, signal.SIGKILL)
    harness.wait()

    assert not lock.exists()
    assert goes_on(worktree, go_on)


@pytest.mark.usefixtures("environ")
def test_a_commit_during_an_update_of_the_index_is_kept(tmp_path: Path) -> None:
    """The copy is as the index was before; what another git added is not lost."""
    worktree = tracked(tmp_path)
    begun, go_on = waiting_filter(worktree, tmp_path)
    harness = begin_update(worktree)
    wait_until(begun.exists)
    (worktree / "new.py").write_text("new = 1\n")

    git(worktree, "add", "new.py")
    go_on.touch()

    assert harness.wait() == 0
    assert git(worktree, "ls-files", "new.py").strip() == "new.py"
    assert git(worktree, "diff", "--cached", "--name-only", "shop.py") != ""


@pytest.mark.usefixtures("environ")
def test_a_lock_of_a_killed_injection_is_removed_by_the_next(
    injector: Injector, tmp_path: Path
) -> None:
    """Killed between two calls, it is the same file as the copy beside it."""
    worktree = tracked(tmp_path)
    lock = worktree / ".git" / "index.lock"
    dies = """
import os, signal
from hivemind_memory.git import index_copy
index_copy.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
"""
    (worktree / "shop.py").write_text("price = 3\n")
    command = [sys.executable, "-c", f"{dies}{UPDATE}", str(worktree)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert lock.exists()

    assert injector.inject(str(worktree)).warnings == ()

    assert not lock.exists()
    assert [*(worktree / ".git").glob("hm-index-*")] == []


@pytest.mark.usefixtures("environ")
def test_a_lock_that_git_left_is_named(injector: Injector, tmp_path: Path) -> None:
    """`git add`, which was the advice, fails for the same reason."""
    worktree = tracked(tmp_path)
    lock = worktree / ".git" / "index.lock"
    lock.touch()

    said = " ".join(injector.inject(str(worktree)).warnings)

    assert f"delete {lock} and inject again" in said
    lock.unlink()
    assert injector.inject(str(worktree)).warnings == ()


@pytest.mark.parametrize("folder", [".", ".claude/rules"])
def test_a_committed_file_with_the_name_of_a_partial_one_stays(
    injector: Injector, tmp_path: Path, folder: str
) -> None:
    """Somebody committed what a killed process had left: it is theirs now."""
    worktree = tracked(tmp_path)
    (worktree / folder).mkdir(parents=True, exist_ok=True)
    committed = worktree / folder / ".hm-0123456789abcdef.tmp"
    committed.write_text("price = 3\n")
    git(worktree, "add", "-f", str(committed))
    git(worktree, "commit", "-q", "-m", "all of it")
    left = worktree / ".hm-fedcba9876543210.tmp"
    left.write_text("half a sec")
    in_git = worktree / ".git" / "info" / left.name
    in_git.parent.mkdir(exist_ok=True)
    in_git.write_text("half a sec")

    injector.inject(str(worktree))
    injector.sweep(str(worktree))
    injector.eject(str(worktree))

    assert committed.read_text() == "price = 3\n"
    assert not left.exists()
    assert not in_git.exists()
