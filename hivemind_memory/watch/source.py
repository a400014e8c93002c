"""What the watcher needs from whoever tells it that files change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

PROBE_NAME = ".hm-probe"
"""Name of the file that is made and removed at once to see whether anything is told.
Always the same, so that one left by a killed process goes with the next probe."""


class Listener(Protocol):
    """Hears, on a thread of the source, that a note may have changed."""

    def __call__(self, *, is_whole: bool) -> None:
        """Take a hint; must be quick and never raise.

        Args:
            is_whole: The change is not half done: closed after writing, renamed into
                place.
        """
        ...


class EventSource(Protocol):
    """Tells when something below a folder changes: the system's, or a test's own."""

    def refresh(self, *, is_forced: bool = False) -> None:
        """Watch the folders that are there now; cheap unless some came or went.

        Args:
            is_forced: Look at every folder, whatever events said.

        Raises:
            OSError: A folder cannot be watched (ENOSPC: no watches left), or the notes
                folder is not there.
        """
        ...

    def is_current(self) -> bool:
        """It still runs, and what it watches is the folder that bears the name now."""
        ...

    def probe(self) -> None:
        """Make and remove a hidden file, so that a working source has to speak.

        Raises:
            OSError: The folder cannot be written to; nothing can be told.
        """
        ...

    def has_spoken(self) -> bool:
        """At least one event came through since it was opened."""
        ...

    def close(self) -> None:
        """Stop and leave no thread behind."""
        ...


OpenSource = Callable[[str, Listener], EventSource]
"""(folder, listener) -> a source that already watches.

Raises OSError: ENOSPC (no watches left), EMFILE (no instances left), ENOENT (no
folder), ENOSYS (this system has no such events)."""
