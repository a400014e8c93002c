"""Finds the worktree that an agent is to work in, or makes it."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from hivemind_memory.errors import GitError, NotLaunchedError, UsageError
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.git.repository import complaint_of, find_repository, run_git
from hivemind_memory.launch.names import digest, label_of, root_of, slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping

_CHECKOUT_S = 600.0
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchLocation:
    """Where an agent works."""

    folder: str
    """Where it starts."""

    worktree: str
    """The worktree around that, or the folder itself; links resolved."""

    label: str
    """What a person calls it."""

    is_new: bool = False
    """It was made for this launch."""


def locate_folder(folder: str, environ: Mapping[str, str]) -> LaunchLocation:
    """Return the place that a folder is.

    Raises:
        UsageError: There is no such folder.
    """
    start = os.path.realpath(os.path.expanduser(folder))
    if not folder or not os.path.isdir(start):
        message = f"{folder!r} is no folder; no agent was started."
        raise UsageError(message, hint="--branch NAME makes a worktree for a branch.")
    try:
        repository = find_repository(start, environ)
    except GitError:  # a repository that git does not want to look at
        repository = None
    if repository is None:
        return LaunchLocation(
            folder=start, worktree=start, label=os.path.basename(start)
        )
    label = label_of(repository.top, repository.common_dir, repository.git_dir)
    return LaunchLocation(folder=start, worktree=repository.top, label=label)


def locate_branch(
    folder: str, branch: str, environ: Mapping[str, str], *, locks: str
) -> LaunchLocation:
    """Return the worktree in which a branch is checked out; made if there is none.

    It is made beside the repository: on the same disk, found by a person who looks
    around, and outside every other worktree, where tools would search it twice. A
    branch that is not there begins at that of the one remote that has it, else at HEAD.

    Args:
        folder: Any folder of the repository.
        branch: Its name, without ``refs/heads/``.
        environ: For git.
        locks: Folder for locks.

    Raises:
        UsageError: It is no name of a branch, or there is no repository.
        NotLaunchedError: git refuses.
    """
    common_dir = _common_dir(folder, environ)
    check = ("check-ref-format", _HEADS + branch)
    if branch.startswith("-") or _git(folder, check, environ).returncode:
        raise UsageError(f"{branch!r} is no name of a branch; no agent was started.")
    # Two launches for one new branch: the second waits, and finds it.
    with _one_at_a_time(os.path.join(locks, f"branch-{digest(common_dir)}.lock")):
        found = _worktree_with(folder, branch, environ)
        if found is not None:
            return locate_folder(found, environ)
        made = _make(folder, branch, root_of(common_dir), environ)
    return LaunchLocation(
        folder=made.folder, worktree=made.worktree, label=made.label, is_new=True
    )


def _common_dir(folder: str, environ: Mapping[str, str]) -> str:
    """Return the git folder that all worktrees of a repository share."""
    done = _git(folder, ("rev-parse", "--git-common-dir"), environ)
    if done.returncode:
        message = f"git finds no branches in {folder}: {complaint_of(done)}."
        raise UsageError(message, hint="Go into the repository, and launch there.")
    return os.path.realpath(os.path.join(folder, _printed(done)))


def _worktree_with(folder: str, branch: str, environ: Mapping[str, str]) -> str | None:
    """Return the worktree in which a branch is checked out, if there is one."""
    words, end = ("worktree", "list", "--porcelain"), "\0"
    done = _git(folder, (*words, "-z"), environ)
    if done.returncode:  # before git 2.36; only a folder with a line break needs it
        done, end = _git(folder, words, environ), "\n"
    for block in os.fsdecode(done.stdout).split(end + end):
        lines = block.split(end)
        worktree = lines[0].removeprefix("worktree ")
        if f"branch {_HEADS}{branch}" in lines and os.path.isdir(worktree):
            return worktree
    return None


def _make(
    folder: str, branch: str, root: str, environ: Mapping[str, str]
) -> LaunchLocation:
    """Make a worktree for a branch, and the branch."""
    path = os.path.join(f"{root}.worktrees", slug(branch))
    if os.path.lexists(path):  # of another branch with the same letters
        path = f"{path}-{digest(branch)}"
    is_there = ("show-ref", "--verify", "--quiet", _HEADS + branch)
    if _git(folder, is_there, environ).returncode == 0:
        end: tuple[str, ...] = ("--", path, branch)
    else:
        remote = _remote_branch(folder, branch, environ)
        tracking = ("--track",) if remote else ("--no-track",)
        end = (*tracking, "-b", branch, "--", path, remote or "HEAD")
    done = _git(folder, ("worktree", "add", "--quiet", *end), environ)
    if done.returncode:
        message = f"No worktree was made for {branch}; git says: {complaint_of(done)}."
        hint = "`git worktree list` shows those there are; `prune` forgets lost ones."
        raise NotLaunchedError(message, hint=hint)
    return locate_folder(path, environ)


def _remote_branch(folder: str, branch: str, environ: Mapping[str, str]) -> str:
    """Return the branch of that name of a remote; empty if none or several have it."""
    pattern = f"refs/remotes/*/{branch}"
    words = ("for-each-ref", "--format=%(refname)", pattern)
    found = _printed(_git(folder, words, environ)).split("\n")
    return found[0] if len(found) == 1 else ""


def _git(
    folder: str, words: tuple[str, ...], environ: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder."""
    try:
        return run_git(folder, words, environ, timeout_s=_CHECKOUT_S)
    except FileNotFoundError:
        message = "git is not installed, and branches are its business."
        raise NotLaunchedError(message) from None
    except GitError as error:
        raise NotLaunchedError(f"{error}.") from error


def _printed(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what git printed, without the last line end."""
    return os.fsdecode(done.stdout).removesuffix("\n")


@contextmanager
def _one_at_a_time(path: str) -> Iterator[None]:
    """Be the only launch that makes worktrees of a repository, as far as that goes.

    Where no lock can be had, git's own stand between two launches: one is refused.
    """
    lock = KernelLock(path)
    with suppress(OSError):
        make_private_folder(os.path.dirname(path))
        lock.acquire(wait_s=_CHECKOUT_S)
    try:
        yield
    finally:
        lock.release()
