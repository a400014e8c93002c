"""Scans the notes folder: every note with its signature, and the files it skips.

This runs before every answer, so the loop over the files calls no function of the
package, checks the names of a folder at once, and puts no path together: a digest tells
whether anything is different from the last scan. It reads no file.
"""

from __future__ import annotations

import marshal
from operator import attrgetter

from hivemind_memory.files.digests import blake2b_hex
from hivemind_memory.files.errors import is_gone, is_in_the_way, reason_of
from hivemind_memory.files.paths import (
    DEVICE_STARTS,
    MAX_PARTS,
    PARTIAL_PREFIX,
    SUFFIX,
    is_plain,
    name_problem,
    path_problem,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.snapshot import DEFAULT_MAX_NOTE_MB, SkippedNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from hivemind_memory.files.descriptors import OpenFolder
    from hivemind_memory.model.snapshot import FileSignature

    FollowLink = Callable[[str], OpenFolder | None]
    """Opens the folder behind a link; None: the link is not listed."""

BYTES_PER_MB = 1_000_000
DEFAULT_MAX_NOTE_BYTES = DEFAULT_MAX_NOTE_MB * BYTES_PER_MB

_OTHER_SUFFIXES = (SUFFIX, ".markdown", ".mdown", ".mdx", ".mkd")
"""Lowercase. A file with such a suffix is probably meant as a note, and is reported."""

# Shorter than this in characters, a folder's path leaves room for any name in bytes.
_SAFE_PREFIX_CHARS = 192


# signature_of, without a call of our own for each file.
_signature_of = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")

_PLAIN_MARKS = dict.fromkeys(map(ord, "/._-"), "x")

_Folder = tuple[str, list[str], list["FileSignature"]]
"""Prefix of its notes' paths; names of its notes; their signatures."""


class FolderSnapshot:
    """What the notes folder held at one moment."""

    __slots__ = (
        "_digest",
        "_folders",
        "_signatures",
        "has_hard_links",
        "partial",
        "skipped",
        "unlisted",
    )

    def __init__(
        self,
        folders: list[_Folder],
        skipped: tuple[SkippedNote, ...],
        partial: tuple[str, ...],
        *,
        has_hard_links: bool = False,
        unlisted: tuple[str, ...] = (),
    ) -> None:
        self._folders = folders
        self._digest = ""
        self._signatures: dict[NotePath, FileSignature] | None = None
        self.skipped = skipped
        """Files and folders that look like notes and cannot be, sorted by path."""

        self.partial = partial
        """Paths of files that may be half-written; see ``PARTIAL_PREFIX``."""

        self.has_hard_links = has_hard_links
        """Whether a note has another name, under which it changes without an event."""

        self.unlisted = unlisted
        """Paths of notes and, with a slash, of folders that the system did not show:
        what is there is unknown, so nothing there is gone. Each is skipped, too. What
        this user may not read is skipped alone, and so not found any more."""

    @property
    def signatures(self) -> dict[NotePath, FileSignature]:
        """Every note with its signature, in no order."""
        if self._signatures is None:
            found: dict[NotePath, FileSignature] = {}
            for prefix, names, signatures in self._folders:
                # No call of NotePath: there may be 60,000 of them before an answer.
                paths: Iterator[NotePath] = map(prefix.__add__, names)  # type: ignore[arg-type]
                found.update(zip(paths, signatures, strict=True))
            self._signatures = found
        return self._signatures

    @property
    def digest(self) -> str:
        """A digest of every note and its signature.

        Equal digests mean equal notes and signatures. Different ones may mean only that
        the system lists the same files in another order.
        """
        if not self._digest:
            # Without references (from version 3) equal values are equal bytes.
            data = marshal.dumps(self._folders, 2)
            self._digest = blake2b_hex(data)
        return self._digest


def take_snapshot(
    root: OpenFolder,
    max_note_bytes: int = DEFAULT_MAX_NOTE_BYTES,
    follow: FollowLink | None = None,
) -> FolderSnapshot:
    """Return every note below *root*, and what was skipped and why.

    A note is a regular file whose name ends in ``.md`` and is legal, in no dot folder.
    Links are not followed, but those to folders that a person has listed.

    Args:
        root: The notes folder, held open.
        max_note_bytes: A larger file is skipped.
        follow: Opens the folder behind a listed link; None: none is listed.

    Raises:
        OSError: *root* itself cannot be listed.
    """
    pass_ = _Pass(max_note_bytes, follow)
    pass_.scan(root, "", 1)
    skipped = [
        SkippedNote(path=_printable(path), reason=reason)
        for path, reason in sorted(pass_.skipped.items())
    ]
    return FolderSnapshot(
        pass_.folders,
        tuple(skipped),
        tuple(pass_.partial),
        has_hard_links=pass_.has_hard_links,
        unlisted=tuple(sorted(pass_.unlisted)),
    )


class _Pass:
    """What one pass over the folders has found so far."""

    __slots__ = (
        "_follow",
        "_is_behind_link",
        "folders",
        "has_hard_links",
        "max_bytes",
        "partial",
        "skipped",
        "unlisted",
    )

    def __init__(self, max_bytes: int, follow: FollowLink | None) -> None:
        self.max_bytes = max_bytes
        self._follow = follow
        self._is_behind_link = False
        self.folders: list[_Folder] = []
        self.skipped: dict[str, str] = {}
        self.partial: list[str] = []
        self.has_hard_links = False
        self.unlisted: list[str] = []

    def scan(self, folder: OpenFolder, prefix: str, depth: int) -> None:
        """Gather the notes of *folder*, then of the folders in it."""
        max_bytes = self.max_bytes
        names: list[str] = []
        signatures: list[FileSignature] = []
        below: list[str] = []
        links: list[os.DirEntry[str]] = []
        with folder.scan() as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    if name.startswith(PARTIAL_PREFIX) and not self._is_behind_link:
                        self.partial.append(prefix + name)
                    continue
                if name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError as error:
                        self._skip_unread(prefix + name, error)
                        continue
                    if status.st_size > max_bytes:
                        self.skipped[prefix + name] = too_large(max_bytes)
                        continue
                    self.has_hard_links |= status.st_nlink > 1
                    names.append(name)
                    signatures.append(_signature_of(status))
                elif entry.is_dir(follow_symlinks=False):
                    below.append(name)
                elif entry.is_symlink():
                    links.append(entry)
                elif name.endswith(SUFFIX):
                    self.skipped[prefix + name] = "it is not a regular file"
                elif name.lower().endswith(_OTHER_SUFFIXES):
                    self.skipped[prefix + name] = (
                        f"its name does not end in {SUFFIX}; rename it to be found"
                    )
        self._take(prefix, names, signatures)
        for name in below:
            self._scan_below(folder, prefix, name, depth)
        for entry in links:
            self._take_link(folder, entry, prefix, depth)

    def _take(
        self, prefix: str, names: list[str], signatures: list[FileSignature]
    ) -> None:
        """Keep the files of a folder whose path is legal, and skip the others."""
        is_odd = len(prefix) > _SAFE_PREFIX_CHARS or not is_plain("/".join(names))
        if is_odd or not DEVICE_STARTS.isdisjoint([name[:3] for name in names]):
            legal = []
            for name, signature in zip(names, signatures, strict=True):
                is_doubtful = is_odd or name[:3] in DEVICE_STARTS
                problem = path_problem(prefix + name) if is_doubtful else ""
                if problem:
                    self.skipped[prefix + name] = problem
                else:
                    legal.append((name, signature))
            names = [name for name, _ in legal]
            signatures = [signature for _, signature in legal]
        if names:
            self.folders.append((prefix, names, signatures))

    def _scan_below(
        self, folder: OpenFolder, prefix: str, name: str, depth: int
    ) -> None:
        """Scan the folder *name* in *folder*, unless its notes could not be named."""
        path = f"{prefix}{name}/"
        problem = name_problem(name)
        if not problem and depth >= MAX_PARTS:
            problem = f"it is nested more than {MAX_PARTS} folders deep"
        if problem:
            self.skipped[path] = problem
            return
        try:
            with folder.child(name) as child:
                self.scan(child, path, depth + 1)
        except OSError as error:
            self._skip_unread(path, error)

    def _skip_unread(self, path: str, error: OSError) -> None:
        """Skip what the system does not show now; what is there is not gone."""
        if is_gone(error):
            return  # deleted, or swapped for a link, meanwhile
        what = "the folder cannot be listed" if path[-1] == "/" else "it cannot be read"
        self.skipped[path] = f"{what}: {reason_of(error)}"
        if not isinstance(error, PermissionError):
            self.unlisted.append(path)

    def _take_link(
        self, folder: OpenFolder, link: os.DirEntry[str], prefix: str, depth: int
    ) -> None:
        """Scan the folder behind a listed link; report one that may be meant.

        Other links are not followed: they may lead anywhere.
        """
        path = prefix + link.name
        try:
            child = self._follow(path) if self._follow else None
        except OSError as error:
            self.skipped[path] = f"the link is not followed: {reason_of(error)}"
            if not (
                is_gone(error)
                or is_in_the_way(error)
                or isinstance(error, PermissionError)
            ):
                self.unlisted.append(f"{path}/")
            return
        if child is None:
            self._skip_link(folder, link, path)
            return
        was_behind, self._is_behind_link = self._is_behind_link, True
        try:
            with child:
                self.scan(child, f"{path}/", depth + 1)
        except OSError as error:
            self.skipped[path] = f"the folder cannot be listed: {reason_of(error)}"
            if not isinstance(error, PermissionError):
                self.unlisted.append(f"{path}/")
        finally:
            self._is_behind_link = was_behind

    def _skip_link(self, folder: OpenFolder, link: os.DirEntry[str], path: str) -> None:
        """Report a link that a person may have meant as a note or a folder of notes."""
        if path.endswith(SUFFIX):
            self.skipped[path] = "it is a symbolic link; put the note itself here"
        elif "." not in link.name or link.is_dir():
            self.skipped[path] = (
                "a link to a folder is followed only if you list it:"
                f" `hm config set {_listing(folder, path)}`"
            )


def _listing(folder: OpenFolder, path: str) -> str:
    """Return the words that list a link; what it leads to is not touched."""
    try:
        target = folder.link_target(path.rpartition("/")[2])
    except OSError:  # deleted, or swapped for a folder, meanwhile
        target = "FOLDER"
    return " ".join(map(_quoted, (f"followed_links.{path}", target)))


def _quoted(word: str) -> str:
    """Return a word as a shell takes it."""
    if word.translate(_PLAIN_MARKS).isalnum():
        return word
    import shlex  # slow to load, and seldom needed

    return shlex.quote(word)


def too_large(max_bytes: int) -> str:
    """Return why a note is skipped that is larger than *max_bytes*."""
    size_mb = max_bytes / BYTES_PER_MB
    return f"it is larger than {size_mb:g} MB; `hm config set max_note_mb` allows more"


def _printable(path: str) -> str:
    """Return *path* with bytes that are not UTF-8 shown as escapes."""
    return path.encode("utf-8", "backslashreplace").decode()
