"""Refuses a notes folder that is a part of another, to a caller of some scopes.

There a project's notes would be those that everyone sees, whatever names the folder:
an option, a home whose ``memory`` is a link, or a link that is followed.
"""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.errors import ScopeError
from hivemind_memory.files.places import INDEX_FOLDER, notes_folder
from hivemind_memory.model.scope import FOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.files.places import Places


def check_overlap(
    places: Places, links: Mapping[str, str], memory_dir: str | None
) -> None:
    """Raise if notes would be read from a part of another notes folder.

    Args:
        places: Those of the memory.
        links: Links in the notes folder that are followed -> where they lead.
        memory_dir: How ``--memory-dir`` names the notes folder; None: the home's.

    Raises:
        ScopeError: They would.
    """
    own = notes_folder(places.home)
    if other := _overlapping(places.notes, own):
        hint = "Set HIVEMIND_HOME to a folder whose memory leads to no part of it."
        if memory_dir:
            hint = f"Use --memory-dir {other}, or leave it out."
        message = f"{memory_dir or own} overlaps the notes folder {other}."
        raise ScopeError(message, hint=hint)
    for path, target in links.items():
        if other := _overlapping(os.path.realpath(target), own):
            option = f"followed_links.{path}"
            raise ScopeError(
                f"The followed link {path} overlaps the notes folder {other}.",
                hint=f"A person can run `hm config unset {quote(option)}`.",
            )


def _overlapping(notes: str, own: str) -> str:
    """Return a notes folder that contains *notes*, or is in it; empty: none.

    Args:
        notes: A folder of notes, without links.
        own: The notes folder of the home.
    """
    resolved = os.path.realpath(own)
    if notes != resolved and os.path.commonpath((notes, resolved)) in (notes, resolved):
        return resolved
    inner = notes_folder(notes)
    if _has_notes(inner):
        return inner  # it is a home
    # A home is where it was put: only what is a scope's part above it matters.
    is_plain = notes == notes_folder(os.path.realpath(os.path.dirname(own)))
    for above, part in _folders_above(notes):
        if _has_notes(above) and (not is_plain or part in FOLDERS.values()):
            return above
    return ""


def _folders_above(folder: str) -> Iterator[tuple[str, str]]:
    """Yield each folder above, the nearest first, and the name in it on the way."""
    above, name = os.path.split(folder)
    while name:
        yield above, name
        above, name = os.path.split(above)


def _has_notes(folder: str) -> bool:
    """Return whether a folder has the locks of a notes folder."""
    return os.path.lexists(os.path.join(folder, INDEX_FOLDER, "locks"))
