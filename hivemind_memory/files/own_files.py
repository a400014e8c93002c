"""Opens files that only this program makes, and follows no link to another's."""

from __future__ import annotations

import os
import stat

from hivemind_memory.files.descriptors import IrregularFileError, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def open_own(path: str, flags: int) -> int:
    """Return what ``open_regular`` does, of a file that only this program makes.

    A link in its place leads to a file of another program: a folder of notes may come
    with one, as a clone of a repository does.

    Raises:
        IrregularFileError: A link, or something else, is there.
        OSError: What the system says.
    """
    try:
        return open_regular(path, flags | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        refuse_links(path)
        raise


def refuse_links(path: str, endings: Iterable[str] = ("",)) -> None:
    """Raise if a link is at *path*, or at one of those with an ending.

    Raises:
        IrregularFileError: There is one.
    """
    for ending in endings:
        if os.path.islink(path + ending):
            raise IrregularFileError(path + ending, stat.S_IFLNK)
