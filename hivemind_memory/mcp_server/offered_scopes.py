"""Offers a model the scopes that it has, and no others.

The schemas name ``global`` and ``project``. A server, or a named token, that has a
workspace or a team adds them; the memory judges the argument in any case.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

ALWAYS = ("global", "project")
"""What every agent may name."""


def offer_scopes(tools: Sequence[dict[str, Any]], more: Sequence[str]) -> None:
    """Add scopes to the values that tools offer for their argument ``scope``.

    Args:
        tools: As a list of tools has them; changed in place.
        more: Kinds of scopes besides those that every agent has.
    """
    for tool in tools if more else ():
        argument = tool["inputSchema"]["properties"].get("scope")
        if argument is not None:
            argument["enum"] = list(dict.fromkeys((*argument["enum"], *more)))


def kinds_of(
    workspace: str, teams: Sequence[str], *, has_tree: bool
) -> tuple[str, ...]:
    """Return the kinds of scopes that come with a workspace and teams.

    A workspace of a tree is in teams without being told so.

    >>> kinds_of("", ("red",), has_tree=False), kinds_of("a", (), has_tree=True)
    (('team',), ('team', 'workspace'))
    """
    has_team = bool(teams) or (bool(workspace) and has_tree)
    return (*(("team",) if has_team else ()), *(("workspace",) if workspace else ()))
