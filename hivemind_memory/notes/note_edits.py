"""One note changed in place, or taken away, though others may be at it too.

What is to be done is decided anew from the bytes that are there: an edit that a person
saves in between is never lost.
"""

from __future__ import annotations

import stat

from hivemind_memory.errors import NotSavedError
from hivemind_memory.notes.os_files import stamp_of
from hivemind_memory.notes.refusals import not_saved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import Stamp
    from hivemind_memory.notes.folder import NotesFolder

# How often in a row another program may save the note while we change it.
_ATTEMPTS = 10
_BOM = b"\xef\xbb\xbf"


def edit_note(
    folder: NotesFolder, path: NotePath, change: Callable[[bytes], bytes]
) -> bool:
    """Put what *change* makes of a note in its place; return whether it differs.

    A note of which only blank lines are left is taken away.

    Raises:
        NoteNotFoundError: There is no such note.
        NotSavedError: It is as it was, and why.
    """
    for _ in range(_ATTEMPTS):
        data, stamp = folder.read(path)
        new = change(data)
        if new == data:
            return False
        try:
            if new.removeprefix(_BOM).strip():
                folder.replace(path, new, expected=stamp)
            else:
                remove_note(folder, path, expected=stamp)
        except NotSavedError:
            if folder.stamp(path) == stamp:
                raise
        else:
            return True
    message = f"{path} was not changed: another program keeps saving it."
    raise NotSavedError(message, hint="See which program that is, and try again.")


def remove_note(folder: NotesFolder, path: NotePath, *, expected: Stamp) -> None:
    """Take a note away, if it is what the caller has read; synced.

    Raises:
        NotSavedError: It changed meanwhile, or the disk refused; it is as it was.
    """
    name = path.rpartition("/")[2]
    try:
        with folder.open_parent(path) as parent:
            status = parent.status(name)
            if not stat.S_ISREG(status.st_mode) or stamp_of(status) != expected:
                message = f"{path} was not removed: the note has changed meanwhile."
                raise NotSavedError(message, hint="Read it again, then decide.")
            parent.unlink(name)
            parent.sync()
    except OSError as error:
        raise not_saved(path, error) from error
