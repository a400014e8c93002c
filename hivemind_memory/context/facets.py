"""The queries made from a worktree: project, branch, commits, files. No I/O.

Each facet is a query of its own. One long query would contain the words of all of
them, and no memory would match more than a few. A memory's score is the sum of what it
is worth to each facet, so the parts explain it.
"""

from __future__ import annotations

from hivemind_memory.git.worktree import project_identity
from hivemind_memory.model.injection import Facet
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.git.worktree import WorktreeState

PROJECT = "project"
"""Name of the facet that asks for the project by its name."""

FOLDER = "folder"
"""Name of the facet that asks for the worktree's folder by its name."""

COMMIT = "commit"
"""Name of a facet that asks for what a commit says."""

PROJECT_WEIGHT = 1.0
BRANCH_WEIGHT = 0.8
FOLDER_WEIGHT = 0.4
FILES_WEIGHT = 0.6
COMMIT_WEIGHT = 0.4

_MAX_COMMITS = 4
_MAX_FILES = 8
_COMMON_BRANCHES = frozenset({"main", "master", "trunk", "develop", "HEAD", ""})
_SEPARATORS = lazy_re(r"[/_.\-]+")
# The part of a commit's subject that names its kind: `fix(api): `, `Merge branch `.
_KIND = lazy_re(r"^(?:\w+(?:\([^)]*\))?!?:\s+|Merge (?:branch|pull request) )")


def facets_of(state: WorktreeState) -> tuple[Facet, ...]:
    """Return the queries by descending weight, none empty and none repeated."""
    identity = project_identity(state).removesuffix("/.git").removesuffix(".git")
    name = identity.rpartition("/")[2]
    # The folder of a linked worktree often names the task, the project's name apart.
    top = state.folder.rstrip("/")
    folder = top.rpartition("/")[2]
    project = _words(name)
    facets = [Facet(name=PROJECT, text=project, weight=PROJECT_WEIGHT, is_name=True)]
    if folder != name:
        is_linked = bool(state.common_dir) and state.common_dir != f"{top}/.git"
        facets.append(
            Facet(
                name=FOLDER,
                text=_words(folder),
                weight=FOLDER_WEIGHT,
                is_name=not is_linked,
            )
        )
    if state.branch not in _COMMON_BRANCHES:
        branch = _words(state.branch)
        facets.append(Facet(name="branch", text=branch, weight=BRANCH_WEIGHT))
    stems = dict.fromkeys(_stem(path) for path in state.changed[:_MAX_FILES])
    facets.append(Facet(name="files", text=" ".join(stems), weight=FILES_WEIGHT))
    facets += [
        Facet(name=COMMIT, text=_KIND.sub("", subject), weight=COMMIT_WEIGHT)
        for subject in state.subjects[:_MAX_COMMITS]
    ]
    first = {facet.text: facet for facet in reversed(facets) if facet.text.strip()}
    return tuple(facet for facet in facets if first.get(facet.text) is facet)


def _words(name: str) -> str:
    """Return the parts of a name as words."""
    return _SEPARATORS.sub(" ", name).strip()


def _stem(path: str) -> str:
    """Return a file's name without its suffix, as words."""
    name = path.rstrip("/").rpartition("/")[2]
    return _words(name.rpartition(".")[0] or name)
