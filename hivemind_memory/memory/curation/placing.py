"""Where the files of typed memories lie, and how one takes its place.

Nothing here overwrites what is not the memory in question: neither a note of a person
nor a memory of another key.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.errors import HivemindError, NoteNotFoundError, NotSavedError
from hivemind_memory.memory.curation.succeeding import header
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.model.standing import ACTIVE
from hivemind_memory.notes.memory_file import may_be_broken_memory, read_memory_file
from hivemind_memory.notes.note_edits import remove_note
from hivemind_memory.notes.paths import parse_note_path
from hivemind_memory.notes.refusals import not_saved
from hivemind_memory.notes.slugs import hash_of, name_with_id, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.memory.curation.desk import Desk
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.model.snapshot import Stamp
    from hivemind_memory.notes.folder import NotesFolder
    from hivemind_memory.notes.memory_file import MemoryFile


def path_in_scope(scope: str, name: str) -> NotePath:
    """Return the path of a file in a scope."""
    return parse_note_path(f"{scope}/{name}" if scope else name)


def in_force(
    desk: Desk, index: MemoryIndex, scope: str, key: str
) -> tuple[MemoryFile | None, tuple[str, ...]]:
    """Return the active memory of a key, and paths of others that claim to be it.

    The index finds it under whatever name a person gave it; the files have the last
    word. Others are copies that a person or a sync tool made: they are left alone.

    Raises:
        NotSavedError: Its file cannot be rewritten as it stands.
    """
    names = [path_in_scope(scope, name) for name in names_of(key)]
    rows = index.memories(
        key=key, scopes=frozenset({scope}), standings=frozenset({ACTIVE})
    )
    found = [parse_note_path(row.path) for row in rows]
    files = []
    # Those of our own making first, then the newest.
    for path in sorted(found, key=lambda one: one not in names):
        with suppress(NoteNotFoundError):
            files.append(read_memory_file(desk.folder, path))
    if not files:
        files += _in_names(desk, names)
    files = [file for file in files if _is_active(desk, file, key)]
    return (files[0] if files else None), tuple(file.path for file in files[1:])


def put_new(folder: NotesFolder, paths: Iterable[NotePath], data: bytes) -> NotePath:
    """Write a new file under the first name that nothing has; return its path.

    Raises:
        NotSavedError: The disk refused; nothing was written.
    """
    path = None
    for path in paths:
        if not _is_free(folder, path):
            continue
        try:
            folder.replace(path, data, expected=None)
        except NotSavedError:
            # Another process, with a key of the same name, may have been faster.
            if _is_free(folder, path):
                raise
        else:
            return path
    raise NotSavedError(f"Nothing was saved: {path} and its other names are taken.")


def put_superseded(
    folder: NotesFolder, old: MemoryFile, scope: str, key: str, data: bytes
) -> tuple[NotePath, Stamp | None]:
    """Write the copy of a memory that is about to be replaced.

    A copy that a killed save left is written over if it says the same.

    Returns:
        Its path, and its stamp if it was not there before.

    Raises:
        NotSavedError: The disk refused; nothing is left of it.
    """
    name = name_with_id(key, old.id)
    path = path_in_scope(scope, f"{SUPERSEDED_FOLDER}/{name}")
    left = _leftover(folder, path, old)
    try:
        if left is not None:
            folder.replace(path, data, expected=left)
            return path, None
        if not _is_free(folder, path):
            other = name_with_id(key, f"{old.id}-{hash_of(old.text)[:12]}")
            path = path_in_scope(scope, f"{SUPERSEDED_FOLDER}/{other}")
            left = _leftover(folder, path, old)
        return path, folder.replace(path, data, expected=left)
    except NotSavedError:
        raise
    except HivemindError as error:
        # It is there, and might not outlive a power cut: no ground to build on.
        stamp = folder.stamp(path)
        if left is None and stamp is not None:
            take_back(folder, path, stamp)
        raise NotSavedError(f"Nothing was saved: {error}", hint=error.hint) from error


def take_back(folder: NotesFolder, path: NotePath, stamp: Stamp) -> None:
    """Remove a file of ours that has become needless, and its folder if empty."""
    with suppress(HivemindError):
        remove_note(folder, path, expected=stamp)
        folder.take_back_folders([path.rpartition("/")[0]])


def _in_names(desk: Desk, names: Iterable[NotePath]) -> Iterator[MemoryFile]:
    """Yield the typed memories under some names, should the index not know them."""
    for path in names:
        try:
            data, _ = desk.folder.read(path)
        except HivemindError:
            continue
        try:
            yield read_memory_file(desk.folder, path)
        except HivemindError:
            # Free text of a person has no header and is none of ours; what was a
            # memory until its header broke must not get a second one beside it.
            if may_be_broken_memory(data):
                raise


def _is_active(desk: Desk, file: MemoryFile, key: str) -> bool:
    """Return whether a file is a memory in force under a key."""
    said = header(file, desk.types)
    return bool(said.type) and said.key == key and said.standing == ACTIVE


def _leftover(folder: NotesFolder, path: NotePath, old: MemoryFile) -> Stamp | None:
    """Return the stamp of a copy of *old* that is there already and says the same."""
    try:
        there = read_memory_file(folder, path)
    except HivemindError:
        return None
    is_same = there.id == old.id and there.body == old.body
    return there.stamp if is_same else None


def _is_free(folder: NotesFolder, path: NotePath) -> bool:
    """Return whether nothing at all has a name."""
    try:
        with folder.open_parent(path) as parent:
            parent.status(path.rpartition("/")[2])
    except FileNotFoundError:
        return True
    except OSError as error:
        raise not_saved(path, error) from error
    return False
