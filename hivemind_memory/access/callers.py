"""Makes the caller of a process from the scopes that it was started with.

Scopes are named once, when a session starts. The tree of workspaces in ``config.json``
adds what follows from them: the teams of a workspace, and whether it may write to the
global memory.
"""

from __future__ import annotations

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.errors import ProjectUnknownError, ScopeError
from hivemind_memory.model.scope import make_scope
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


AUTO, NONE = "auto", "none"


@value
class ScopeRequest:
    """The scopes that a process was started with; empty: none."""

    workspace: str = ""
    teams: tuple[str, ...] = ()
    project: str = ""
    """Name of a project; ``auto``: that of the current folder; ``none``."""

    is_agent: bool = False
    """An agent uses it: it sees no more than its scopes, even if there are none."""

    is_read_only: bool = False
    """It may change nothing."""

    is_typed_by_owner: bool = False
    """Whoever sees the whole memory named them, and reads what is wrong with them."""


def caller_of(
    scope_request: ScopeRequest,
    *,
    workspaces: Mapping[str, object],
    find_project: Callable[[], str],
) -> Caller:
    """Return the caller for the scopes that a process was started with.

    Args:
        scope_request: The scopes.
        workspaces: The checked option ``workspaces``.
        find_project: Returns the name of the project of the current folder; called for
            ``auto`` only.

    Raises:
        ScopeError: A name cannot be that of a scope, or the workspace is not in a tree
            that is not empty.
    """
    name = scope_request.workspace
    has_scopes = name or scope_request.teams or scope_request.project
    if not scope_request.is_agent and not has_scopes:
        return OWNER
    if name and workspaces:
        check_workspace(name, workspaces, scope_request)
    teams = (*scope_request.teams, *teams_of(name, workspaces))
    project = scope_request.project
    problem = ""
    if project == AUTO:
        try:
            project = find_project()
        except ProjectUnknownError as error:
            # It reads what anyone may read; a write without a scope is refused.
            project, problem = "", str(error)
    elif project == NONE:
        project = ""
    return Caller(
        workspace=_scope("workspace", name),
        teams=tuple(make_scope("team", team) for team in dict.fromkeys(teams)),
        project=_scope("project", project),
        is_root=not _parent_of(name, workspaces),
        is_agent=scope_request.is_agent,
        is_read_only=scope_request.is_read_only,
        project_problem=problem,
    )


def check_workspace(
    name: str, workspaces: Mapping[str, object], scope_request: ScopeRequest
) -> None:
    """Raise if a workspace is not in the tree: it must not get the rights of a root.

    Whoever sees the whole memory learns which there are and how to add one; see
    decision 031.

    Raises:
        ScopeError: It is neither listed nor a parent.
    """
    known = {
        *workspaces,
        *(_parent_of(workspace, workspaces) for workspace in workspaces),
    } - {""}
    if name in known:
        return
    make_scope("workspace", name)
    problem = f"There is no workspace {name!r} in config.json."
    if scope_request.is_agent:
        raise ScopeError(problem, hint="Ask a person to correct the name or to add it.")
    if not scope_request.is_typed_by_owner:
        raise ScopeError(
            problem,
            hint="Correct the name. `hm config get workspaces` lists them"
            " once HIVEMIND_WORKSPACE, HIVEMIND_TEAM and HIVEMIND_PROJECT are unset.",
        )
    from json import dumps
    from shlex import quote

    root = min(
        known_name for known_name in known if not _parent_of(known_name, workspaces)
    )
    option, value = f"workspaces.{name}", dumps({"parent": root})
    raise ScopeError(
        problem,
        hint=f"Known: {', '.join(sorted(known))}."
        f" `hm config set {quote(option)} {quote(value)}` adds it.",
    )


def check_not_wider(asked: Caller, limit: Caller) -> None:
    """Raise if a caller would have a scope, or a right, that the shell does not have.

    The sentence names only what was asked for.

    Args:
        asked: The caller of what is about to start.
        limit: What the variables of the shell name.

    Raises:
        ScopeError: It would.
    """
    wider = (asked.scopes or frozenset()) - (limit.scopes or frozenset())
    if not wider and (limit.is_root or not asked.is_root):
        return
    # The teams of a workspace are not named: they follow from what it may not see.
    own = [scope for scope in (asked.workspace, asked.project) if scope in wider]
    what = ", ".join(own or sorted(wider)) or "the rights of a root workspace"
    raise ScopeError(
        "HIVEMIND_WORKSPACE, HIVEMIND_TEAM and HIVEMIND_PROJECT limit this shell, so"
        f" nothing that starts here may have {what}.",
        hint="Leave the option out, or ask a person to start it in a shell without"
        " these variables.",
    )


def teams_of(name: str, workspaces: Mapping[str, object]) -> tuple[str, ...]:
    """Return the teams of a workspace: its parent's, its own, and those listed.

    A workspace with children has a team of its name, with itself and each child in it.
    The first is what ``team`` alone means.

    >>> tree = {"web": {"parent": "office"}, "ui": {"parent": "web", "teams": ["red"]}}
    >>> teams_of("office", tree), teams_of("web", tree), teams_of("ui", tree)
    (('office',), ('office', 'web'), ('web', 'red'))
    """
    parent = _parent_of(name, workspaces)
    parents = {_parent_of(listed, workspaces) for listed in workspaces}
    workspace = workspaces.get(name)
    listed = workspace.get("teams", ()) if isinstance(workspace, dict) else ()
    derived = (parent, name if name in parents else "")
    return tuple(dict.fromkeys(team for team in (*derived, *listed) if team))


def _parent_of(name: str, workspaces: Mapping[str, object]) -> str:
    """Return the parent of a workspace; empty: it has none."""
    workspace = workspaces.get(name)
    return str(workspace.get("parent") or "") if isinstance(workspace, dict) else ""


def _scope(kind: str, slug: str) -> str:
    """Return the scope of a name; empty for no name."""
    return make_scope(kind, slug) if slug else ""
