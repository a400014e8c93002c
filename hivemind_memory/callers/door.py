"""What a door was opened with, and the caller that it stands for. Pure.

A door names its scopes once, when it opens. The tree of workspaces in ``config.json``
adds what follows from them: the teams of a workspace, and whether it is on the root
side.
"""

from __future__ import annotations

from hivemind_memory.callers.project import slug_of_identity
from hivemind_memory.model.access import OWNER, Caller
from hivemind_memory.model.scope import make_scope
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@value
class Door:
    """What somebody opened a door with; empty: nothing."""

    workspace: str = ""
    teams: tuple[str, ...] = ()
    project: str = ""
    """Name of a project, or ``auto``: that of the folder in which the door opens."""

    is_agent: bool = False
    """An agent comes in here: it never sees more than its scopes."""


AUTO, NONE = "auto", "none"


def caller_of(
    door: Door,
    *,
    projects: Mapping[str, object],
    workspaces: Mapping[str, object],
    identity: Callable[[], str],
) -> Caller:
    """Return who comes in through a door.

    Args:
        door: What it was opened with.
        projects: The checked option ``projects``.
        workspaces: The checked option ``workspaces``.
        identity: Returns the identity of the project where the door opens; asked only
            for ``auto``.

    Raises:
        ScopeError: A name cannot be one of a scope.
    """
    if not (door.is_agent or door.workspace or door.teams or door.project):
        return OWNER
    workspace = workspaces.get(door.workspace)
    teams, is_root = door.teams, True
    if isinstance(workspace, dict):
        teams = (*teams, *workspace.get("teams", ()))
        is_root = not workspace.get("parent")
    project = door.project
    if project == AUTO:
        project = slug_of_identity(identity(), projects)
    elif project == NONE:
        project = ""
    return Caller(
        workspace=_scope("workspace", door.workspace),
        teams=tuple(make_scope("team", team) for team in dict.fromkeys(teams)),
        project=_scope("project", project),
        is_root=is_root,
    )


def _scope(kind: str, slug: str) -> str:
    """Return the scope of a name; of no name, none."""
    return make_scope(kind, slug) if slug else ""
