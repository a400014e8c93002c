"""Reads notes for the index: their bytes, and the signature and digest of these.

Only a sync that finds a change comes here; a search of an unchanged folder does not.
"""

from __future__ import annotations

from hivemind_memory.files.digests import sha256_hex
from hivemind_memory.files.errors import read_error
from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from hivemind_memory.files.descriptors import OpenFolder
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


class ReadNote(NamedTuple):
    """What one reading of a note brought."""

    data: bytes
    signature: FileSignature
    """Of these bytes, never of later ones."""

    digest: str
    """SHA-256 of the bytes, hexadecimal."""


class NoteReader:
    """Reads one note after the other, and opens each folder once for its notes.

    Holds the folder of the last note open: use it with ``with``, and not for long. What
    is renamed meanwhile is read where it is now, with a signature in which the next
    scan finds a change.
    """

    __slots__ = ("_folder", "_parent", "_parent_path")

    def __init__(self, folder: NotesFolder) -> None:
        self._folder = folder
        self._parent: OpenFolder | None = None
        self._parent_path = ""

    def read(self, path: NotePath) -> ReadNote:
        """Read one note, as ``NotesFolder.read`` does, with its digest.

        Raises:
            NoteNotFoundError: There is no such note.
            NotePathError: A link or something else that is not a regular file is there.
            NoteUnreadableError: It cannot be read now, or is too large.
        """
        data, signature = self._folder.read(
            path, max_bytes=self._folder.max_note_bytes, parent=self._parent_of(path)
        )
        return ReadNote(data=data, signature=signature, digest=digest_of(data))

    def close(self) -> None:
        """Close the folder that is held open."""
        if self._parent is not None:
            self._parent.close()
            self._parent = None

    def _parent_of(self, path: NotePath) -> OpenFolder:
        """Return the folder of a note, held open until another one is asked for."""
        parent_path = path.rpartition("/")[0]
        if self._parent is None or parent_path != self._parent_path:
            self.close()
            try:
                self._parent = self._folder.open_parent(path, is_read=True)
            except OSError as error:
                raise read_error(path, error) from error
            self._parent_path = parent_path
        return self._parent

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_note(folder: NotesFolder, path: NotePath) -> ReadNote:
    """Read one note; see ``NoteReader.read``."""
    with NoteReader(folder) as reader:
        return reader.read(path)


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of *data*, hexadecimal."""
    return sha256_hex(data)
