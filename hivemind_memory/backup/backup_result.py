"""What a backup holds, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.snapshot import SkippedNote


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupResult:
    """What a backup holds."""

    file: str
    size_bytes: int
    notes: int
    has_keys: bool
    """The keys of providers are in it."""

    has_vault: bool = False
    """The vault is in it, encrypted if it is in the home."""

    files: int = 0
    """Files of the notes folder that are no notes, such as images."""

    skipped: tuple[SkippedNote, ...] = ()
    """Notes that are not in it, and why."""

    left_out: tuple[SkippedNote, ...] = ()
    """Other files and folders in the notes folder that are not in it, and why."""
