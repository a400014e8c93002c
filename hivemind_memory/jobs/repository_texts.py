"""Reads the files of a repository that every agent sees anyway, part by part."""

from __future__ import annotations

import os
from contextlib import suppress

from hivemind_memory.files.descriptors import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = (
    *("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md"),
    *("README.md", "README.rst", "README.txt", "CONTRIBUTING.md"),
    *(".github/copilot-instructions.md", ".cursorrules"),
)
"""What agents read by themselves, and what a repository says of itself."""

_MAX_BYTES = 256 * 1024
_MAX_ABOVE = 20
"""Folders above the one of a session that are looked at for the repository's root."""


def repository_parts(folder: str) -> list[str]:
    """Return the parts of those files, in a folder and at the root of its repository.

    A part is what stands between blank lines. What cannot be read is passed over.
    """
    folders = dict.fromkeys((folder, _root_of(folder))) if folder else {}
    return [part for each in folders for part in _parts_in(each)]


def _root_of(folder: str) -> str:
    """Return the root of the repository that a folder is in, else the folder."""
    above = folder
    for _ in range(_MAX_ABOVE):
        if os.path.exists(os.path.join(above, ".git")):
            return above
        above = os.path.dirname(above)
    return folder


def _parts_in(folder: str) -> Iterator[str]:
    """Yield the parts of the files in a folder."""
    for name in FILES:
        text = ""
        with suppress(OSError):
            path = os.path.join(folder, *name.split("/"))
            with open(path, "rb", opener=open_regular) as file:
                text = file.read(_MAX_BYTES).decode("utf-8", "replace")
        for part in text.replace("\r\n", "\n").split("\n\n"):
            if part.strip():
                yield part
