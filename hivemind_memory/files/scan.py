"""One scan of the notes folder: every note with its signature, and what is skipped.

This runs before every answer, so the loop over the files calls no function of the
package and checks all names of a scan of once. It reads no file.
"""

from __future__ import annotations

from hivemind_memory.files.paths import (
    DEVICE_STARTS,
    MAX_PARTS,
    SUFFIX,
    is_plain,
    name_problem,
    path_problem,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.snapshot import SkippedNote
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.descriptors import OpenFolder
    from hivemind_memory.model.snapshot import FileSignature


BYTES_PER_MB = 1_000_000
MAX_NOTE_BYTES = 5 * BYTES_PER_MB
"""The default of the option ``max_note_mb``."""

_OTHER_SUFFIXES = (SUFFIX, ".markdown", ".mdown", ".mdx", ".mkd")
"""In small letters: who writes such a file takes it for a note, so it is named."""

# Shorter than this in characters, a folder's path leaves room for any name in bytes.
_SAFE_PREFIX_CHARS = 192


@value
class FolderSnapshot:
    """What the notes folder held at one moment."""

    signatures: dict[NotePath, FileSignature]
    """Every note, in no order."""

    skipped: tuple[SkippedNote, ...]
    """Files and folders that look like notes and cannot be, sorted by path."""

    partial: tuple[str, ...] = ()
    """Paths of files that may be half-written; see ``atomic.PARTIAL_FILE``."""


def take_snapshot(
    root: OpenFolder, max_note_bytes: int = MAX_NOTE_BYTES
) -> FolderSnapshot:
    """Return every note below *root*, and what was skipped and why.

    A note is a regular file whose name ends in ``.md`` and is legal, in no dot folder.
    Links are not followed, neither to files nor to folders.

    Args:
        root: The notes folder, held open.
        max_note_bytes: A larger file is skipped.

    Raises:
        OSError: *root* itself cannot be listed.
    """
    pass_ = _Pass(max_note_bytes)
    pass_.scan(root, "", 1)
    pass_.drop_illegal()
    skipped = [
        SkippedNote(path=_printable(path), reason=reason)
        for path, reason in sorted(pass_.skipped.items())
    ]
    return FolderSnapshot(
        signatures=pass_.signatures,
        skipped=tuple(skipped),
        partial=tuple(pass_.partial),
    )


class _Pass:
    """What one pass over the folders has found so far."""

    __slots__ = ("doubtful", "max_bytes", "partial", "signatures", "skipped")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.signatures: dict[NotePath, FileSignature] = {}
        self.skipped: dict[str, str] = {}
        self.doubtful: list[NotePath] = []
        self.partial: list[str] = []

    def scan(self, folder: OpenFolder, prefix: str, depth: int) -> None:
        """Gather the notes of *folder*, then of the folders in it."""
        signatures, max_bytes = self.signatures, self.max_bytes
        below = []
        with folder.scan() as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    if name.startswith(".hm-"):
                        self.partial.append(prefix + name)
                    continue
                if name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # it went while we looked
                    if status.st_size > max_bytes:
                        self.skipped[prefix + name] = too_large(max_bytes)
                        continue
                    # signature_of, inlined: a call for each file would cost a tenth.
                    path = NotePath(prefix + name)
                    signatures[path] = (
                        status.st_mtime_ns,
                        status.st_ctime_ns,
                        status.st_size,
                        status.st_ino,
                    )
                    if name[:3] in DEVICE_STARTS or len(prefix) > _SAFE_PREFIX_CHARS:
                        self.doubtful.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    below.append(name)
                elif entry.is_symlink():
                    self._skip_link(prefix + name)
                elif name.endswith(SUFFIX):
                    self.skipped[prefix + name] = "it is not a regular file"
                elif name.lower().endswith(_OTHER_SUFFIXES):
                    self.skipped[prefix + name] = (
                        f"its name does not end in {SUFFIX}; rename it to be found"
                    )
        for name in below:
            self._scan_below(folder, prefix, name, depth)

    def drop_illegal(self) -> None:
        """Turn listed files whose path is not legal into skipped ones."""
        doubtful = self.doubtful
        if not is_plain("/".join(self.signatures)):
            doubtful = doubtful + [one for one in self.signatures if not is_plain(one)]
        for path in dict.fromkeys(doubtful):
            problem = path_problem(path)
            if problem:
                del self.signatures[path]
                self.skipped[path] = problem

    def _scan_below(
        self, folder: OpenFolder, prefix: str, name: str, depth: int
    ) -> None:
        """Scan the folder *name* in *folder*, unless its notes could not be named."""
        path = f"{prefix}{name}/"
        problem = name_problem(name)
        if not problem and depth >= MAX_PARTS:
            problem = f"it lies {MAX_PARTS} folders deep"
        if problem:
            self.skipped[path] = problem
            return
        try:
            with folder.child(name) as child:
                self.scan(child, path, depth + 1)
        except (FileNotFoundError, NotADirectoryError):
            return  # it went, or was swapped for a link, while we looked
        except OSError as error:
            self.skipped[path] = f"the folder cannot be listed: {error.strerror}"

    def _skip_link(self, path: str) -> None:
        """Report a link that a person may have meant as a note or a folder of notes.

        Where it leads is not looked at: that may be anywhere.
        """
        name = path.rpartition("/")[2]
        if name.endswith(SUFFIX) or "." not in name:
            self.skipped[path] = (
                "it is a link, and links are not followed; move the notes here"
            )


def too_large(max_bytes: int) -> str:
    """Return why a note is skipped that is larger than *max_bytes*."""
    size_mb = max_bytes / BYTES_PER_MB
    return f"it is larger than {size_mb:g} MB; `hm config set max_note_mb` allows more"


def _printable(path: str) -> str:
    """Return *path* with bytes that are not UTF-8 shown as escapes."""
    return path.encode("utf-8", "backslashreplace").decode()
