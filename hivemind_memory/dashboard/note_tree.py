"""Makes a tree of the folders of notes: what is open of it, and how much is in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_OPEN = 40
"""With so many folders at most, all are open; else those above the chosen one."""

MAX_BESIDE = 200
"""Folders shown in one."""

MAX_DEPTH = 12
"""What lies deeper is named with the folders above it."""

GLOBAL = "global"
"""The name of the notes that lie in no folder."""


@dataclass(slots=True, kw_only=True)
class Branch:
    """A folder in the tree."""

    name: str
    path: str
    count: int = 0
    """Notes in it and below it."""

    is_chosen: bool = False
    """Its notes are listed."""

    is_open: bool = False
    """The folders in it are shown."""

    inside: list[Branch] = field(default_factory=list)
    left: int = 0
    """Folders in it that are not shown."""


def tree_of(folders: Sequence[tuple[str, int]], chosen: str) -> list[Branch]:
    """Return the folders as a tree, the notes that lie in none first.

    Args:
        folders: Each with how many notes lie in it; empty: the notes folder itself.
        chosen: Path of the folder whose notes are listed.

    >>> [(one.name, one.count) for one in tree_of([("", 2), ("a/b", 1), ("a", 3)], "")]
    [('global', 2), ('a', 4)]
    """
    known: dict[str, Branch] = {}
    top: list[Branch] = []
    for path, count in sorted(folders):
        parts = path.split("/", MAX_DEPTH - 1)
        beside = top
        for depth in range(1, len(parts) + 1):
            here = "/".join(parts[:depth])
            branch = known.get(here)
            if branch is None:
                branch = known[here] = Branch(
                    name=parts[depth - 1] or GLOBAL, path=here
                )
                beside.append(branch)
            branch.count += count
            beside = branch.inside
    if chosen in known:
        known[chosen].is_chosen = True
    is_small = len(known) <= MAX_OPEN
    for path, branch in known.items():
        branch.is_open = is_small or f"{chosen}/".startswith(f"{path}/")
        branch.left = _cut(branch.inside, chosen) if branch.is_open else 0
    return top


def _cut(beside: list[Branch], chosen: str) -> int:
    """Leave out what is too much of the folders in one; return how many that are.

    The one that leads to the chosen folder stays.
    """
    kept = [
        branch
        for at, branch in enumerate(beside)
        if at < MAX_BESIDE or f"{chosen}/".startswith(f"{branch.path}/")
    ]
    left = len(beside) - len(kept)
    beside[:] = kept
    return left
