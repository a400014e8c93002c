"""Refuses a name that could as well mean a memory of another scope."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.curation.lookup import own_scope, rows_named
from hivemind_memory.curation.without_secrets import masked
from hivemind_memory.errors import UsageError
from hivemind_memory.model.scope import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex

_MAX_NAMED = 5
"""Paths that an error names, at most."""


def check_certain(
    context: CurationContext,
    index: MemoryIndex,
    ref: str,
    row: MemoryRow,
    *,
    near: str = "",
    effect: str = "",
) -> None:
    """Raise if a name could as well mean a memory of another scope.

    Args:
        context: Of the caller.
        index: Up to date.
        ref: An id, a key or a path.
        row: What ``find_memory`` found for it in all scopes.
        near: The scope that comes first.
        effect: What was not done, for the error.

    Raises:
        UsageError: Its key is in several scopes, and none comes first.
    """
    named = rows_named(index, ref.strip(), context.caller.scopes)
    same = [target for target in named if target.status == row.status]
    scopes = {target.scope for target in same}
    teams = scopes.intersection(context.caller.teams)
    if len(scopes) < 2 or teams == {row.scope}:
        return
    if row.scope not in {near, own_scope(context), GLOBAL}:
        raise several_scopes(row.key or ref, same, effect=effect)


def several_scopes(
    key: str, rows: Iterable[MemoryRow], *, effect: str = ""
) -> UsageError:
    """Return the error that several scopes have a key: which, and how to name one."""
    paths = {row.scope: row.path for row in sorted(rows, key=lambda row: row.path)}
    *others, last = (
        quote(masked(paths[scope])) for scope in sorted(paths)[:_MAX_NAMED]
    )
    return UsageError(
        f"The key {masked(key)!r} is in several scopes:"
        f" {', '.join(scope or 'global' for scope in sorted(paths))}.",
        hint=f"Name one by its path: {', '.join(others)} or {last}.",
        effect=effect,
    )
