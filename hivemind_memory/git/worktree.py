"""Asks git about a worktree: branch, commits, changed files, origin of the project."""

from __future__ import annotations

import os
import re

from hivemind_memory.errors import GitError
from hivemind_memory.git.repository import complaint_of, value_of
from hivemind_memory.model.value import value
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.git.repository import GitOption, Repository

ORIGIN = "remote.origin.url"
"""The option of git that names where a repository comes from."""

_TIMEOUT_S = 2.0
"""A launch does not wait longer for what only improves the choice of memories."""

_IDENTITY_TIMEOUT_S = 10.0
"""Without the origin, a repository would be taken for another project."""

_MISSING_KEY = 1
"""What ``git config --get`` exits with when there is no such key."""

_DETACHED = "(detached)"
_FIELDS = {"1": 7, "u": 9}
"""What ``git status --porcelain=v2`` tells of a file before its path: changed, and in
conflict."""

_MAX_COMMITS = 8
_SCHEME = lazy_re(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = lazy_re(r"^(?:([^@/]+)@)?(\[[^\]]+\]|[^:/]+):(?!//)(.*)$")
_DEFAULT_PORTS = {"ssh": "22", "https": "443", "http": "80", "git": "9418"}
_SHARED_USERS = ("", "git")
"""The account of a server that hosts the repositories of all its users."""


@value
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


def project_state(
    folder: str,
    repository: Repository | None,
    options: Sequence[GitOption] | None = None,
) -> WorktreeState:
    """Return what identifies a worktree's project; reads none of its files.

    Args:
        folder: The worktree, if it is in no repository.
        repository: Of the worktree.
        options: Options of git, ``ORIGIN`` among them if it is set; None: git is asked.

    Raises:
        GitError: Git failed to report the origin; there may be one.
    """
    if repository is None:
        return WorktreeState(folder=folder)
    return WorktreeState(
        folder=repository.top,
        common_dir=repository.common_dir,
        origin=_origin(repository, options),
    )


def worktree_state(
    folder: str,
    repository: Repository | None,
    options: Sequence[GitOption] | None = None,
) -> WorktreeState:
    """Return the state of a worktree; what git fails to report is left empty.

    Its arguments are those of ``project_state``.
    """
    project = project_state(folder, repository, options)
    if repository is None:
        return project
    branch, changed = _branch_and_changes(repository)
    log = ("log", "-n", str(_MAX_COMMITS), "--no-merges", "--format=%s")
    return WorktreeState(
        folder=project.folder,
        common_dir=project.common_dir,
        origin=project.origin,
        branch=branch,
        subjects=tuple(line for line in _output(repository, *log).split("\n") if line),
        changed=changed,
    )


def _branch_and_changes(repository: Repository) -> tuple[str, tuple[str, ...]]:
    """Return the branch, empty if there is none, and the files that differ."""
    told = _output(
        repository,
        *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z"),
        *("--no-renames", "--untracked-files"),
    )
    if not told:
        # It may have taken too long, where the branch alone is known at once.
        branch = _output(repository, "symbolic-ref", "-q", "--short", "HEAD").strip()
        return branch, ()
    branch, tracked, untracked = "", [], []
    for line in told.split("\0"):
        kind, _, rest = line.partition(" ")
        if kind == "#":
            name, _, text = rest.partition(" ")
            if name == "branch.head" and text != _DETACHED:
                branch = text
        elif kind == "?":
            untracked.append(rest)
        elif kind in _FIELDS:
            tracked.append(rest.split(" ", _FIELDS[kind])[-1])
    # Files in conflict come last there.
    return branch, (*sorted(tracked), *untracked)


def project_identity(state: WorktreeState) -> str:
    """Return what all worktrees of one repository share, and no other has.

    >>> project_identity(
    ...     WorktreeState(folder="/x", origin="git@GitHub.com:Acme/Shop.git")
    ... )
    'github.com/Acme/Shop'
    """
    return origin_identity(state) or state.common_dir or state.folder


def origin_identity(state: WorktreeState) -> str:
    """Return the normalized origin of a worktree; empty: it has none."""
    common = state.common_dir
    base = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return normalise_origin(state.origin, base)


def normalise_origin(url: str, base: str = "/") -> str:
    """Return host and path of a remote, the same however it is written.

    A password, ``.git``, and a port that its scheme implies are dropped. A user is kept
    where the path begins in that user's home folder, except ``git``, the account of all
    users. A path on this machine is absolute, with its links resolved.

    Args:
        url: As configured.
        base: The folder that a relative path begins in: the main worktree.

    >>> normalise_origin("https://ann:key@github.com:443/Acme/Shop.git/")
    'github.com/Acme/Shop'
    >>> normalise_origin("ssh://ann@nas:2222/~/shop"), normalise_origin("ann@nas:shop")
    ('ann@nas:2222/shop', 'ann@nas/shop')
    >>> normalise_origin("../upstream.git", "/code/shop")
    '/code/upstream'
    """
    text = url.strip().rstrip("/").removesuffix("/.git").removesuffix(".git")
    text = text.rstrip("/")
    if not text:
        return ""
    if scheme := _SCHEME.match(text):
        kind = scheme[0].removesuffix("://").lower()
        server, _, path = text[scheme.end() :].partition("/")
        if kind == "file" or not server:  # file:///srv/git/shop, file://localhost/srv
            return _folder(f"/{path}", base)
        login, _, host = server.rpartition("@")
        host = host.lower().removesuffix(f":{_DEFAULT_PORTS.get(kind)}")
        is_home = path.startswith("~/")
        user = login.partition(":")[0] if is_home else ""
        return _remote(user, host, path[2:] if is_home else path)
    scp = _SCP.match(text)
    if scp is None or len(scp[2]) == 1:  # a path; a single letter is a Windows drive
        return _folder(text, base)
    user, host, path = scp[1] or "", scp[2].lower(), scp[3]
    if path.startswith("/"):
        user = ""
    return _remote(user, host, path.removeprefix("~/").lstrip("/"))


def _remote(user: str, host: str, path: str) -> str:
    """Return the identity of a repository on a server."""
    login = "" if user in _SHARED_USERS else f"{user}@"
    return f"{login}{host}/{path}" if path else f"{login}{host}"


def _folder(text: str, base: str) -> str:
    """Return the identity of a repository on this machine.

    Links are resolved where they are: ``shop`` need not exist where ``shop.git`` does.
    """
    if len(text) > 1 and text[1] == ":":  # a Windows drive
        return text
    whole = os.path.join(base, text)
    named = next(filter(os.path.lexists, (whole, f"{whole}.git")), whole)
    return os.path.realpath(named).removesuffix("/.git").removesuffix(".git")


def _origin(repository: Repository, options: Sequence[GitOption] | None) -> str:
    """Return the URL of ``origin`` as configured; empty: there is none.

    Raises:
        GitError: Git failed or took too long.
    """
    if options is not None:
        return value_of(options, ORIGIN).strip()
    words = ("config", "--get", ORIGIN)
    try:
        done = repository.run(*words, timeout_s=_IDENTITY_TIMEOUT_S)
    except GitError as error:
        raise GitError(
            f"git did not name the origin within {_IDENTITY_TIMEOUT_S:g} s.",
            hint="Try again.",
        ) from error
    if done.returncode not in {0, _MISSING_KEY}:
        raise GitError(f"git says: {complaint_of(done)}")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def _output(repository: Repository, *words: str) -> str:
    """Return what git prints; empty if it fails or takes too long."""
    try:
        done = repository.run(*words, timeout_s=_TIMEOUT_S)
    except GitError:
        return ""
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")
