"""Says of a scope without notes that its name may be wrong, and what was meant."""

from __future__ import annotations

import os

from hivemind_memory.model.keys import closest


def nearest_scope(notes: str, scope: str) -> str:
    """Return the scope with notes that is most like one without; empty: none is.

    Args:
        notes: The notes folder.
        scope: Such as ``projects/shpo``; one that has a folder is what was meant.
    """
    folder, _, slug = scope.partition("/")
    if not slug or os.path.isdir(os.path.join(notes, scope)):
        return ""
    try:
        known = os.listdir(os.path.join(notes, folder))
    except OSError:
        return ""
    near = closest(slug, [name for name in known if not name.startswith(".")])
    return f"{folder}/{near[0]}" if near else ""


def scope_notice(notes: str, scope: str | None) -> str:
    """Return which scope was probably meant by one without notes; empty: none.

    For a person: to others the scopes that they do not see do not exist.
    """
    near = nearest_scope(notes, scope) if scope else ""
    return f"{scope} has no notes yet; did you mean {near}?" if near else ""


def workspace_notice(notes: str, workspace: str, *, has_tree: bool) -> str:
    """Return that the name of a workspace may be wrong; empty: it is in use.

    Args:
        notes: The notes folder.
        workspace: Its scope; empty: the caller has none.
        has_tree: config.json lists the workspaces, and another is refused.
    """
    if not workspace or has_tree or os.path.isdir(os.path.join(notes, workspace)):
        return ""
    return f"{workspace} has no notes yet, and config.json lists no workspaces"
