"""How far an index is from the notes: what a comparison found."""

from __future__ import annotations

from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.results import RecoveredEntry
    from hivemind_memory.model.snapshot import SkippedNote


@value
class Freshness:
    """How far the index is from the folder."""

    stale: tuple[str, ...] = ()
    """Paths of notes that changed and are not indexed."""

    left: tuple[str, ...] = ()
    """Those of them that are large and being indexed in the background."""

    outdated: tuple[str, ...] = ()
    """Paths of notes that other rules indexed; they are read again in the
    background."""

    skipped: tuple[str, ...] = ()
    """Paths of files that were passed over."""

    passed_over: tuple[SkippedNote, ...] | None = None
    """The same files with the reasons, if the index has every note of the folder as it
    is; None: what the folder holds, only a scan tells."""

    warning: str = ""
    """Why the index could not be updated."""

    hint: str = ""
    """What can be done about that."""

    is_locked: bool = False
    """Because another process kept it locked."""

    is_verified: bool = True
    """The answer is of the state of the index that was compared with the folder."""

    recovered: tuple[RecoveredEntry, ...] = ()
    """Entries that had vanished from their notes and are back."""
