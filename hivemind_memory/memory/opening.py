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
    warning: str
    """Why it is a stand-in in memory; empty when it is the file."""


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
        places.make_index_folder()
        return OpenIndex(index=SqliteIndex(places.index_file, now=now), warning="")
    except (IndexBusyError, IndexTooNewError):
        raise
    except IndexUnusableError as error:
        reason = str(error)
    except OSError as error:
        reason = f"the folder {places.index} cannot be written: {error.strerror}"
    warning = f"{reason}; this answer was made from the notes alone (see `hm doctor`)"
    return OpenIndex(index=SqliteIndex(IN_MEMORY, now=now), warning=warning)
