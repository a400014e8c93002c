"""Keeps our lines in git's own files, such as ``info/exclude``, between two marks.

The settings are in the folder that the worktrees of a repository share, and none is
ever committed or pushed. The caller holds the lock of that folder.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from hivemind_memory.errors import NotInjectedError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.marked_section import body_of, put_section, remove_section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.files.marked_section import SectionMarks

EXCLUDE = "info/exclude"
_GLOB = frozenset("\\*?[")


class OwnLines:
    """Our lines in one of git's files."""

    def __init__(self, common_dir: str, name: str, marks: SectionMarks) -> None:
        """Read nothing yet.

        Args:
            common_dir: The git folder that all worktrees share.
            name: The file below it, with forward slashes.
            marks: What encloses the lines.
        """
        self._path = os.path.join(common_dir, *name.split("/"))
        self._marks = marks

    def all(self) -> list[str]:
        """Return the lines."""
        body = body_of(self._read(), self._marks)
        return [line for line in body.split("\n") if line]

    def add(self, line: str) -> bool:
        """Add a line, once; return whether it is new."""
        lines = self.all()
        if line in lines:
            return False
        self.write((*lines, line))
        return True

    def remove(self, line: str) -> None:
        """Remove a line, if it is there."""
        self.write(kept for kept in self.all() if kept != line)

    def write(self, lines: Iterable[str]) -> None:
        """Replace all lines; the rest of the file keeps its bytes.

        Raises:
            NotInjectedError: The file cannot be changed.
        """
        before = self._read()
        body = "\n".join(lines)
        if body:
            after = put_section(before, body, self._marks)
        else:
            after = remove_section(before, self._marks)
        if after == before:
            return
        if not after:
            os.unlink(self._path)
            with suppress(OSError):  # the folder may have been missing before
                os.rmdir(os.path.dirname(self._path))
            return
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        replace_small(self._path, after)

    def _read(self) -> bytes:
        """Return the whole file; empty if it does not exist."""
        try:
            with open(self._path, "rb", opener=open_regular) as file:
                return file.read()
        except FileNotFoundError:
            return b""


def exclude_pattern(file: str) -> str:
    r"""Return the pattern that matches exactly *file* in ``info/exclude``.

    >>> exclude_pattern("docs/a*b.md")
    '/docs/a\\*b.md'
    """
    if "\n" in file:
        raise NotInjectedError("git cannot be configured for a path with a newline")
    text = "".join(f"\\{letter}" if letter in _GLOB else letter for letter in file)
    return "/" + (text[:-1] + "\\ " if text.endswith(" ") else text)


def replace_small(path: str, data: bytes) -> None:
    """Replace one of git's files, keeping its mode."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
        write_file(path, data, mode=mode)
    except OSError as error:
        message = f"{path} cannot be changed: {reason_of(error)}"
        raise NotInjectedError(message) from error
