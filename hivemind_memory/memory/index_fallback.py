"""Opens the index file, or an index in memory when the file cannot be used.

While another process has the file locked, a copy in memory answers: reading waits for
no writer, and what has changed since is read from the notes.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import (
    IndexBusyError,
    IndexDamagedError,
    IndexTooNewError,
    IndexUnusableError,
)
from hivemind_memory.files.errors import no_notes_folder
from hivemind_memory.index.choose_engine import index_engine
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.files.places import Places
    from hivemind_memory.index.port import Index


@value
class OpenIndex:
    """An index that answers."""

    index: Index
    warning: str = ""
    """Why it is a substitute in memory; empty when it is the file."""

    notice: str = ""
    """What the next answer has to say of it; empty: nothing."""

    error: IndexUnusableError | None = None
    """Why the file cannot be used."""

    broken: tuple[tuple[int, ...], ...] = ()
    """What the file looked like that could not be used."""

    file: Index | None = None
    """The index that another process has locked; *index* is a copy of it. None: it is
    no copy."""

    why_copied: str = ""
    """Who keeps *file* locked."""


def check_notes_folder(places: Places) -> None:
    """Raise if there is no notes folder: its drive may not be mounted.

    Raises:
        NotesMissingError: There is none.
    """
    if not os.path.isdir(places.notes):
        raise no_notes_folder(places.notes)


def open_index(places: Places, now: Callable[[], float]) -> OpenIndex:
    """Return the index of a memory, made if it is not there.

    A folder that cannot be written, or a file that is damaged, does not stop a reader:
    it gets an index in memory, filled from the notes for this process alone.

    Raises:
        NotesMissingError: There is no notes folder.
        IndexBusyError: Another process kept the file locked for 10 s.
        IndexTooNewError: A newer version of the program made the file.
    """
    check_notes_folder(places)
    try:
        return OpenIndex(index=index_engine(places, now).open())
    except (IndexBusyError, IndexTooNewError):
        raise
    except IndexUnusableError as error:
        return memory_fallback(places, now, error)


def memory_fallback(
    places: Places, now: Callable[[], float], error: IndexUnusableError
) -> OpenIndex:
    """Return an empty index in memory, for the file that cannot be used."""
    remedy = error.hint or "`hm doctor` checks for problems"
    return OpenIndex(
        index=index_engine(places, now).open_in_memory(),
        warning=f"{str(error).removesuffix('.')}; this answer was made from the notes"
        f" alone. {remedy}",
        error=error,
        broken=index_engine(places, now).state(),
    )


def copy_of_locked(
    places: Places, now: Callable[[], float], opened: OpenIndex, why: str
) -> OpenIndex | None:
    """Return a copy in memory of an index that another process keeps locked.

    Args:
        places: Where the files of the memory are.
        now: Seconds since the epoch, UTC.
        opened: The index.
        why: Who keeps it locked.

    Returns:
        None: It is too large, or cannot be read either.
    """
    if opened.index.path != places.index_file:
        return None
    try:
        copy = index_engine(places, now).copy_in_memory()
    except IndexUnusableError:
        return None
    if copy is None:
        return None
    notice = f"{why.removesuffix('.')}; this answer was made from a copy and the notes"
    return OpenIndex(index=copy, notice=notice, file=opened.index, why_copied=why)


def without_copy(
    places: Places, now: Callable[[], float], opened: OpenIndex
) -> OpenIndex:
    """Return the index file in the place of its copy, once it is free."""
    if opened.file is None:
        return opened
    try:
        if opened.file.is_still_there() and index_engine(places, now).is_locked():
            return opened
    except IndexDamagedError:
        pass  # who asks the file notices it, and repairs it
    except IndexUnusableError:
        return opened
    return OpenIndex(index=opened.file)


def reopen_index(
    places: Places, now: Callable[[], float], opened: OpenIndex
) -> OpenIndex:
    """Return the index file in the place of a substitute, once it can be used.

    A file that looks as it did when it could not be used is not tried again, because
    opening may not notice what is wrong.
    """
    state = index_engine(places, now).state()
    if state and state == opened.broken:
        return opened
    try:
        file = OpenIndex(index=index_engine(places, now).open())
    except IndexUnusableError:
        return opened
    opened.index.close()
    return file
