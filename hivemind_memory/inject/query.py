"""From what a worktree is to the questions that its section answers. No I/O.

Each facet is a question of its own. One long question would hold the words of all of
them, and then no memory would have more than a few of its words; a memory's score is
the sum of what it is worth to each facet, so the parts explain it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hivemind_memory.inject.outcomes import Facet

PROJECT_WEIGHT = 1.0
BRANCH_WEIGHT = 0.8
FOLDER_WEIGHT = 0.4
FILES_WEIGHT = 0.6
COMMIT_WEIGHT = 0.4

_MOST_COMMITS = 4
_MOST_FILES = 8
_COMMON_BRANCHES = frozenset({"main", "master", "trunk", "develop", "HEAD", ""})
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^@/]+@)?(\[[^\]]+\]|[^:/]+):(?!//)(.*)$")
_SEPARATORS = re.compile(r"[/_.\-]+")
# What a commit's subject says of its kind and not of its matter.
_KIND = re.compile(r"^(?:\w+(?:\([^)]*\))?!?:\s+|Merge (?:branch|pull request) )")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeState:
    """What git tells about a worktree; all but the folder may be empty."""

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

    User, password, port and ``.git`` are left out; a path on this machine stays.

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
        return f"{_without_port(host)}/{path}" if path else _without_port(host)
    scp = _SCP.match(text)
    if scp is None or len(scp[1]) == 1:  # a path; one letter is a drive of Windows
        return text
    return f"{scp[1].lower()}/{scp[2].lstrip('/')}"


def facets_of(state: WorktreeState) -> tuple[Facet, ...]:
    """Return the questions, the weightiest first, none empty, none twice."""
    identity = project_identity(state).removesuffix("/.git").removesuffix(".git")
    name = identity.rpartition("/")[2]
    # A linked worktree's folder often names the task, and the project's name is apart.
    folder = state.folder.rstrip("/").rpartition("/")[2]
    facets = [Facet(name="project", text=_words(name), weight=PROJECT_WEIGHT)]
    if folder != name:
        facets.append(Facet(name="folder", text=_words(folder), weight=FOLDER_WEIGHT))
    if state.branch not in _COMMON_BRANCHES:
        branch = _words(state.branch)
        facets.append(Facet(name="branch", text=branch, weight=BRANCH_WEIGHT))
    stems = dict.fromkeys(_stem(path) for path in state.changed[:_MOST_FILES])
    facets.append(Facet(name="files", text=" ".join(stems), weight=FILES_WEIGHT))
    facets += [
        Facet(name="commit", text=_KIND.sub("", subject), weight=COMMIT_WEIGHT)
        for subject in state.subjects[:_MOST_COMMITS]
    ]
    first = {facet.text: facet for facet in reversed(facets) if facet.text.strip()}
    return tuple(facet for facet in facets if first.get(facet.text) is facet)


def _words(name: str) -> str:
    """Return the parts of a name as words."""
    return _SEPARATORS.sub(" ", name).strip()


def _stem(path: str) -> str:
    """Return a file's name without its ending, in words."""
    name = path.rstrip("/").rpartition("/")[2]
    return _words(name.rpartition(".")[0] or name)


def _without_port(host: str) -> str:
    """Return a host in small letters, its port left out."""
    return re.sub(r":\d+$", "", host).lower()
