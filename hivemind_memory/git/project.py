"""What git knows about a worktree and about the project it belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hivemind_memory.errors import GitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.git.repository import Repository

_TIMEOUT_S = 2.0
"""A launch does not wait longer for what only improves the choice of memories."""

_MAX_COMMITS = 8
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^@/]+@)?(\[[^\]]+\]|[^:/]+):(?!//)(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeState:
    """What git reports about a worktree; everything but the folder may be empty."""

    folder: str
    """Its absolute path."""

    common_dir: str = ""
    """The git folder that all worktrees of the repository share."""

    origin: str = ""
    """URL of the remote ``origin``, as configured."""

    branch: str = ""
    subjects: tuple[str, ...] = ()
    """First lines of the newest commits, newest first."""

    changed: tuple[str, ...] = ()
    """Files that differ from the last commit, relative to the worktree."""


def project_state(folder: str, repository: Repository | None) -> WorktreeState:
    """Return what identifies a worktree's project; reads none of its files."""
    if repository is None:
        return WorktreeState(folder=folder)
    return WorktreeState(
        folder=repository.top,
        common_dir=repository.common_dir,
        origin=_output(repository, "config", "--get", "remote.origin.url").strip(),
    )


def worktree_state(folder: str, repository: Repository | None) -> WorktreeState:
    """Return the state of a worktree; what git fails to report is left empty."""
    project = project_state(folder, repository)
    if repository is None:
        return project
    changed = _output(
        repository, "status", "--porcelain", "-z", "--no-renames", "--untracked-files"
    ).split("\0")
    log = ("log", "-n", str(_MAX_COMMITS), "--no-merges", "--format=%s")
    return WorktreeState(
        folder=project.folder,
        common_dir=project.common_dir,
        origin=project.origin,
        branch=_output(repository, "symbolic-ref", "-q", "--short", "HEAD").strip(),
        subjects=tuple(line for line in _output(repository, *log).split("\n") if line),
        changed=tuple(line[3:] for line in changed if len(line) > 3),
    )


def project_identity(state: WorktreeState) -> str:
    """Return what all worktrees of one repository share, and no other has.

    >>> project_identity(
    ...     WorktreeState(folder="/x", origin="git@GitHub.com:Acme/Shop.git")
    ... )
    'github.com/Acme/Shop'
    """
    return normalise_origin(state.origin) or state.common_dir or state.folder


def normalise_origin(url: str) -> str:
    """Return host and path of a remote, the same however it is written.

    User, password, port and ``.git`` are dropped; a path on this machine is kept.

    >>> normalise_origin("https://ann:key@github.com:443/Acme/Shop.git/")
    'github.com/Acme/Shop'
    """
    text = url.strip().rstrip("/").removesuffix(".git").rstrip("/")
    if not text:
        return ""
    if _SCHEME.match(text):
        host, _, path = _SCHEME.sub("", text).partition("/")
        host = host.rpartition("@")[2]
        if not host:  # file:///srv/git/shop
            return f"/{path}"
        host = re.sub(r":\d+$", "", host).lower()
        return f"{host}/{path}" if path else host
    scp = _SCP.match(text)
    if scp is None or len(scp[1]) == 1:  # a path; a single letter is a Windows drive
        return text
    return f"{scp[1].lower()}/{scp[2].lstrip('/')}"


def _output(repository: Repository, *words: str) -> str:
    """Return what git prints; empty if it fails or takes too long."""
    try:
        done = repository.run(*words, timeout_s=_TIMEOUT_S)
    except GitError:
        return ""
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")
