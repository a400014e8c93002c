"""Gives the active memory of a key the file that is named after the key.

What is hidden under that key gives way: its file gets a name with its id, which no
other memory has. Each step renames one file and loses nothing, so a process may be
killed between any two: the name of the key is free then, and the next memory that
becomes active under it takes it. A file that a person named keeps its name.
"""

from __future__ import annotations

import os
from contextlib import suppress

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import NO_LINKS
from hivemind_memory.files.errors import save_error
from hivemind_memory.files.paths import path_in_scope
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.notes.memory_file import read_memory_file
from hivemind_memory.notes.memory_header import status_of
from hivemind_memory.notes.slug import name_with_id, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.memory_file import MemoryFile


def free_own_name(folder: NotesFolder, scope: str, key: str) -> tuple[NotePath, ...]:
    """Move the hidden memory that has the file of a key aside, if there is one.

    The lock of the key is held, and no memory is active under it.

    Returns:
        The paths that the memory had and has now; nothing if none was moved.

    Raises:
        NotSavedError: The disk refused; nothing was moved.
    """
    own = _own_path(folder, scope, key)
    there = _hidden_memory(folder, own, key)
    if there is None:
        return ()
    aside = folder.spelled(path_in_scope(scope, name_with_id(key, there.id)))
    return (own, aside) if _move(folder, own, aside) else ()


def take_own_name(
    folder: NotesFolder, path: NotePath, scope: str, key: str, memory_id: str
) -> tuple[NotePath, tuple[NotePath, ...]]:
    """Give a memory that is about to be active the file of its key.

    The lock of the key is held, and no other memory is active under it.

    Args:
        folder: The notes folder.
        path: Where the memory is.
        scope: Its scope.
        key: Its key.
        memory_id: Its id.

    Returns:
        Where it is now, and all paths of which something was moved.

    Raises:
        NotSavedError: The disk refused; no memory is lost.
    """
    own = _own_path(folder, scope, key)
    given = [
        folder.spelled(path_in_scope(scope, name))
        for name in (*names_of(key), name_with_id(key, memory_id))
    ]
    if path == own:
        return path, ((given[-1],) if _drop_name(folder, own, given[-1]) else ())
    if path not in given:
        return path, ()
    moved = free_own_name(folder, scope, key)
    if not _move(folder, path, own):
        return path, moved
    return own, (*moved, path, own)


def _own_path(folder: NotesFolder, scope: str, key: str) -> NotePath:
    """Return the path of the file that is named after a key."""
    return folder.spelled(path_in_scope(scope, next(names_of(key))))


def _hidden_memory(folder: NotesFolder, path: NotePath, key: str) -> MemoryFile | None:
    """Return the memory in a file if it has a key, an id and is not active."""
    if folder.link_above(path):
        return None
    try:
        file = read_memory_file(folder, path)
    except HivemindError:
        return None
    values = file.front.values
    # A key that is not in the file comes from its name, and would change with it.
    has_name = values.get("key") == key and bool(values.get("id"))
    return file if has_name and status_of(path, values) != ACTIVE else None


def _drop_name(folder: NotesFolder, path: NotePath, other: NotePath) -> bool:
    """Take the second name of a file away, which a killed process left."""
    with suppress(OSError), folder.open_parent(path) as parent:
        name, second = (one.rpartition("/")[2] for one in (path, other))
        if os.path.samestat(parent.status(name), parent.status(second)):
            parent.unlink(second)
            parent.sync()
            return True
    return False


def _move(folder: NotesFolder, path: NotePath, new: NotePath) -> bool:
    """Give a file another name in its folder; return False if that is taken.

    Raises:
        NotSavedError: The disk refused.
    """
    old_name, new_name = (name.rpartition("/")[2] for name in (path, new))
    try:
        with folder.open_parent(path) as parent:
            try:
                # A rename would overwrite what has the name since an instant ago.
                parent.link(old_name, new_name)
            except FileExistsError:
                one, other = parent.status(old_name), parent.status(new_name)
                if not os.path.samestat(one, other):
                    return False
                # A process was killed between the two steps.
            except OSError as error:
                if error.errno in NO_LINKS:
                    return False
                raise
            parent.unlink(old_name)
            parent.sync()
    except OSError as error:
        raise save_error(path, error) from error
    return True
