"""The path of a note. Apart from ``note``, because every search needs only this."""

from __future__ import annotations


class NotePath(str):
    """A note's place relative to the notes folder, with forward slashes.

    Made only by ``files.paths.parse_note_path`` (from outside) and by the listing of
    the folder (from inside), so it need not be checked again.
    """

    __slots__ = ()


GLOBAL_NOTE = NotePath("global.md")
"""The global note that every agent is shown, and the one you edit first."""
