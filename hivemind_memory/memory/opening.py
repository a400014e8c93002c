"""Opens the index; when that cannot be, a stand-in, so that a question is answered."""

from __future__ import annotations

import os

from hivemind_memory.errors import (
    IndexBusyError,
    IndexTooNewError,
    IndexUnusableError,
    NotesMissingError,
)
from hivemind_memory.index.sqlite.index import IN_MEMORY, SqliteIndex
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.memory.places import Places


@value
class OpenIndex:
    """An index that answers."""

    index: SqliteIndex
    warning: str = ""
    """Why it is a stand-in in memory; empty when it is the file."""

    broken: tuple[tuple[int, ...], ...] = ()
    """What the file looked like that could not be used."""


def open_index(places: Places, now: Callable[[], float]) -> OpenIndex:
    """Return the index of a memory, made if it is not there.

    A folder that cannot be written, or a file that is damaged, does not stop a reader:
    it gets an index in memory, filled from the notes for this process alone.

    Raises:
        NotesMissingError: There is no folder of notes.
        IndexBusyError: Another process kept the file locked for 10 s.
        IndexTooNewError: A newer version of the program made the file.
    """
    if not os.path.isdir(places.notes):
        raise NotesMissingError(
            f"there is no notes folder {places.notes}",
            hint="`hm init` makes it; --memory-dir or HIVEMIND_HOME names another",
        )
    try:
        return _open_file(places, now)
    except (IndexBusyError, IndexTooNewError):
        raise
    except IndexUnusableError as error:
        return stand_in(places, now, error)


def stand_in(
    places: Places, now: Callable[[], float], error: IndexUnusableError
) -> OpenIndex:
    """Return an empty index in memory, for the file that cannot be used."""
    return OpenIndex(
        index=SqliteIndex(IN_MEMORY, now=now),
        warning=f"{error}; this answer was made from the notes alone (see `hm doctor`)",
        broken=_look_of(places),
    )


def open_again(
    places: Places, now: Callable[[], float], opened: OpenIndex
) -> OpenIndex:
    """Return the index file in the place of a stand-in, once it can be used.

    A file that looks as it did when it could not be used is not tried again, for what
    is wrong may lie where opening does not look.
    """
    look = _look_of(places)
    if look and look == opened.broken:
        return opened
    try:
        file = _open_file(places, now)
    except IndexUnusableError:
        return opened
    opened.index.close()
    return file


def _open_file(places: Places, now: Callable[[], float]) -> OpenIndex:
    """Open the file, made with its folder if it is not there."""
    try:
        places.make_index_folder()
        return OpenIndex(index=SqliteIndex(places.index_file, now=now))
    except OSError as error:
        raise IndexUnusableError(
            f"the folder {places.index} cannot be written: {error.strerror}",
            hint="the option index_dir puts the index elsewhere",
        ) from error


def _look_of(places: Places) -> tuple[tuple[int, ...], ...]:
    """Return what changes when somebody writes to the index or puts another there."""
    looks = []
    for suffix in ("", "-wal"):
        try:
            status = os.stat(places.index_file + suffix)
        except OSError:
            continue
        looks.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(looks)
