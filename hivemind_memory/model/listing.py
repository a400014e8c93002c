"""The filter of a list of memories, and the items of a log."""

from __future__ import annotations

from hivemind_memory.errors import NoteNotFoundError, ScopeError
from hivemind_memory.model.keys import closest, operand
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import make_scope, parse_scope
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.results import ListedNote


@value
class MemoryFilter:
    """Which memories a list shows: those that fit all that is given."""

    types: tuple[str, ...] = ()
    """Names or aliases; empty: any."""

    scope: str = ""
    """As a caller names it, ``team/red``; empty: all that the caller reads."""

    since: str = ""
    """First day or moment of writing, ISO 8601."""

    by: str = ""
    """Who wrote it, in any case of letters."""

    source: str = ""
    source_ref: str = ""
    """How what it was derived from begins; empty: anything."""

    statuses: tuple[str, ...] = ("active", "pending")
    """active, pending, superseded, forgotten, expired or done."""

    has_entries: bool = False
    """Also entries of notes that are forgotten, if that is a status asked for."""

    tags: tuple[str, ...] = ()
    """Only those that have all of these tags."""

    folder: str = ""
    """The folder that they are in or below, as a caller names it; empty: any."""

    words: str = ""
    """Words that the key or the text contains, in any case; for a page of a list."""


@value
class RowFilter:
    """Which typed memories the index lists: those that fit all that is given."""

    today: int
    """Days since the epoch; what is over by then is expired or done."""

    scopes: frozenset[str] | None = None
    """Only these; None: all."""

    types: frozenset[str] = frozenset()
    """Names; empty: any."""

    statuses: tuple[str, ...] = ("active", "pending")
    """As in ``MemoryFilter``."""

    source: str = ""
    folder: str = ""
    """The folder that they are below; empty: any."""

    first_day: str = ""
    """Only what says that it was created on this day or later, in whatever time zone;
    ISO 8601, empty: any."""

    replaced: frozenset[str] = frozenset()
    """Paths of active memories that another one replaces by a link: superseded."""


class NoteRow(NamedTuple):
    """A note as the index knows it."""

    path: NotePath
    mtime_ns: int
    size_bytes: int
    chunk_count: int


@value
class FolderPage:
    """Some of the notes that lie in one folder, and which folders there are."""

    folders: tuple[tuple[str, int], ...]
    """Each with the number of its notes, by name; empty: the notes folder itself."""

    notes: tuple[ListedNote, ...]
    total: int
    """Notes in the folder."""


@value
class MemoryPage:
    """Some of the memories that fit a filter."""

    memories: tuple[StoredMemory, ...]
    total: int
    """How many fit."""

    warning: str = ""
    """Why the last changes may be missing; empty: they are not."""


@value
class WrittenItem:
    """An entry or a typed memory, as a log lists it."""

    kind: str
    """entry or memory."""

    at: str
    """ISO 8601; empty if unknown."""

    by: str
    session: str
    source: str
    path: NotePath
    start_line: int
    end_line: int
    id: str
    key: str = ""
    type: str = ""
    scope: str = ""
    text: str = ""


def folder_named(text: str, paths: Collection[str]) -> str:
    """Return the folder that a name means, such as ``projects/shop``; empty: any.

    Args:
        text: The folder, as a person types it.
        paths: Of all notes that the caller sees.

    Raises:
        NoteNotFoundError: No note is below a folder of that name.

    >>> folder_named("./projects/shop/", ["projects/shop/a.md"])
    'projects/shop'
    """
    folders = {parent for path in paths for parent in _folders_of(path)}
    wanted = "/".join(part for part in text.split("/") if part not in ("", "."))
    if not wanted:
        return ""
    for folder in (wanted, _scope_named(wanted)):
        if folder in folders:
            return folder
    near = closest(wanted, folders)
    meant = f" Did you mean {near[0]}?" if near else ""
    hint = "`hm list` shows all notes with their folders."
    if wanted in paths:
        hint = f"It is a note; `hm get {operand(wanted)}` prints it."
    raise NoteNotFoundError(f"There is no folder {wanted!r}.{meant}", hint=hint)


def is_below(path: str, folder: str) -> bool:
    """Return whether a note is below a folder; empty: the notes folder itself."""
    return not folder or path.startswith(f"{folder}/")


def _scope_named(text: str) -> str:
    """Return the scope of a name with a slash, ``project/shop``; else nothing."""
    try:
        kind, slug = parse_scope(text)
    except ScopeError:
        return ""
    return make_scope(kind, slug) if slug else ""


def _folders_of(path: str) -> Iterator[str]:
    """Yield the folders above a note, the outermost first."""
    for at, letter in enumerate(path):
        if letter == "/":
            yield path[:at]
