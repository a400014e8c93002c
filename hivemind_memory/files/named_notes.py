"""Signatures of the few notes that an event names, without a scan of the folder."""

from __future__ import annotations

import os

from hivemind_memory.errors import NoteUnreadableError
from hivemind_memory.files.paths import SUFFIX, path_problem
from hivemind_memory.model.note_path import NotePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.snapshot import FileSignature


def signatures_of(
    folder: NotesFolder, names: Collection[str]
) -> dict[NotePath, FileSignature | None] | None:
    """Return the signatures of a few notes; None for one that is gone.

    Args:
        folder: The notes.
        names: Paths below the folder, as the system names them. What a scan passes
            over in silence is left out.

    Returns:
        None: One of them is something that only a scan can judge: no note by its name,
        too large, not a regular file, not readable, or a file with a second hard link.
    """
    found: dict[NotePath, FileSignature | None] = {}
    for name in names:
        if name.rpartition("/")[2].startswith("."):
            continue
        if not name.endswith(SUFFIX) or path_problem(name):
            return None
        path = NotePath(name)
        try:
            found[path] = folder.signature(path)
            status = os.lstat(os.path.join(folder.root, name))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, NoteUnreadableError):
            return None
        is_small = status.st_size <= folder.max_note_bytes
        if found[path] is None or status.st_nlink > 1 or not is_small:
            return None
    return found
