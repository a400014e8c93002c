"""Finds names of private projects in config.json that are those of no project."""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.errors import ProjectUnknownError
from hivemind_memory.model.keys import closest
from hivemind_memory.model.results import Finding
from hivemind_memory.model.scope import FOLDERS
from hivemind_memory.projects.known_project import listed_projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_ABOVE = FOLDERS["project"]
_VALUE = '{"visibility": "private"}'


def private_name_findings(
    notes: str, private: Collection[str], configured: Collection[str]
) -> Iterator[Finding]:
    """Yield which private projects have no folder: misspelt, renamed or yet to come.

    Args:
        notes: The notes folder.
        private: The scopes that config.json says are private.
        configured: The names of all projects that it says something of.
    """
    try:
        names = listed_projects(os.path.join(notes, _ABOVE))
    except ProjectUnknownError:
        return  # the finding on the notes says that it cannot be read
    for scope in sorted(private):
        name = scope.removeprefix(f"{_ABOVE}/")
        if name in names:
            continue
        near = closest(name, (other for other in names if other not in configured))
        hint = "`hm project list` lists them."
        if near:
            option = quote(f"projects.{near[0]}")
            hint = f"If {near[0]} is meant: `hm config set {option} {quote(_VALUE)}`."
        yield Finding(
            name="private projects",
            is_ok=not near,
            detail=f"config.json says that {name} is private, and there is no {scope};"
            " a project of another name is not private by that",
            hint=hint,
        )
