"""Where each agent keeps its transcripts, and what reads them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from hivemind_memory.model.agents import TRANSCRIPT_SOURCES
from hivemind_memory.model.value import value
from hivemind_memory.transcripts import claude, codex, gemini, qwen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.transcripts.message import FileState, Message, Record

_MAX_DEPTH = 6


@value
class LineSource:
    """An agent whose transcripts are files of JSON Lines."""

    name: str
    folder: str
    """Below it are the files."""

    read_record: Callable[[Record, FileState], Iterator[Message]]
    marks: tuple[bytes, ...]
    """Each line that holds a message has one of these."""

    prefix: str = ""
    """Of the files' names."""

    parent: str = ""
    """Name of the folder that they lie in; empty: any."""

    folder_of: Callable[[str], str] | None = None
    """Returns where a file's session worked, if the records do not say it."""


@value
class DatabaseSource:
    """An agent whose transcripts are in one SQLite file: OpenCode."""

    name: str
    folder: str
    path: str


Source = LineSource | DatabaseSource


class FoundFile(NamedTuple):
    """A transcript as it lies on the disk."""

    path: str
    inode: int
    size_bytes: int
    mtime_ns: int


def all_sources(home: str, environ: Mapping[str, str]) -> tuple[Source, ...]:
    """Return the sources of a user, whether they are there or not.

    Args:
        home: The user's home folder.
        environ: Variables by which the agents keep their files elsewhere.
    """

    def place(variable: str, *standard: str) -> str:
        return environ.get(variable) or os.path.join(home, *standard)

    data = place("XDG_DATA_HOME", ".local", "share")
    opencode = os.path.join(data, "opencode")
    return (
        LineSource(
            name="claude",
            folder=os.path.join(place("CLAUDE_CONFIG_DIR", ".claude"), "projects"),
            read_record=claude.read_record,
            marks=claude.MARKS,
        ),
        LineSource(
            name="codex",
            folder=os.path.join(place("CODEX_HOME", ".codex"), "sessions"),
            read_record=codex.read_record,
            marks=codex.MARKS,
            prefix="rollout-",
        ),
        LineSource(
            name="gemini",
            folder=os.path.join(home, ".gemini", "tmp"),
            read_record=gemini.read_record,
            marks=gemini.MARKS,
            prefix="session-",
            parent="chats",
            folder_of=gemini.folder_of,
        ),
        DatabaseSource(
            name="opencode",
            folder=opencode,
            path=os.path.join(opencode, "opencode.db"),
        ),
        LineSource(
            name="qwen",
            folder=os.path.join(home, ".qwen", "projects"),
            read_record=qwen.read_record,
            marks=qwen.MARKS,
            parent="chats",
        ),
    )


def chosen_sources(
    names: tuple[str, ...], home: str, environ: Mapping[str, str]
) -> tuple[Source, ...]:
    """Return the sources of some names, in the order of ``TRANSCRIPT_SOURCES``."""
    found = {source.name: source for source in all_sources(home, environ)}
    return tuple(found[name] for name in TRANSCRIPT_SOURCES if name in names)


def find_files(source: LineSource) -> Iterator[FoundFile]:
    """Yield the transcripts of a source. What cannot be listed now is passed over.

    A symbolic link is followed to a file below the folder, and nowhere else.
    """
    todo = [(source.folder, 0)]
    while todo:
        folder, depth = todo.pop()
        is_place = not source.parent or os.path.basename(folder) == source.parent
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if depth < _MAX_DEPTH:
                            todo.append((entry.path, depth + 1))
                    elif is_place and _is_transcript(source, entry.name):
                        if entry.is_symlink() and _leads_out(source, entry.path):
                            continue
                        status = entry.stat()
                        if stat.S_ISREG(status.st_mode):
                            yield found_file(entry.path, status)
        except OSError:
            continue


def found_file(path: str, status: os.stat_result) -> FoundFile:
    """Return a file with what its status says."""
    return FoundFile(path, status.st_ino, status.st_size, status.st_mtime_ns)


def _leads_out(source: LineSource, path: str) -> bool:
    """Return whether a link leads to something that is not below a source's folder."""
    top = os.path.join(os.path.realpath(source.folder), "")
    return not os.path.realpath(path).startswith(top)


def _is_transcript(source: LineSource, name: str) -> bool:
    """Return whether a file's name is that of a transcript."""
    return name.endswith(".jsonl") and name.startswith(source.prefix)
