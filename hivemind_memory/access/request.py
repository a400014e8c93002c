"""The scopes that a caller asks for, and the caller that results.

Scopes are named once, when a session starts. The tree of workspaces in ``config.json``
adds what follows from them: the teams of a workspace, and whether it may write to the
global memory. A project's folder is named after the identity of its repository.
"""

from __future__ import annotations

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.model.scope import make_scope
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


AUTO, NONE = "auto", "none"
SEPARATOR = "--"
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_LONGEST = 80
_DIGITS = 8


@value
class ScopeRequest:
    """What somebody opened a door with; empty: nothing."""

    workspace: str = ""
    teams: tuple[str, ...] = ()
    project: str = ""
    """Name of a project, or ``auto``: that of the folder in which the door opens."""

    is_agent: bool = False
    """An agent comes in here: it never sees more than its scopes."""


def caller_of(
    scope_request: ScopeRequest,
    *,
    workspaces: Mapping[str, object],
    find_project: Callable[[], str],
) -> Caller:
    """Return who comes in through a door.

    Args:
        scope_request: What it was opened with.
        workspaces: The checked option ``workspaces``.
        find_project: Returns the name of the project where the door opens; called only
            for ``auto``.

    Raises:
        ScopeError: A name cannot be one of a scope.
    """
    if not (
        scope_request.is_agent
        or scope_request.workspace
        or scope_request.teams
        or scope_request.project
    ):
        return OWNER
    workspace = workspaces.get(scope_request.workspace)
    teams, is_root = scope_request.teams, True
    if isinstance(workspace, dict):
        teams = (*teams, *workspace.get("teams", ()))
        is_root = not workspace.get("parent")
    project = scope_request.project
    if project == AUTO:
        project = find_project()
    elif project == NONE:
        project = ""
    return Caller(
        workspace=_scope("workspace", scope_request.workspace),
        teams=tuple(make_scope("team", team) for team in dict.fromkeys(teams)),
        project=_scope("project", project),
        is_root=is_root,
    )


def _scope(kind: str, slug: str) -> str:
    """Return the scope of a name; of no name, none."""
    return make_scope(kind, slug) if slug else ""


def slug_of_identity(identity: str, projects: Mapping[str, object]) -> str:
    """Return the folder of a project, from what all its worktrees share.

    That of ``projects`` in config.json if one has the identity; else the identity
    itself, as a name that a folder may have.

    Args:
        identity: A normalised origin, or a folder on this machine; empty: no project.
        projects: Slug -> ``{"identity": …}``.

    >>> slug_of_identity("github.com/Acme/Shop", {})
    'github.com--acme--shop'
    """
    if not identity:
        return ""
    for slug, project in projects.items():
        if isinstance(project, dict) and project.get("identity") == identity:
            return slug
    parts = identity.casefold().split("/")
    if not identity.startswith("/") and all(map(_is_plain, parts)):
        slug = SEPARATOR.join(parts)
        if len(slug) <= _LONGEST:
            return slug
    # A path is this machine's own, and odd names could meet in one folder: the last
    # part is there to be read, the digits tell the project from all others.
    named = identity.casefold().removesuffix("/.git").rstrip("/").rpartition("/")[2]
    readable = "".join(one if one in _SAFE else "-" for one in named).strip(".-_")
    from hashlib import sha256

    digest = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{readable[:_LONGEST] or 'project'}-{digest}"


def _is_plain(part: str) -> bool:
    """Whether no other part would become the same text."""
    is_safe = bool(part) and _SAFE.issuperset(part)
    return is_safe and SEPARATOR not in part and part == part.strip(".-")
