"""Turns errors of the operating system into ours, each cause in plain words.

Here too: the error for a note that is missing, or that the caller may not see.
"""

from __future__ import annotations

import errno
import os

from hivemind_memory.errors import (
    HivemindError,
    LineNotFoundError,
    NoteForbiddenError,
    NoteNotFoundError,
    NotePathError,
    NotesMissingError,
    NoteUnreadableError,
    NotSavedError,
    UsageError,
    VersionChangedError,
)
from hivemind_memory.files.descriptors import FileInTheWayError, IrregularFileError
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath


class NotFollowedError(OSError):
    """A listed link is not followed; the text says why, as a clause."""

    def __init__(self, reason: str) -> None:
        # Callers see what they see of any link: something else is in the way.
        super().__init__(errno.ELOOP, reason)


MAX_ATTEMPTS = 10
"""How often in a row another program may save a note while we change it."""

# A link, a folder, a pipe or a file is where something else was asked for.
_IN_THE_WAY = frozenset(
    {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ENXIO}
)
_CAUSES = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("the disk quota is exceeded", "Free some space and try again."),
    errno.EFBIG: (
        "the file would be larger than this process may write",
        "Raise the limit (ulimit -f) and try again.",
    ),
    errno.EIO: ("the disk reported an error", "Check the disk, then try again."),
    errno.EROFS: ("the disk is read-only", "Mount it read-write and try again."),
    errno.EACCES: ("permission is denied", "Check the owner and mode of the folder."),
    errno.EPERM: ("permission is denied", "Check the owner and mode of the folder."),
    errno.ENOENT: ("there is no such file or folder", "Check the path."),
    errno.EMFILE: ("too many files are open", "Close some programs and try again."),
    errno.ENFILE: ("too many files are open", "Close some programs and try again."),
}


def is_in_the_way(error: OSError) -> bool:
    """Whether something else than a note, or than a folder, is at a note's path."""
    return error.errno in _IN_THE_WAY


def no_notes_folder(root: str) -> NotesMissingError:
    """Return the error that there is no notes folder; its drive may not be mounted."""
    hint = (
        "`hm init` creates it; --memory-dir or HIVEMIND_HOME selects another; if it is"
        " on a drive, check that it is mounted"
    )
    return NotesMissingError(f"there is no notes folder {root}", hint=hint)


def is_gone(error: OSError) -> bool:
    """Whether nothing is at a path; any other error says nothing about that."""
    return isinstance(error, FileNotFoundError | NotADirectoryError)


def cause_of(error: OSError) -> tuple[str, str]:
    """Return why the system refused, as a clause, and what to do about it."""
    if isinstance(error, IrregularFileError):
        name = os.path.basename(str(error.filename))
        return f"{name} is {error.kind}, not a file", "Move it away."
    if isinstance(error, FileInTheWayError):
        return f"{error.filename} is not a folder", "Move it away."
    if error.errno in _CAUSES:
        return _CAUSES[error.errno]
    reason = os.strerror(error.errno) if error.errno else str(error)
    return reason.lower(), "Try again; `hm doctor` checks for problems."


def reason_of(error: OSError) -> str:
    """Return why the system refused, as a clause of a sentence that names the file."""
    if isinstance(error, IrregularFileError | FileInTheWayError | NotFollowedError):
        return str(error.strerror)  # says "it"
    return cause_of(error)[0]


def hint_for_given(error: OSError) -> str:
    """Return what to do about a file that the user named and that cannot be read."""
    if isinstance(error, IrregularFileError):
        return "Give the path of a regular file."
    return cause_of(error)[1]


def no_folder(path: str, *, effect: str = "") -> UsageError:
    """Return the error that there is no folder at a path that the user gave."""
    hint = "Give the path of a folder that exists."
    return UsageError(f"There is no folder {path}.", hint=hint, effect=effect)


def read_error(path: NotePath, error: OSError) -> HivemindError:
    """Return the error to raise when a note could not be opened or read."""
    if isinstance(error, FileNotFoundError):
        message = f"There is no note {path}."
        return NoteNotFoundError(message, hint="`hm list` shows all notes.")
    if is_in_the_way(error):
        message = f"{path} is not a note: it is a link or not a regular file."
        hint = "Links are not followed; put the file itself into the notes folder."
        return NotePathError(message, hint=hint)
    cause, hint = cause_of(error)
    message = f"{path} cannot be read: {cause}."
    if isinstance(error, PermissionError):
        return NoteForbiddenError(message, hint="Check its mode and its owner.")
    return NoteUnreadableError(message, hint=hint)


def save_error(path: NotePath, error: OSError) -> HivemindError:
    """Return the error to raise when a note could not be written."""
    if is_in_the_way(error):
        return read_error(path, error)
    cause, hint = cause_of(error)
    effect = f"Nothing was saved to {path}"
    return NotSavedError(f"{cause}.", hint=hint, effect=effect)


def kept_changing(path: NotePath) -> NotSavedError:
    """Return the error for a note that another program saves before each attempt."""
    return NotSavedError(
        "another program keeps saving it.",
        hint="Find out which program that is, and try again.",
        effect=f"{path} was not changed",
    )


def changed_since_read(name: str, effect: str) -> VersionChangedError:
    """Return the error for what is not any more what the caller has read.

    Args:
        name: Of a memory, or of something else, as the start of a sentence.
        effect: What was not done.
    """
    message = f"{name} has changed since you read it."
    return VersionChangedError(
        message, hint="Read it again, then decide.", effect=effect
    )


def no_such_line(note: NotePath, line: int, count: int) -> LineNotFoundError:
    """Return the error for a line after the end of a note."""
    if not count:
        return LineNotFoundError(f"{note} is empty; there is no line {line:,}.")
    message = f"{note} has {count_text(count, 'line')}; there is no line {line:,}."
    return LineNotFoundError(message, hint=f"{note}:{count} is the last line.")
