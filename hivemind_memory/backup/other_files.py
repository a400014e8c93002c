"""What a backup holds of the notes folder besides notes, such as images.

Hidden files and folders stay out: the index, the records that are added by themselves,
and what belongs to other programs. Links are not followed.
"""

from __future__ import annotations

import os
import stat

from hivemind_memory.errors import NotePathError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.files.places import INDEX_FOLDER
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.snapshot import SkippedNote
from hivemind_memory.projects.known_project import IDENTITY_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.backup.staged import Stage, Staged

    Add = Callable[[str, Staged, int], None]
    "Takes the path of a file below the notes folder, its bytes and its time."

MAX_FILE_BYTES = 100_000_000
MAX_ALL_BYTES = 1_000_000_000
"""The folder is for notes, and each backup would hold a film that lies there."""

_HIDDEN = "it is hidden"
_LINK = "it is a link"
_IRREGULAR = "it is no regular file"
_TOO_LARGE = f"it is larger than {MAX_FILE_BYTES // 1_000_000} MB"
_TOO_MUCH = f"the files beside the notes are larger than {MAX_ALL_BYTES // 10**9} GB"
_OWN = frozenset({INDEX_FOLDER, IDENTITY_FILE})


def add_other_files(
    root: str, add: Add, stage: Stage, *, partial: str
) -> Iterator[SkippedNote]:
    """Add the files of the notes folder that are no notes; yield what is left out.

    Args:
        root: The notes folder.
        add: Adds a file to the archive.
        stage: Where its bytes are until then.
        partial: How the names of half-written files begin.
    """
    left_bytes = MAX_ALL_BYTES
    for parent, folders, files in os.walk(root):
        inner = os.path.relpath(parent, root).replace(os.sep, "/")
        prefix = "" if inner == os.curdir else f"{inner}/"
        linked = [at for at in folders if os.path.islink(os.path.join(parent, at))]
        hidden = [name for name in folders if name.startswith(".")]
        folders[:] = sorted(set(folders).difference(linked, hidden))
        for name in sorted((*files, *linked, *hidden)):
            path = f"{prefix}{name}"
            if name in _OWN or name.startswith(partial):
                continue
            if name in files and _is_note(path):
                continue
            why, data, mtime_ns = _read(os.path.join(parent, name), stage)
            if data is not None and data.size > left_bytes:
                why, data = _TOO_MUCH, None
            if data is None:
                yield SkippedNote(path=NotePath(path), reason=why)
                continue
            left_bytes -= data.size
            add(path, data, mtime_ns)


def other_file(path: str) -> str:
    """Return the path of a file beside the notes, as an archive names it.

    Raises:
        NotePathError: It could lead out of the notes folder, or is hidden.
    """
    parts = path.split("/")
    if "\0" in path or any(not part or part.startswith(".") for part in parts):
        raise NotePathError(f"{path[:80]!r} is no path of a file beside notes.")
    return path


def _is_note(path: str) -> bool:
    """Return whether a file is a note, which the scan of the notes answers for."""
    try:
        parse_note_path(path)
    except NotePathError:
        return False
    return True


def _read(path: str, stage: Stage) -> tuple[str, Staged | None, int]:
    """Return why a file is left out, or its bytes and when it changed."""
    try:
        info = os.lstat(path)
        if os.path.basename(path).startswith("."):
            return _HIDDEN, None, 0
        if stat.S_ISLNK(info.st_mode):
            return _LINK, None, 0
        if not stat.S_ISREG(info.st_mode):
            return _IRREGULAR, None, 0
        with open(path, "rb", opener=open_regular) as file:
            data, _ = stage.hold_file(file.fileno(), max_bytes=MAX_FILE_BYTES)
    except OSError as error:
        return f"it cannot be read: {reason_of(error)}", None, 0
    if data.size > MAX_FILE_BYTES:
        return _TOO_LARGE, None, 0
    return "", data, info.st_mtime_ns
