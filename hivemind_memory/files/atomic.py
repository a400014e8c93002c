"""A note is replaced whole or not at all: written beside itself, synced, renamed."""

from __future__ import annotations

import errno
import os
import stat

from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.files import descriptors
from hivemind_memory.files.descriptors import OpenFolder, stamp_of
from hivemind_memory.files.errors import cause_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


# What file systems without a second name for a file say.
_NO_LINKS = frozenset(
    {errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP}
    | {errno.ENOTSUP}
)


def replace_file(
    parent: OpenFolder, path: NotePath, data: bytes, expected: FileSignature | None
) -> FileSignature:
    """Write *data* beside the note and give it the note's name."""
    name = path.rpartition("/")[2]
    mode = _expected_mode(parent, path, expected)
    beside = f".hm-{os.urandom(8).hex()}.tmp"
    fd = parent.open_file(beside, descriptors.CREATE)
    try:
        try:
            descriptors.write_all(fd, data)
            descriptors.set_mode(fd, mode)
            descriptors.sync_file(fd)
        finally:
            os.close(fd)
        _expected_mode(parent, path, expected)
        if expected is not None or not _linked(parent, beside, path):
            parent.rename(beside, name)
    except BaseException:
        _discard(parent, beside)
        raise
    try:
        parent.sync()
        # The new name has changed the time of the last change.
        return stamp_of(parent.status(name))
    except OSError as error:
        cause, hint = cause_of(error)
        message = f"{path} was replaced, but a power cut might undo it: {cause}."
        raise HivemindError(message, hint=hint) from error


def _expected_mode(
    parent: OpenFolder, path: NotePath, expected: FileSignature | None
) -> int:
    """Return the mode that the new file gets, if the note is as expected."""
    try:
        status = parent.status(path.rpartition("/")[2])
    except FileNotFoundError:
        if expected is None:
            return descriptors.PRIVATE_FILE
        found = "is gone"
    else:
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        if expected is not None and stamp_of(status) == expected:
            return stat.S_IMODE(status.st_mode)
        found = "is there already" if expected is None else "has changed meanwhile"
    message = f"Nothing was saved to {path}: the note {found}."
    raise NotSavedError(message, hint="Read the note again, then decide.")


def _linked(parent: OpenFolder, beside: str, path: NotePath) -> bool:
    """Give a new note its name only if nobody has it; tell whether that can be asked.

    A rename would overwrite what another program has put there in the last instant.
    """
    try:
        parent.link(beside, path.rpartition("/")[2])
    except FileExistsError as error:
        message = f"Nothing was saved to {path}: the note is there already."
        hint = "Read the note again, then decide."
        raise NotSavedError(message, hint=hint) from error
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    _discard(parent, beside)
    return True


def _discard(parent: OpenFolder, name: str) -> None:
    """Take a file of our own away that never became a note."""
    try:
        parent.unlink(name)
    except OSError:
        return  # a dot file: no search sees it, and `hm doctor` finds it
