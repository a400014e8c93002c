"""An injection that is killed at any moment leaves the worktree as git knew it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.environment import git_environ
from hivemind_memory.errors import GitError
from hivemind_memory.git.repository import run_git
from hivemind_memory.opening import open_injector, open_memory
from tests.inject.repos import (
    MARK,
    absent,
    edited,
    git,
    ignored,
    no_object_has_the_section,
    status,
    tracked,
    untracked,
)
from tests.support.waiting import without_hanging

CALLS = (
    *("open", "write", "fsync", "ftruncate", "chmod", "fchmod", "link", "symlink"),
    *("mkdir", "replace", "rename", "unlink", "rmdir", "utime"),
)
EVERY = int(os.environ.get("HIVEMIND_KILL_EVERY", "7"))
"""Of so many calls one is the last: a prime, so that none is passed over each time.
With 1 all are tried, which takes some minutes."""


def die_at(number: int) -> None:
    """Let this process die before its call of that number: of the system, or of git."""
    left = number

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    subprocess.Popen = counted(subprocess.Popen)  # type: ignore[misc, assignment]


def inject(home: Path, worktree: Path) -> None:
    """Inject as a command does."""
    with open_memory(home=str(home)) as memory:
        open_injector(memory).inject(str(worktree))


def is_killed(home: Path, worktree: Path, number: int) -> bool:
    """Inject in a process that dies at a call; return whether it got that far."""
    pid = os.fork()
    if not pid:
        try:
            die_at(number)
            inject(home, worktree)
        except BaseException:  # noqa: BLE001 - the parent sees how it ended
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.usefixtures("environ")
@pytest.mark.parametrize("make", [tracked, edited, untracked, ignored, absent])
def test_a_killed_injection_leaves_no_change_for_git_and_no_lock(
    tmp_path: Path, noted_home: Path, make: Callable[[Path], Path]
) -> None:
    """Whatever it was about to do; and the next one, or an eject, goes through."""
    kills = 0
    for number in range(1, 2000, EVERY):
        folder = tmp_path / str(number)
        folder.mkdir()
        worktree = make(folder)
        file = worktree / "CLAUDE.md"
        before, text = status(worktree), file.read_bytes() if file.exists() else None
        if not is_killed(noted_home, worktree, number):
            break
        kills += 1

        assert status(worktree) == before, number
        assert not (worktree / ".git" / "index.lock").exists(), number
        inject(noted_home, worktree)
        assert file.read_bytes().count(MARK) == 1, number
        assert status(worktree) == before, number
        assert [*worktree.glob("*.hm-*"), *worktree.glob(".hm-*")] == [], number
        with open_memory(home=str(noted_home)) as memory:
            open_injector(memory).eject(str(worktree))
        assert (file.read_bytes() if file.exists() else None) == text, number
        assert status(worktree) == before, number
        assert no_object_has_the_section(worktree)

    assert kills > 100 // EVERY


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
            run_git(str(worktree), words, git_environ(), timeout_s=3.0)
        except GitError as error:
            errors.append(error)

    while not begun.exists():  # a machine this busy has not begun in three seconds
        without_hanging(update)

    assert errors
    assert not lock.exists()
