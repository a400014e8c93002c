"""An agent's settings file, and the record of what it was like before connecting.

A file is read whole, and replaced whole or not at all. A link is followed and stays a
link. The mode stays; a new file is readable by its owner alone.

The record holds only what the file itself cannot show later: whether it and its folders
existed, and what an empty object had between its brackets. It holds no setting and no
token. Without it, disconnecting leaves an empty object behind, and nothing worse.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from functools import partial

from hivemind_memory.errors import NotConnectedError
from hivemind_memory.files import descriptors
from hivemind_memory.files.atomic import PartialFile, write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import reason_of
from hivemind_memory.model.snapshot import FileSignature
from hivemind_memory.model.value import NO_ITEMS, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_BYTES = 64 * 1024 * 1024
_BOM = "\ufeff"
_MARKS = (b"hivemind", b"hook session-start", b"hook session-end")
"""One of these is in all that is written: servers, rules and hooks."""


@value
class ClientFile:
    """A file as it was when it was read."""

    path: str
    """As the agent names it."""

    real: str
    """Links resolved."""

    text: str | None
    """Without a byte order mark; None: the file does not exist."""

    has_bom: bool = False
    signature: FileSignature | None = None
    mode: int = descriptors.PRIVATE_FILE

    @property
    def is_open_to_others(self) -> bool:
        """Whether other users of the machine can read it."""
        return self.text is not None and bool(self.mode & 0o044)


def read_client_file(path: str) -> ClientFile:
    """Return a file, whether it exists or not.

    Raises:
        NotConnectedError: It is not a text file, or cannot be read.
    """
    real = os.path.realpath(path)
    try:
        fd = os.open(real, descriptors.READ)
    except (FileNotFoundError, NotADirectoryError):
        return ClientFile(path=path, real=real, text=None)
    except OSError as error:
        raise NotConnectedError(
            f"{path} cannot be read: {reason_of(error)}."
        ) from error
    found = descriptors.read_regular(fd, _MAX_BYTES)
    if found is None:
        raise NotConnectedError(f"{path} is not a settings file.")
    data, status = found
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotConnectedError(f"{path} is not UTF-8 text.") from error
    return ClientFile(
        path=path,
        real=real,
        text=text.removeprefix(_BOM),
        has_bom=text.startswith(_BOM),
        signature=descriptors.signature_of(status),
        mode=stat.S_IMODE(status.st_mode),
    )


def may_hold_ours(path: str) -> bool:
    """Return whether something that ``hm connect`` wrote may be in a file.

    It need not be one that the agent can read.
    """
    try:
        fd = os.open(os.path.realpath(path), descriptors.READ)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    found = descriptors.read_regular(fd, _MAX_BYTES)
    if found is None:
        return True
    text = found[0].replace(b"\0", b"")  # of UTF-16 too
    return any(mark in text for mark in _MARKS)


def write_client_file(old: ClientFile, text: str) -> None:
    """Replace a file with *text*, if it has not changed since it was read.

    Raises:
        NotConnectedError: It was not written, and why.
    """
    folder, name = os.path.split(old.real)
    data = (_BOM if old.has_bom else "").encode() + text.encode()
    try:
        descriptors.make_private_folder(folder)
        _refuse_locked(old)
        with (
            descriptors.OpenFolder.at(folder) as opened,
            PartialFile(
                opened, data, mode=old.mode, prepare=partial(_keep_owner, old)
            ) as written,
        ):
            _refuse_changed(old)
            written.replace(name)
    except OSError as error:
        message = f"{old.path} cannot be written: {reason_of(error)}."
        raise NotConnectedError(message) from error


def delete_client_file(old: ClientFile, folders: tuple[str, ...]) -> None:
    """Delete a file that we created, and those of *folders* that are then empty.

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
        message = f"{old.path} cannot be deleted: {reason_of(error)}."
        raise NotConnectedError(message) from error


def missing_folders(path: str) -> tuple[str, ...]:
    """Return the folders above *path* that do not exist."""
    missing = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(missing)


def _keep_owner(old: ClientFile, fd: int) -> None:
    """Give an open file the owner of the old one."""
    if old.text is not None and hasattr(os, "fchown"):
        status = os.stat(old.real)
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(fd, status.st_uid, status.st_gid)


def _refuse_locked(old: ClientFile) -> None:
    """Raise if the file is read-only, which replacing it would ignore."""
    if old.text is not None and not old.mode & 0o222:
        raise NotConnectedError(
            f"{old.path} is read-only.",
            hint="Another program manages it: add the entry there.",
        )


def _refuse_changed(old: ClientFile) -> None:
    """Raise if the file has changed since it was read."""
    if descriptors.signature_at(old.real, follows_link=True) != old.signature:
        message = f"{old.path} changed while it was being edited."
        raise NotConnectedError(message, hint="Try again.")


NAME = "connections.json"


@value
class ConnectionRecord:
    """What one file was like before connecting."""

    blank: str | None = ""
    """Its text, if that was blank; None: it did not exist."""

    is_ours: bool = False
    """It did not exist, or was blank: we wrote what it contains."""

    folders: tuple[str, ...] = ()
    """Folders that we created for it."""

    emptied: Mapping[str, str | None] = NO_ITEMS
    """See ``json_edit.EmptyContainers``."""

    def merged_with(self, other: ConnectionRecord) -> ConnectionRecord:
        """Return this record with what a newer one adds; the older one wins."""
        emptied = {**other.emptied, **self.emptied}
        return ConnectionRecord(
            blank=self.blank,
            is_ours=self.is_ours,
            folders=self.folders,
            emptied=emptied,
        )


def read_connection_records(home: str) -> dict[str, ConnectionRecord]:
    """Return every record, by the real path of its file; none if they are damaged."""
    try:
        with open(
            os.path.join(home, NAME), encoding="utf-8", opener=open_regular
        ) as file:
            found = json.load(file)["files"]
        return {path: _connection_record(entry) for path, entry in found.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def write_connection_records(
    home: str, records: Mapping[str, ConnectionRecord]
) -> None:
    """Replace all records; without any, the file is deleted.

    Raises:
        OSError: They could not be written.
    """
    path = os.path.join(home, NAME)
    if not records:
        if os.path.exists(path):
            os.unlink(path)
        return
    value = {
        "files": {
            path: {
                "blank": record.blank,
                "is_ours": record.is_ours,
                "folders": list(record.folders),
                "emptied": dict(record.emptied),
            }
            for path, record in records.items()
        }
    }
    descriptors.make_private_folder(home)
    write_file(path, json.dumps(value, indent=2).encode())


def _connection_record(value: Any) -> ConnectionRecord:
    """Return a record from its JSON."""
    return ConnectionRecord(
        blank=value["blank"],
        is_ours=value["is_ours"],
        folders=tuple(value["folders"]),
        emptied=dict(value["emptied"]),
    )
