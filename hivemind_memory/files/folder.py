"""The notes folder: lists, reads and replaces notes.

Every path is walked folder by folder from the root, by descriptor and without following
links, so no name and no link leads out. The root itself may be a link. Links that a
person has listed are read, see ``followed_links``. ``notes.append`` appends.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from io import FileIO

from hivemind_memory.errors import (
    HivemindError,
    NotePathError,
    NoteTooLargeError,
    NotSavedError,
)
from hivemind_memory.files import descriptors
from hivemind_memory.files.descriptors import OpenFolder, signature_of
from hivemind_memory.files.errors import (
    cause_of,
    is_gone,
    is_in_the_way,
    no_notes_folder,
    read_error,
    save_error,
)
from hivemind_memory.files.scan import (
    DEFAULT_MAX_NOTE_BYTES,
    FolderSnapshot,
    take_snapshot,
    too_large,
)
from hivemind_memory.files.scope_folders import spelled_path
from hivemind_memory.model.note_path import NotePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivemind_memory.files.scan import FollowLink
    from hivemind_memory.model.snapshot import FileSignature


_TRIES = 3
_NO_LINKS: Mapping[str, str] = {}


class NotesFolder:
    """The notes folder. Holds nothing open between calls; threads may share it."""

    __slots__ = ("links", "max_note_bytes", "root")

    def __init__(
        self,
        root: str,
        *,
        max_note_bytes: int = DEFAULT_MAX_NOTE_BYTES,
        links: Mapping[str, str] = _NO_LINKS,
    ) -> None:
        self.root = os.path.abspath(root)
        """Where the folder lies, absolute; a link there is followed."""

        self.links = links
        """Path of each link that is followed -> the folder that it may lead to."""

        self.max_note_bytes = max_note_bytes
        """A larger note is skipped: it is in no snapshot and in no index."""

    def snapshot(self) -> FolderSnapshot:
        """Return every note with its signature, and what was passed over and why.

        Raises:
            NotesMissingError: There is no such folder. An empty answer would make the
                index forget everything because a drive is not mounted.
            HivemindError: It cannot be listed now.
        """
        try:
            with self.open_root() as root:
                return take_snapshot(root, self.max_note_bytes, self._followed())
        except OSError as error:
            cause, hint = cause_of(error)
            message = f"The notes folder {self.root} cannot be listed: {cause}."
            raise HivemindError(message, hint=hint) from error

    def spelled(self, path: NotePath) -> NotePath:
        """Return a path with the folders of its scope as they are on the disk."""
        return spelled_path(self.root, path)

    def signatures(self) -> dict[NotePath, FileSignature]:
        """Return every note with its signature; see ``snapshot``."""
        return self.snapshot().signatures

    def read(
        self,
        path: NotePath,
        *,
        max_bytes: int | None = None,
        parent: OpenFolder | None = None,
    ) -> tuple[bytes, FileSignature]:
        """Return the bytes of a note and the signature that they belong to.

        A note that changes while it is read is read again. If it keeps changing, the
        signature is older than the bytes, so the next scan sees a change.

        Args:
            path: Its path below the notes folder.
            max_bytes: Read no note that is larger; None: any.
            parent: The folder it lies in, if that is open already.

        Raises:
            NoteNotFoundError: There is no such note.
            NotePathError: A link or something else that is not a regular file is there.
            NoteUnreadableError: It cannot be read now, or is too large.
        """
        try:
            if parent is None:
                with self.open_parent(path, is_read=True) as opened:
                    fd = opened.open_file(_name(path), descriptors.READ)
            else:
                fd = parent.open_file(_name(path), descriptors.READ)
        except OSError as error:
            raise read_error(path, error) from error
        try:
            return _read_quiet(fd, max_bytes)
        except OSError as error:
            raise read_error(path, error) from error
        finally:
            os.close(fd)

    def signature(self, path: NotePath) -> FileSignature | None:
        """Return the signature of a note; None: nothing is there, or no regular file.

        Raises:
            NoteUnreadableError: The system does not say now.
        """
        try:
            with self.open_parent(path, is_read=True) as parent:
                fd = parent.open_file(_name(path), descriptors.READ)
            try:
                return signature_of(os.fstat(fd))
            finally:
                os.close(fd)
        except OSError as error:
            if is_gone(error) or is_in_the_way(error):
                return None
            raise read_error(path, error) from error

    def replace(
        self,
        path: NotePath,
        data: bytes | Iterable[bytes],
        *,
        expected: FileSignature | None,
    ) -> FileSignature:
        """Put *data* in the place of a note, whole or not at all, and synced.

        It is written beside the note and renamed. The mode stays; a new note is 0600.
        Between the last comparison with *expected* and the rename another program
        still has some microseconds to be overwritten in.

        Args:
            path: Its path; folders that are missing are made.
            data: All of its bytes, or these a piece at a time.
            expected: What the note must still be; None: there must be none yet.

        Returns:
            The signature of the new bytes.

        Raises:
            NotSavedError: It is not as expected, or the disk refused.
            NotePathError: A link or something else that is not a regular file is there.
        """
        made: list[str] = []
        try:
            with self.open_parent(path, made=made) as parent:
                return _replace_note(parent, path, data, expected)
        except OSError as error:
            self.remove_made_folders(made)
            raise save_error(path, error) from error
        except NotSavedError:
            self.remove_made_folders(made)
            raise

    def open_root(self) -> OpenFolder:
        """Return the folder itself, held open.

        Raises:
            NotesMissingError: It is not there.
            OSError: It cannot be opened now.
        """
        try:
            return OpenFolder.at(self.root)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise no_notes_folder(self.root) from error

    def open_parent(
        self,
        path: NotePath,
        *,
        made: list[str] | None = None,
        is_read: bool = False,
    ) -> OpenFolder:
        """Return the folder that holds *path*, held open.

        Args:
            path: The note, which need not be there.
            made: Makes folders that are missing, and gathers their paths; None: does
                not make any.
            is_read: The note is only read, so listed links are followed.

        Raises:
            NotePathError: It lies behind a listed link, where nothing is written.
            OSError: It is not there, or a link or a file is in its place.
        """
        folder = self.open_root()
        walked = ""
        try:
            for name in path.split("/")[:-1]:
                walked = f"{walked}/{name}" if walked else name
                if walked in self.links and (
                    link := self._link(path, walked, is_read=is_read)
                ):
                    child = link
                else:
                    child = _enter(folder, name, walked, made)
                folder.close()
                folder = child
        except BaseException:
            folder.close()
            raise
        return folder

    def link_above(self, path: str) -> str:
        """Return the listed link that a path lies behind; empty: none."""
        if not self.links:
            return ""
        folders = path.split("/")[:-1]
        walked = ("/".join(folders[: at + 1]) for at in range(len(folders)))
        return next((parent for parent in walked if self._is_link(parent)), "")

    def behind_link_error(self, path: str, effect: str) -> NotePathError:
        """Return the error for a change to a note that lies behind a listed link."""
        link = self.link_above(path)
        inside = path.removeprefix(link).lstrip("/")
        return NotePathError(
            f"{path} is behind the link {link}, where nothing is written.",
            hint=f"Change {os.path.join(self.links.get(link, ''), inside)} by hand.",
            effect=effect,
        )

    def _is_link(self, walked: str) -> bool:
        """Return whether a listed link is at a path now."""
        there = os.path.join(self.root, walked)
        return walked in self.links and os.path.islink(there)

    def _followed(self) -> FollowLink | None:
        """Return what opens the folder behind a listed link; None: none is listed."""
        if not self.links:
            return None
        from hivemind_memory.files.followed_links import open_followed

        def follow(path: str) -> OpenFolder | None:
            listed = path in self.links
            return open_followed(self.root, self.links, path) if listed else None

        return follow

    def _link(self, path: NotePath, walked: str, *, is_read: bool) -> OpenFolder | None:
        """Return the folder behind a listed link; None: no link is there now."""
        if not self._is_link(walked):
            return None
        follow = self._followed()
        if is_read and follow:
            return follow(walked)
        raise self.behind_link_error(path, "Nothing was changed there")

    def remove_made_folders(self, made: list[str]) -> None:
        """Remove folders that were made for a note that was not saved, if empty."""
        for path in reversed(made):
            # If it is not empty, another process uses it by now.
            with (
                suppress(OSError, HivemindError),
                self.open_parent(NotePath(path)) as parent,
            ):
                parent.remove_child(_name(path))


def _name(path: str) -> str:
    """Return the last part of *path*."""
    return path.rpartition("/")[2]


def _enter(
    folder: OpenFolder, name: str, walked: str, made: list[str] | None
) -> OpenFolder:
    """Return the folder *name* in *folder*, made if it is missing and may be."""
    try:
        return folder.child(name)
    except FileNotFoundError:
        if made is None:
            raise
    made.append(walked)  # first, for it may be made and then not be synced
    try:
        folder.make_child(name)
    except FileExistsError:
        made.remove(walked)  # another process was faster
    return folder.child(name)


def _replace_note(
    parent: OpenFolder,
    path: NotePath,
    data: bytes | Iterable[bytes],
    expected: FileSignature | None,
) -> FileSignature:
    """Put *data* in the place of a note if it is as expected; return its signature."""
    from hivemind_memory.files.atomic import PartialFile  # only for writing

    name = _name(path)
    mode = _expected_mode(parent, path, expected)
    with PartialFile(parent, data, mode=mode) as partial:
        _expected_mode(parent, path, expected)
        try:
            if expected is not None:
                partial.replace(name)
            elif not partial.create(name):
                raise _not_as_expected(path, "is there already")
            # The new name has changed the time of the last change.
            return signature_of(parent.status(name))
        except OSError as error:
            if not partial.was_named:
                raise
            if isinstance(error, FileNotFoundError):
                message = f"Another program removed {path} as soon as it was saved."
                raise HivemindError(message) from error
            cause, hint = cause_of(error)
            effect = f"{path} was replaced, but a power failure might undo it"
            raise HivemindError(f"{cause}.", hint=hint, effect=effect) from error


def _expected_mode(
    parent: OpenFolder, path: NotePath, expected: FileSignature | None
) -> int:
    """Return the mode that the new file gets, if the note is as expected."""
    try:
        status = parent.status(_name(path))
    except FileNotFoundError:
        if expected is None:
            return descriptors.PRIVATE_FILE
        raise _not_as_expected(path, "is gone") from None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    if expected is None:
        raise _not_as_expected(path, "is there already")
    if signature_of(status) != expected:
        raise _not_as_expected(path, "has changed since it was read")
    return stat.S_IMODE(status.st_mode)


def _not_as_expected(path: NotePath, found: str) -> NotSavedError:
    """Return the error for a note that another program has changed."""
    return NotSavedError(
        f"the note {found}.",
        hint="Read it again, then decide.",
        effect=f"Nothing was saved to {path}",
    )


def _read_quiet(fd: int, max_bytes: int | None) -> tuple[bytes, FileSignature]:
    """Return what an open file holds, if possible at one moment, and its signature."""
    signature = signature_of(os.fstat(fd))
    if max_bytes is not None and signature[2] > max_bytes:
        raise NoteTooLargeError(too_large(max_bytes))
    data = b""
    for attempt in range(_TRIES):
        if attempt:
            os.lseek(fd, 0, os.SEEK_SET)
        data = _read_whole(fd, signature[2])
        before, signature = signature, signature_of(os.fstat(fd))
        if signature == before:
            return data, signature
    return data, before


def _read_whole(fd: int, size: int) -> bytes:
    """Return what an open file holds, which is most likely *size* bytes."""
    # In one call; asking for one byte more shows that nothing follows.
    data = os.read(fd, size + 1)
    if len(data) != size:
        os.lseek(fd, 0, os.SEEK_SET)
        data = FileIO(fd, closefd=False).readall()
    return data
