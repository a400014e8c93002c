"""One note, held open to append to it and to undo the append.

Knows bytes, and nothing of entries or of the journal. Raises ``OSError``.
"""

from __future__ import annotations

import errno
import os
import stat

from hivemind_memory.files import descriptors
from hivemind_memory.files.descriptors import OpenFolder, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


class OpenNote:
    """One note, held open to append to it. Close it."""

    __slots__ = ("_fd", "_name", "_parent", "_written", "is_created", "start")

    def __init__(self, parent: OpenFolder, path: NotePath, flags: int) -> None:
        self._parent = parent
        self._name = path.rpartition("/")[2]
        self._written = 0
        self.start = -1
        """Where the appended bytes begin; -1 before anything was appended."""
        self.is_created = flags == descriptors.CREATE
        try:
            self._fd = parent.open_file(self._name, flags)
        except BaseException:
            parent.close()
            raise

    @classmethod
    def find(cls, folder: NotesFolder, path: NotePath) -> OpenNote | None:
        """Open the note at *path*, or return None where there is none."""
        try:
            return cls(folder.open_parent(path), path, descriptors.APPEND)
        except FileNotFoundError:
            return None

    @classmethod
    def create(cls, folder: NotesFolder, path: NotePath, made: list[str]) -> OpenNote:
        """Make the note at *path*, 0600; folders that had to be made join *made*.

        Raises:
            FileExistsError: Somebody was faster.
        """
        return cls(folder.open_parent(path, made=made), path, descriptors.CREATE)

    def close(self) -> None:
        """Let go of the note."""
        os.close(self._fd)
        self._parent.close()

    def mode(self) -> int:
        """Return the permission bits of the note."""
        return stat.S_IMODE(os.fstat(self._fd).st_mode)

    def read(self) -> bytes:
        """Return all bytes of the note."""
        return descriptors.read_at(self._fd, 0, os.fstat(self._fd).st_size)

    def stamp(self) -> FileSignature:
        """Return the stamp of the open file."""
        return stamp_of(os.fstat(self._fd))

    def append(self, data: bytes) -> None:
        """Write *data* at the end; on an error ``rollback`` undoes what was done."""
        rest = memoryview(data)
        while rest:
            count = os.write(self._fd, rest)
            self._written += count
            start = os.lseek(self._fd, 0, os.SEEK_CUR) - self._written
            if self.start < 0:
                self.start = start
            elif start != self.start:
                message = "another program wrote into the entry"
                raise OSError(errno.EBUSY, message)
            rest = rest[count:]

    def sync(self) -> None:
        """Wait until the note is on the disk, and its name if that is new."""
        descriptors.sync_file(self._fd)
        if self.is_created:
            self._parent.sync()

    def is_in_place(self, data: bytes) -> bool:
        """Tell whether the note of this name is still this file and holds *data*.

        An editor that saves by renaming, or from the start of the file, may have done
        so between our opening and our writing.
        """
        own = os.fstat(self._fd)
        try:
            named = self._parent.status(self._name)
        except FileNotFoundError:
            return False
        if (named.st_dev, named.st_ino) != (own.st_dev, own.st_ino):
            return False
        return descriptors.read_at(self._fd, self.start, len(data)) == data

    def cut(self, size: int) -> None:
        """Cut the note off after *size* bytes, synced."""
        os.ftruncate(self._fd, size)
        descriptors.sync_file(self._fd)

    def rollback(self, data: bytes) -> bool:
        """Undo ``append`` and the creation; tell whether nothing of it is left.

        Text that another program has put behind ours is never cut off.
        """
        try:
            if self._written:
                start = os.fstat(self._fd).st_size - self._written
                tail = descriptors.read_at(self._fd, start, self._written)
                if self.start not in (-1, start) or not data.startswith(tail):
                    return False
                self.cut(start)
            if self.is_created:
                self.remove_if_empty()
        except OSError:
            return False
        return True

    def remove_if_empty(self) -> None:
        """Remove the note if it holds nothing and still is this file."""
        own, named = os.fstat(self._fd), self._parent.status(self._name)
        is_ours = (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)
        if is_ours and not own.st_size:
            self._parent.unlink(self._name)
            self._parent.sync()
