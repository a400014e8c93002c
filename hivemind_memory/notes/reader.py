"""A note's bytes with all that proves which bytes they are.

Apart from ``folder``, which every search loads: only a changed note is read.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import Stamp
    from hivemind_memory.notes.folder import NotesFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNote:
    """What one reading of a note brought."""

    data: bytes
    stamp: Stamp
    """Of these bytes, never of later ones."""

    digest: str
    """SHA-256 of the bytes, hexadecimal."""


def read_note(folder: NotesFolder, path: NotePath) -> ReadNote:
    """Read one note, as ``NotesFolder.read`` does, and compute its digest."""
    data, stamp = folder.read(path)
    return ReadNote(data=data, stamp=stamp, digest=digest_of(data))


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of *data*, hexadecimal."""
    return hashlib.sha256(data).hexdigest()
