"""File signatures, and which files differ between the index and a scan."""

from __future__ import annotations

from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hivemind_memory.model.note_path import NotePath


# A plain tuple, not a dataclass: one is made for every file before every answer.
FileSignature = tuple[int, int, int, int]
"""(mtime_ns, ctime_ns, size_bytes, inode) of one file. Equal signatures mean equal
bytes, unless the file was so young when it was read that a second write could hide in
the same tick of the clock: see ``SETTLED_NS``."""

SETTLED_NS = 2_000_000_000
"""A file whose last change is at least this much older than the moment it was read
cannot have changed again without a new signature. 2 s: the coarsest clock in use
(FAT)."""


def is_settled(signature: FileSignature, now_ns: int) -> bool:
    """Return whether *signature* alone will prove that the file has not changed.

    A signature from the future (a clock that was set back) never settles: such a file
    is compared by its bytes each time.
    """
    return now_ns - max(signature[0], signature[1]) >= SETTLED_NS


NS_PER_DAY = 86_400 * 1_000_000_000


def is_of_same_day(one: FileSignature, other: FileSignature) -> bool:
    """Return whether both have the same day of the last edit, in UTC."""
    return one[0] // NS_PER_DAY == other[0] // NS_PER_DAY


DEFAULT_MAX_NOTE_MB = 5
"""A larger note is skipped, unless the option ``max_note_mb`` says otherwise."""


@value
class SkippedNote:
    """A file that could not be indexed, and why."""

    path: str
    reason: str

    @classmethod
    def because(cls, path: str, error: Exception) -> SkippedNote:
        """Return a file and the message of an error, which need not name it again."""
        return cls(path=path, reason=str(error).removeprefix(f"{path} "))


@value
class IndexedFiles:
    """What the index knows about the folder."""

    signatures: Mapping[NotePath, FileSignature]
    unsettled: frozenset[NotePath] = frozenset()
    """Notes that were too young when they were read for their signature to prove
    much, and those that are outdated."""

    outdated: frozenset[NotePath] = frozenset()
    """Notes whose rows were made by other rules or settings than those of today."""


@value
class FolderChanges:
    """The notes to read or remove so that the index equals the folder."""

    changed: tuple[NotePath, ...] = ()
    """New or perhaps changed: to be read and compared by their bytes."""

    gone: tuple[NotePath, ...] = ()
    """Indexed and no longer there."""

    @property
    def is_empty(self) -> bool:
        """The index equals the folder."""
        return not self.changed and not self.gone


def compare_files(
    folder: Mapping[NotePath, FileSignature],
    index: IndexedFiles,
    unlisted: Collection[str] = (),
) -> FolderChanges:
    """Return what changed between the index and a scan of the folder, sorted by path.

    A note counts as changed when its signature differs, and also when the signature is
    equal but not settled: then only its bytes can decide.

    Args:
        folder: What the scan found.
        index: What the index knows.
        unlisted: What the system did not show, see ``FolderSnapshot.unlisted``.
    """
    known = index.signatures
    # Comparing two dictionaries runs in C: the usual answer, "nothing", costs next to
    # nothing even for thousands of notes.
    if folder == known:
        return FolderChanges(changed=tuple(sorted(index.unsettled)))
    unsettled = index.unsettled
    changed = [
        path
        for path, signature in folder.items()
        if known.get(path) != signature or path in unsettled
    ]
    gone = [path for path in known if path not in folder]
    if unlisted:
        gone = [path for path in gone if not is_unlisted(path, unlisted)]
    return FolderChanges(changed=tuple(sorted(changed)), gone=tuple(sorted(gone)))


def is_unlisted(path: str, unlisted: Collection[str]) -> bool:
    """Return whether a note is among, or below, what the system did not show."""
    return any(
        path.startswith(hidden) if hidden[-1] == "/" else path == hidden
        for hidden in unlisted
    )
