"""How the rows of ``state.db`` name the notes folder that they belong to."""

from __future__ import annotations

SCOPE_NAMES = "tombstone_scopes"
"""Key of ``meta`` for the scopes that earlier versions renamed, in every folder."""

EVERY_FOLDER = "*"
"""In place of a notes folder: of a row from before its folder was kept."""


def scope_names_key(notes: str) -> str:
    """Return the key of ``meta`` for the renamed scopes of a notes folder."""
    return f"{SCOPE_NAMES}:{notes}"
