"""The port of an engine: what opens, rebuilds and cleans the index of one memory."""

from __future__ import annotations

from math import inf
from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import TypeVar

    from hivemind_memory.index.port import Index, IndexCounts, VacuumResult

    T = TypeVar("T")


class IndexEngine(Protocol):
    """Opens, rebuilds and cleans the index of one memory."""

    def open(self) -> Index:
        """Return the index, made if it is not there.

        Raises:
            IndexBusyError: Another process kept it locked for 10 s.
            IndexTooNewError: A newer version of the program made it.
            IndexUnusableError: It cannot be opened or made.
        """
        ...

    def open_in_memory(self) -> Index:
        """Return an empty index that ends with this process."""
        ...

    def copy_in_memory(self) -> Index | None:
        """Return a copy that ends with this process; None: it would be too large.

        It is of what readers see now, also while another process has it locked.

        Raises:
            IndexUnusableError: It cannot be read now.
        """
        ...

    def is_locked(self) -> bool:
        """Return whether another process keeps it from being written; waits for none.

        Raises:
            IndexUnusableError: It cannot be opened.
        """
        ...

    def state(self) -> tuple[tuple[int, ...], ...]:
        """Return a value that differs after any change to the index; empty: none."""
        ...

    def rebuild(self, fill: Callable[[Index], T], *, wait_s: float | None = None) -> T:
        """Build a second index, then put it in the place of the first, as a whole.

        Args:
            fill: Fills the new index from the notes; what it returns is returned.
            wait_s: How long to wait for another rebuild; None: some seconds.

        Raises:
            IndexBusyError: Another process is rebuilding, or keeps the index locked.
            IndexUnusableError: The index cannot be written.
        """
        ...

    def count(
        self,
        *,
        paths: Collection[str],
        entry_ids: Collection[str],
        text_hashes: Collection[str],
        is_seen: Callable[[str], bool],
    ) -> IndexCounts:
        """Return what the index holds of some notes, entries and texts.

        Chunks are counted in notes for which *is_seen* is true.

        Raises:
            IndexUnusableError: It cannot be read now.
        """
        ...

    def vacuum(
        self,
        text_hashes: Collection[str],
        *,
        refresh: Callable[[], object] = lambda: None,
        since_s: float = inf,
        probes: Collection[str] = (),
    ) -> VacuumResult:
        """Remove the vectors of some texts, and every trace of deleted content.

        The sync of their notes has deleted the chunks themselves. A text that another
        chunk still has keeps its vector.

        Args:
            text_hashes: SHA-256 of the texts, hexadecimal.
            refresh: Updates the index from the notes. Called first, while no rebuild
                runs: the last one may have read the notes before the text was deleted.
            since_s: Vectors made since then that no text has go too: one may be of an
                earlier version of these texts.
            probes: Lines of the deleted texts. The files are searched for them at the
                end, and one that still holds a line no note has is a problem.
        """
        ...

    def remove_unfinished_rebuild(self) -> int:
        """Remove what an interrupted rebuild left; return how many files.

        A rebuild that runs is not disturbed, and there is nothing to remove then.

        Raises:
            IndexUnusableError: The files cannot be removed.
        """
        ...

    def set_aside_files(self) -> list[str]:
        """Return the damaged and half-built indexes that a vacuum would remove."""
        ...
