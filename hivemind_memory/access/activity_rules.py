"""Who may find which activity: one pure rule for every command, tool and route.

It is stricter than that of notes. What was said in a session was said to one agent in
one project, so no one finds more than the sessions of the own project; and what has no
project only the person sees whose machine it is.
"""

from __future__ import annotations

from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller


@value
class VisibleActivity:
    """The activity that a caller finds."""

    is_all: bool = False
    projects: frozenset[str] = frozenset()
    """Scopes of projects whose transcripts and rows it finds."""

    workspaces: frozenset[str] = frozenset()
    """Scopes of workspaces whose rows it finds."""

    def has(self, project: str, workspace: str) -> bool:
        """Return whether it finds a row of a project and a workspace; empty: none."""
        return self.is_all or project in self.projects or workspace in self.workspaces


def visible_activity(caller: Caller) -> VisibleActivity:
    """Return what a caller finds.

    The owner finds all. Anyone else finds what is of the own project or workspace;
    who is not root, what is of the own workspace; a visitor, nothing.

    >>> from hivemind_memory.access.rules import Caller
    >>> visible_activity(Caller(project="projects/shop")).has("projects/shop", "")
    True
    >>> visible_activity(Caller(project="projects/shop")).has("", "")
    False
    """
    if not caller.is_member:
        return VisibleActivity()
    if caller.is_owner:
        return VisibleActivity(is_all=True)
    workspaces = frozenset({caller.workspace} - {""})
    if not caller.is_root:
        return VisibleActivity(workspaces=workspaces)
    projects = frozenset({caller.project} - {""})
    return VisibleActivity(projects=projects, workspaces=workspaces)
