"""A file of an agent's settings: read whole, replaced whole or not at all.

A link is followed and stays a link, for people keep such files elsewhere and link them.
The mode stays; a new file is for its owner alone.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from hivemind_memory.errors import NotConnectedError
from hivemind_memory.model.snapshot import Stamp
from hivemind_memory.notes import os_files

_MOST_BYTES = 64 * 1024 * 1024
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFile:
    """A file as it was when it was read."""

    path: str
    """As the agent names it."""

    real: str
    """Links resolved."""

    text: str | None
    """Without a byte order mark; None: it is not there."""

    has_bom: bool = False
    stamp: Stamp | None = None
    mode: int = os_files.PRIVATE_FILE

    @property
    def is_open_to_others(self) -> bool:
        """Whether other users of the machine may read it."""
        return self.text is not None and bool(self.mode & 0o044)


def read_client_file(path: str) -> ClientFile:
    """Return a file, whether it is there or not.

    Raises:
        NotConnectedError: It is not a text file, or cannot be read.
    """
    real = os.path.realpath(path)
    try:
        fd = os.open(real, os_files.READ)
    except (FileNotFoundError, NotADirectoryError):
        return ClientFile(path=path, real=real, text=None)
    except OSError as error:
        raise NotConnectedError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            raise NotConnectedError(f"{path} is not a file of settings.")
        data = os_files.read_at(fd, 0, _MOST_BYTES + 1)
    finally:
        os.close(fd)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotConnectedError(f"{path} is not in UTF-8.") from error
    return ClientFile(
        path=path,
        real=real,
        text=text.removeprefix(_BOM),
        has_bom=text.startswith(_BOM),
        stamp=os_files.stamp_of(status),
        mode=stat.S_IMODE(status.st_mode),
    )


def write_client_file(old: ClientFile, text: str) -> None:
    """Put *text* in the place of a file, if it is still as it was read.

    Raises:
        NotConnectedError: It was not written, and why.
    """
    folder, name = os.path.split(old.real)
    beside = os.path.join(folder, f".{name}.hm-{os.urandom(6).hex()}.tmp")
    data = (_BOM if old.has_bom else "").encode() + text.encode()
    try:
        os_files.make_private_folder(folder)
        _refuse_locked(old)
        _make(beside, data, old)
        try:
            _refuse_changed(old)
            os.replace(beside, old.real)
        except BaseException:
            os.unlink(beside)
            raise
        with os_files.OpenFolder.at(folder) as opened:
            opened.sync()
    except OSError as error:
        message = f"{old.path} could not be written: {error.strerror}."
        raise NotConnectedError(message) from error


def delete_client_file(old: ClientFile, folders: tuple[str, ...]) -> None:
    """Take away a file that we made, and those of *folders* that are empty then.

    Raises:
        NotConnectedError: It was not deleted, and why.
    """
    try:
        _refuse_changed(old)
        os.unlink(old.real)
        for folder in sorted(folders, key=len, reverse=True):
            if os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
    except OSError as error:
        message = f"{old.path} could not be deleted: {error.strerror}."
        raise NotConnectedError(message) from error


def missing_folders(path: str) -> tuple[str, ...]:
    """Return the folders above *path* that would have to be made."""
    missing = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(missing)


def _make(path: str, data: bytes, old: ClientFile) -> None:
    """Make a new file with this content and the old one's mode and owner, synced."""
    fd = os.open(path, os_files.CREATE, os_files.PRIVATE_FILE)
    try:
        if old.text is not None and hasattr(os, "fchown"):
            status = os.stat(old.real)
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(fd, status.st_uid, status.st_gid)
        os_files.write_all(fd, data)
        os_files.set_mode(fd, old.mode)
        os_files.sync_file(fd)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(fd)


def _refuse_locked(old: ClientFile) -> None:
    """Raise if the file may not be written; a new one in its place would be."""
    if old.text is not None and not old.mode & 0o222:
        raise NotConnectedError(
            f"{old.path} is read-only.",
            hint="Something else manages it: put the entry there.",
        )


def _refuse_changed(old: ClientFile) -> None:
    """Raise if somebody changed the file since it was read."""
    try:
        stamp = os_files.stamp_of(os.stat(old.real))
    except FileNotFoundError:
        stamp = None
    if stamp != old.stamp:
        message = f"{old.path} was changed by somebody else meanwhile."
        raise NotConnectedError(message, hint="Try again.")
