"""The members of an archive while it is written, none of them whole in memory."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from typing import IO, TYPE_CHECKING, cast

from hivemind_memory.backup.staged import PIECE_BYTES
from hivemind_memory.errors import NoteTooLargeError
from hivemind_memory.files import descriptors
from hivemind_memory.files.errors import read_error

if TYPE_CHECKING:
    from hivemind_memory.backup.staged import Stage, Staged
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


class Members:
    """Adds members to an archive, and knows what the manifest says about them."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.known: dict[str, dict[str, object]] = {}

    def add(self, name: str, data: bytes | Staged, *, mtime_ns: int = 0) -> None:
        """Add one member; of two of the same name, the later one counts."""
        info = tarfile.TarInfo(name)
        info.mode, info.mtime = 0o600, mtime_ns // 10**9
        if isinstance(data, bytes):
            info.size, digest = len(data), hashlib.sha256(data).hexdigest()
            self._tar.addfile(info, io.BytesIO(data))
        else:
            info.size, digest = data.size, data.digest()
            self._tar.addfile(info, cast("IO[bytes]", data.reader()))
        self._tar.members = []  # type: ignore[attr-defined]  # it gathers them
        self.known[name] = {"sha256": digest, "mtime_ns": mtime_ns}


def read_note(
    folder: NotesFolder, path: NotePath, stage: Stage
) -> tuple[bytes | Staged, FileSignature]:
    """Return a note and the signature that it belongs to; a large one is staged.

    Raises:
        HivemindError: It cannot be read; see ``NotesFolder.read``.
        StageError: The disk refused.
    """
    try:
        return folder.read(path, max_bytes=PIECE_BYTES)
    except NoteTooLargeError:
        pass
    try:
        with folder.open_parent(path, is_read=True) as parent:
            fd = parent.open_file(path.rpartition("/")[2], descriptors.READ)
        try:
            return stage.hold_file(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise read_error(path, error) from error
