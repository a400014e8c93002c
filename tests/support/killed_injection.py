"""Injections and ejections that die before a call of the system or of git."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

from hivemind_memory.opening import open_injector, open_memory
from tests.inject.repos import MARK, no_object_has_the_section, status

CALLS = (
    *("open", "write", "fsync", "ftruncate", "chmod", "fchmod", "link", "symlink"),
    *("mkdir", "replace", "rename", "unlink", "rmdir", "utime"),
)
MAX_CALLS = 2000


def kill_injections(
    home: Path,
    base: Path,
    make: Callable[[Path], Path],
    *,
    every: int,
    first: int = 1,
    is_eject: bool = False,
) -> Iterator[list[str]]:
    """Yield what is wrong after each kill; end once an injection gets through.

    Args:
        home: A home with notes.
        base: An empty folder for the worktrees.
        make: Makes a worktree in a folder.
        every: Of so many calls one is the last of an injection.
        first: The first of these, from 1.
        is_eject: What is killed takes a section out again.
    """
    operate = _eject if is_eject else _inject
    for number in range(first, MAX_CALLS, every):
        folder = base / str(number)
        folder.mkdir()
        # Of its own: a worktree adds a project to its home, which costs later calls.
        own = copytree(home, folder / "home")
        worktree = make(folder)
        file = worktree / "CLAUDE.md"
        before, text = status(worktree), _bytes(file)
        if is_eject:
            _inject(own, worktree)
        if not _is_killed(partial(operate, own, worktree), number):
            return
        found = _problems_after(own, worktree, before, text)
        name = f"{make.__name__}, {operate.__name__[1:]}, call {number}"
        yield [f"{name}: {one}" for one in found]
        rmtree(folder)
    yield [f"{make.__name__}: none got through"]


def _problems_after(
    home: Path, worktree: Path, before: str, text: bytes | None
) -> list[str]:
    """Return what is wrong after a kill, after the next injection, and after eject."""
    file = worktree / "CLAUDE.md"
    wrong: dict[str, bool] = {}
    wrong["git status has changed"] = status(worktree) != before
    lock = worktree / ".git" / "index.lock"
    wrong["a lock is left"] = lock.exists() and not _is_copy(lock)
    _inject(home, worktree)
    wrong["a lock stays"] = lock.exists()
    wrong["the next one failed"] = (_bytes(file) or b"").count(MARK) != 1
    wrong["git status has changed after the next one"] = status(worktree) != before
    left = [*worktree.rglob(".hm-*"), *worktree.rglob("hm-index-*")]
    wrong["a partial file is left"] = left != []
    _eject(home, worktree)
    wrong["eject left other bytes"] = _bytes(file) != text
    wrong["git status has changed after eject"] = status(worktree) != before
    wrong["git stored the section"] = not no_object_has_the_section(worktree)
    return [name for name, is_so in wrong.items() if is_so]


def _is_copy(lock: Path) -> bool:
    """Return whether a lock is a copy of the index: the next injection removes it."""
    copies = lock.parent.glob("hm-index-*")
    return any(copy.samefile(lock) for copy in copies)


def _bytes(file: Path) -> bytes | None:
    """Return what a file holds; None: there is none."""
    return file.read_bytes() if file.exists() else None


def _inject(home: Path, worktree: Path) -> None:
    """Inject as a command does."""
    with open_memory(home=str(home)) as memory:
        open_injector(memory).inject(str(worktree))


def _eject(home: Path, worktree: Path) -> None:
    """Take the section out as a command does."""
    with open_memory(home=str(home)) as memory:
        open_injector(memory).eject(str(worktree))


def _is_killed(operate: Callable[[], None], number: int) -> bool:
    """Operate in a process that dies at a call; return whether it got that far."""
    pid = os.fork()
    if not pid:
        try:
            _die_at(number)
            operate()
        except BaseException:  # noqa: BLE001 - the parent sees how it ended
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


def _die_at(number: int) -> None:
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
