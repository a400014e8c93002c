"""Finds what a name means: a note, lines of a note, or an entry."""

from __future__ import annotations

from hivemind_memory.access.rules import may_read
from hivemind_memory.curation.ambiguous_names import check_certain
from hivemind_memory.curation.entry_memory import entry_memory
from hivemind_memory.curation.lookup import (
    entries_named,
    find_memory,
    is_name,
)
from hivemind_memory.curation.own_day import with_own_day
from hivemind_memory.errors import (
    ForgottenError,
    HivemindError,
    MemoryNotFoundError,
    NoteNotFoundError,
    UsageError,
)
from hivemind_memory.files.paths import SUFFIX, path_problem
from hivemind_memory.model.citation import check_place, split_place
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.display import behind_text
from hivemind_memory.model.keys import closest
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.memories import FORGOTTEN
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.ports import MemoryIndex


class NamedPlace(NamedTuple):
    """A note, or lines of it, that a name means."""

    path: str
    start_line: int
    """0: the whole note."""

    end_line: int
    warning: str = ""
    """Why the name may mean something else by now; empty: it does not."""


def locate(context: CurationContext, name: str) -> NamedPlace:
    """Return what a name means.

    The path of an existing note means that note and needs no index. Any other
    name is looked up as everywhere: id, key, path without ``.md``. At last it may be
    the end of the path of one note, ``deploy`` for ``projects/shop/deploy.md``.

    Args:
        context: Of the caller.
        name: A path, a place, a key, or the id of a memory or an entry.

    Raises:
        ForgottenError: It is forgotten.
        MemoryNotFoundError: The caller sees nothing of that name.
        NoteNotFoundError: No note is there, and another was probably meant.
        UsageError: Its numbers are of no lines, or several notes have that name.
    """
    name = with_own_day(context, name.strip())
    path, start_line, end_line = split_place(name)
    is_place = path != name
    note = path if path.endswith(SUFFIX) else f"{path}{SUFFIX}"
    if path == note and _is_there(context, note):
        check_place(name)
        return NamedPlace(note, start_line, end_line)
    warning = ""
    if is_name(name):
        index, why_stale = context.index.known(is_lookup=True)
        warning = behind_text(why_stale)
        entry = None if is_place else find_entry(context, index, name, None)
        if entry is not None:
            return NamedPlace(entry.path, entry.start_line, entry.end_line, warning)
        try:
            row = find_memory(context, index, name)
            check_certain(context, index, name, row)
        except ForgottenError:
            raise
        except MemoryNotFoundError:
            if named := _notes_named(context, index, note):
                note = _only_one(path, named)
                return NamedPlace(note, start_line, end_line, warning)
            if name and "." not in name and "/" not in name:
                raise
            _refuse_missing(context, index, note)
        else:
            if not is_place or row.path != note:
                return NamedPlace(row.path, 0, 0, warning)
            path = note
    # Reading it says that it is not there, or why it is not a note.
    is_plain = "/" in path and not path.endswith("/") and not path_problem(note)
    found = note if is_plain else path
    check_place(name)
    return NamedPlace(found, start_line, end_line, warning)


def find_entry(
    context: CurationContext, index: MemoryIndex, name: str, scope: str | None
) -> StoredMemory | None:
    """Return the entry of an id or at a place, as a memory; None: there is none."""
    if not name or not context.caller.is_member or not is_name(name):
        return None
    scopes = context.caller.scopes
    if scope is not None:
        scopes = frozenset({scope}) if scopes is None else scopes & {scope}
    found = entries_named(context, index, name, scopes)
    path = NotePath(index.entry_path(name, scopes))
    if not found and path:
        try:
            limit = context.folder.max_note_bytes
            data, _ = context.folder.read(path, max_bytes=limit)
        except HivemindError:
            return None
        found = [(path, e) for e in entries_in(data) if e.provenance.id == name]
    for note, entry in found:
        if not entry.provenance.is_forgotten:
            return entry_memory(note, entry)
    return None


def _is_there(context: CurationContext, path: str) -> bool:
    """Return whether a note has that path, where the caller may read."""
    if path_problem(path) or not may_read(context.caller, path):
        return False
    return context.folder.signature(NotePath(path)) is not None


def _refuse_missing(context: CurationContext, index: MemoryIndex, path: str) -> None:
    """Raise if no note of that path is there and another was probably meant.

    Raises:
        NoteNotFoundError: Names the other.
    """
    caller = context.caller
    # Visitors do not see whole notes.
    if not caller.is_member or path_problem(path) or not _is_missing(context, path):
        return
    hidden = index.memories(scopes=context.caller.scopes, statuses={FORGOTTEN})
    paths = {other for other in context.folder.signatures() if may_read(caller, other)}
    meant = _similar_path(path, paths.difference(row.path for row in hidden))
    if meant:
        message = f"There is no note {path}. Did you mean {meant}?"
        hint = "`hm list` shows all notes."
        raise NoteNotFoundError(message, hint=hint, similar=meant)


def _notes_named(context: CurationContext, index: MemoryIndex, path: str) -> list[str]:
    """Return the notes that the caller sees whose paths end with *path*."""
    caller = context.caller
    if not caller.is_member or path_problem(path):
        return []
    found = [
        str(other)
        for other in sorted(context.folder.signatures())
        if other.endswith(f"/{path}") and may_read(caller, other)
    ]
    if found:
        rows = index.memories(scopes=caller.scopes, statuses={FORGOTTEN})
        hidden = {row.path for row in rows}
        found = [other for other in found if other not in hidden]
    return found


def _only_one(name: str, paths: list[str]) -> str:
    """Return the only path of several; they are those that *name* may mean.

    Raises:
        UsageError: There are more.
    """
    if len(paths) > 1:
        shown = ", ".join(paths[:5]) + (" and others" if len(paths) > 5 else "")
        message = f"{len(paths)} notes are called {name}."
        raise UsageError(message, hint=f"Name one by its path: {shown}.")
    return paths[0]


def _similar_path(path: str, paths: Iterable[str]) -> str:
    """Return the path whose file name is like that of *path*; empty: there is none.

    Notes of one folder are alike in all of their path but that.
    """
    by_name: dict[str, list[str]] = {}
    for known in sorted(paths):
        by_name.setdefault(_file_name(known), []).append(known)
    near = closest(_file_name(path), by_name)
    if not near:
        return ""
    named = by_name[near[0]]
    return (*closest(path, named), *named)[0]


def _file_name(path: str) -> str:
    """Return the name of a note's file, without its suffix."""
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def _is_missing(context: CurationContext, path: str) -> bool:
    """Return whether the caller sees nothing there, not even a link."""
    if not may_read(context.caller, path):
        return True
    try:
        context.folder.read(NotePath(path), max_bytes=1)
    except NoteNotFoundError:
        return True
    except HivemindError:
        return False
    return False
