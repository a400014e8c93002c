"""The folder that files are read from. Nothing outside it is read.

Every path is walked folder by folder, by descriptor and without following links, so
neither a name nor a link that is put there meanwhile leads out. The root itself may be
a link. Folders that must not be read, such as the notes, are refused by identity.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import suppress

from hivemind_memory.errors import UsageError
from hivemind_memory.files import descriptors
from hivemind_memory.files.descriptors import FileIdentity, OpenFolder, identity_at
from hivemind_memory.files.errors import no_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_MAX_OPEN = 64
"""Folders that one batch holds open; a process may have 1,024 files in all."""

_MAX_DEPTH = 40


class RootFolder:
    """A folder, and what of it may be read."""

    def __init__(self, root: str | None, refused: Collection[str] = ()) -> None:
        """Open nothing yet.

        Args:
            root: Path of the folder; None: nothing may be read.
            refused: Paths of folders that are never entered, wherever they are.
        """
        self.path = os.path.abspath(os.path.expanduser(root)) if root else ""
        found = (identity_at(path) for path in refused)
        self._refused = frozenset(
            identity for identity in found if identity is not None
        )

    def relative(self, location: str) -> str:
        """Return a location as a path below the root, with forward slashes.

        Raises:
            UsageError: It is not below it. Only the name is judged; reading checks the
                folders.
        """
        if not self.path:
            raise UsageError(f"{location!r} cannot be read: there is no root folder.")
        path = location
        if os.path.isabs(location):
            for root in (self.path, os.path.realpath(self.path)):
                if location.startswith(root.rstrip(os.sep) + os.sep):
                    path = os.path.relpath(location, root)
                    break
            else:
                raise UsageError(f"location {location!r} is outside {self.path}.")
        parts = [part for part in path.replace(os.sep, "/").split("/") if part != "."]
        if ".." in parts or "" in parts or "\0" in path or not parts:
            message = f"location {location!r} is not a path inside the root folder."
            raise UsageError(message)
        return "/".join(parts)

    def check_usable(self) -> None:
        """Raise unless the root is a folder that may be read.

        Raises:
            UsageError: It is not.
        """
        try:
            with self.walk() as walk:
                walk.folder("")
        except PermissionError as error:
            raise UsageError(f"Files in {self.path} cannot be read here.") from error
        except OSError as error:
            raise no_folder(self.path) from error
        # A root inside a folder that is refused: nothing is entered on the way to it.
        above = os.path.realpath(self.path)
        while above != os.path.dirname(above):
            above = os.path.dirname(above)
            if identity_at(above) in self._refused:
                raise UsageError(f"Files in {self.path} cannot be read here.")

    def walk(self) -> Walk:
        """Return what reads a batch of files; use it in a ``with`` statement."""
        return Walk(self.path, self._refused)


class Walk:
    """Opens files below a root, and keeps their folders open for the next ones."""

    def __init__(self, root: str, refused: frozenset[FileIdentity]) -> None:
        self._root = root
        self._refused = refused
        self._open: OrderedDict[str, OpenFolder] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def status(self, path: str) -> os.stat_result:
        """Return what the system knows about a file itself, links not followed.

        Raises:
            OSError: It is not there, or cannot be reached without a link.
        """
        above, _, name = path.rpartition("/")
        return self.folder(above).status(name)

    def may_enter(self, path: str) -> bool:
        """Return whether no folder on the way to a file is refused."""
        try:
            self.status(path)
        except PermissionError:
            return False
        except OSError:
            return True  # it was deleted
        return True

    def open_file(self, path: str) -> int:
        """Return a descriptor of a regular file, to be closed by the caller.

        Raises:
            OSError: It is none, or cannot be reached without a link.
        """
        above, _, name = path.rpartition("/")
        return self.folder(above).open_file(name, descriptors.READ)

    def folder(self, path: str) -> OpenFolder:
        """Return an open folder, which this batch closes; empty: the root.

        Raises:
            OSError: It is not there, is a link, or must not be read.
        """
        known = self._open.get(path)
        if known is not None:
            return known
        if not path:
            opened = OpenFolder.at(self._root)
        else:
            above, _, name = path.rpartition("/")
            opened = self.folder(above).child(name)
        if descriptors.identity_of(opened.own_status()) in self._refused:
            opened.close()
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        if len(self._open) >= _MAX_OPEN:
            # The root comes first and is needed again and again.
            oldest = next(name for name in self._open if name)
            self._open.pop(oldest).close()
        self._open[path] = opened
        return opened

    def files(self, skipped: Collection[str], limit: int) -> Iterator[str]:
        """Yield the paths of regular files that are not hidden, folder by folder.

        Each folder in order of names.

        Args:
            skipped: Names of folders that are not entered.
            limit: Most files.
        """
        todo, count = [""], 0
        while todo:
            above = todo.pop()
            folders = []
            for name, is_folder in self._listed(above):
                if name.startswith("."):
                    continue
                path = f"{above}/{name}" if above else name
                if not is_folder:
                    yield path
                    count += 1
                    if count >= limit:
                        return
                elif name not in skipped and path.count("/") < _MAX_DEPTH:
                    folders.append(path)
            todo += reversed(folders)

    def _listed(self, path: str) -> list[tuple[str, bool]]:
        """Return names in a folder with whether they are folders; no links."""
        found = []
        with suppress(OSError), self.folder(path).scan() as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        found.append((entry.name, True))
                    elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
                        found.append((entry.name, False))
        return sorted(found)
