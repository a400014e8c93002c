"""Finds the worktree in which an agent is to work, or creates it."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from hivemind_memory.errors import GitError, NotLaunchedError, UsageError
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.git.repository import complaint_of, find_repository, run_git
from hivemind_memory.launch.session_names import digest, label_of, root_of, slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping

_CHECKOUT_S = 600.0
_HEADS = "refs/heads/"
_ODD = frozenset(("HEAD", "@"))
"""What git takes for the commit that is checked out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchLocation:
    """Where an agent works."""

    folder: str
    """Where it starts."""

    worktree: str
    """The worktree around that, or the folder itself; links resolved."""

    label: str
    """A readable name."""

    is_new: bool = False
    """It was created for this launch."""


def locate_folder(folder: str, environ: Mapping[str, str]) -> LaunchLocation:
    """Return the location of a folder.

    Raises:
        UsageError: The folder does not exist.
    """
    start = os.path.realpath(os.path.expanduser(folder))
    if not folder or not os.path.isdir(start):
        message = f"{folder!r} is not a folder; no agent was started."
        raise UsageError(message, hint="--branch NAME creates a worktree for a branch.")
    try:
        repository = find_repository(start, environ)
    except GitError:  # a repository that git refuses to use
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
    """Return the worktree in which a branch is checked out; create it if necessary.

    It is created next to the repository: on the same disk, easy to find, and outside
    every other worktree, where tools would search it twice. A new branch starts at the
    branch of the only remote that has one of that name, else at HEAD.

    Args:
        folder: Any folder of the repository.
        branch: Its name, without ``refs/heads/``.
        environ: For git.
        locks: Folder for locks.

    Raises:
        UsageError: The name is not valid, or there is no repository.
        NotLaunchedError: git failed.
    """
    common_dir = _common_dir(folder, environ)
    check = ("check-ref-format", _HEADS + branch)
    if branch.startswith("-") or _git(folder, check, environ).returncode:
        raise UsageError(f"{branch!r} is not a branch name; no agent was started.")
    if branch in _ODD or branch.startswith("refs/"):
        raise UsageError(
            f"{branch!r} has another meaning to git; no agent was started.",
            hint="Give the name of a branch without refs/heads/.",
        )
    # Of two launches for one new branch, the second waits and finds it.
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
        raise UsageError(message, hint="Run this inside the repository.")
    return os.path.realpath(os.path.join(folder, _printed(done)))


def _worktree_with(folder: str, branch: str, environ: Mapping[str, str]) -> str | None:
    """Return the worktree in which a branch is checked out, if there is one."""
    words, end = ("worktree", "list", "--porcelain"), "\0"
    done = _git(folder, (*words, "-z"), environ)
    if done.returncode:  # before git 2.36; only a folder with a newline needs -z
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
    """Create a worktree for a branch, and the branch if necessary."""
    path = os.path.join(f"{root}.worktrees", slug(branch))
    if os.path.lexists(path):  # of another branch with the same slug
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
        message = f"No worktree was created for {branch}: {complaint_of(done)}."
        hint = "See `git worktree list`; `git worktree prune` forgets deleted ones."
        raise NotLaunchedError(message, hint=hint)
    return locate_folder(path, environ)


def _remote_branch(folder: str, branch: str, environ: Mapping[str, str]) -> str:
    """Return the only remote branch of that name; empty if none or several exist."""
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
        message = "git is not installed; --branch needs it."
        raise NotLaunchedError(message) from None
    except GitError as error:
        raise NotLaunchedError(f"{error}.") from error


def _printed(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what git printed, without the last newline."""
    return os.fsdecode(done.stdout).removesuffix("\n")


@contextmanager
def _one_at_a_time(path: str) -> Iterator[None]:
    """Be the only launch that creates worktrees of a repository.

    Without a lock, git's own locks still make one of two launches fail.
    """
    lock = KernelLock(path)
    with suppress(OSError):
        make_private_folder(os.path.dirname(path))
        lock.acquire(wait_s=_CHECKOUT_S)
    try:
        yield
    finally:
        lock.release()
