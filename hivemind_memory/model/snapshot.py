"""What a folder looked like at one moment, and how two such looks differ."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.note import NotePath


# A plain tuple, not a dataclass: one is made for every file before every answer.
Stamp = tuple[int, int, int, int]
"""(mtime_ns, ctime_ns, size_bytes, inode) of one file. Equal stamps mean equal bytes,
unless the file was so young when it was read that a second write could hide in the
same tick of the clock: see ``SETTLED_NS``."""

SETTLED_NS = 2_000_000_000
"""A file whose change time is at least this much older than the moment it was read
cannot have changed again without a new stamp. 2 s: the coarsest clock in use (FAT)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What the index knows about one file."""

    stamp: Stamp
    digest: str
    """SHA-256 of the bytes, hexadecimal."""

    is_settled: bool
    """The stamp alone proves that the file is unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What must be done so that the index equals the folder."""

    changed: tuple[NotePath, ...]
    """New or perhaps changed: to be read and compared by digest."""

    gone: tuple[NotePath, ...]
    """Indexed and no longer there."""

    @property
    def is_empty(self) -> bool:
        """The index equals the folder."""
        return not self.changed and not self.gone


def difference(
    folder: Mapping[NotePath, Stamp], index: Mapping[NotePath, Indexed]
) -> Difference:
    """Return what changed between a look at the folder and the index, sorted by path.

    A file counts as changed when its stamp differs, and also when the stamp is equal
    but not settled: then only its bytes can tell.
    """
    changed = []
    for path, stamp in folder.items():
        known = index.get(path)
        if known is None or known.stamp != stamp or not known.is_settled:
            changed.append(path)
    gone = [path for path in index if path not in folder]
    return Difference(changed=tuple(sorted(changed)), gone=tuple(sorted(gone)))
