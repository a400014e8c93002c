"""Writes the files of a restore, and replaces none that another process writes.

The home was looked at before, but to write all notes takes a while. So each file is
given its name only if nothing has it by then.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from hivemind_memory.errors import HivemindError, NotSavedError, UsageError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import (
    IrregularFileError,
    make_private_folder,
    open_regular,
)
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.files.places import JOURNAL_FILE, JOURNAL_LOCK
from hivemind_memory.model.display import first_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.backup.staged import Staged
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath

EFFECT = "Nothing was restored"


class NewFiles:
    """What a restore has written, so that it can be removed again."""

    def __init__(self, files: Iterable[str]) -> None:
        """Look which folders are missing.

        Args:
            files: All that may be written.
        """
        above = {folder for path in files for folder in _folders_above(path)}
        self._missing = {folder for folder in above if not os.path.lexists(folder)}
        self._files: dict[str, Staged] = {}
        """Path -> what is, or was about to be, written there."""

    def put_note(self, folder: NotesFolder, note: NotePath, staged: Staged) -> None:
        """Write a note, unless it is there already.

        Raises:
            HivemindError: The disk refused.
            UsageError: Another note is there.
        """
        path = os.path.join(folder.root, note)
        if folder.signature(note) is not None:
            if not is_same(path, staged):
                raise in_the_way(path)
            return
        self._files[path] = staged
        try:
            folder.replace(note, staged.pieces(), expected=None)
        except NotSavedError as error:
            if isinstance(error.__cause__, OSError):
                raise
            del self._files[path]
            raise in_the_way(path) from error

    def put(self, path: str, staged: Staged) -> None:
        """Write another file, unless it is there already.

        Raises:
            OSError: The disk refused.
            UsageError: Another file is there, or the log of a database.
        """
        make_private_folder(os.path.dirname(path))
        with _no_writer_at(path):
            if is_same(path, staged):
                return
            if is_taken(path, staged):
                raise in_the_way(path)
            if os.path.lexists(path):
                os.unlink(path)  # it is empty
            self._files[path] = staged
            if not write_file(path, staged.pieces(), is_new=True):
                del self._files[path]
                raise in_the_way(path)

    def take_back(self) -> list[str]:
        """Remove the files, and the folders that were not there; return what stays."""
        left = []
        for path, staged in self._files.items():
            try:
                if is_same(path, staged):
                    os.unlink(path)
                elif os.stat(path).st_size > 0:
                    left.append(path)
            except FileNotFoundError:
                continue
            except OSError:
                left.append(path)
        for folder in sorted(self._missing, key=len, reverse=True):
            with suppress(OSError):  # another program has put something there
                os.rmdir(folder)
        return left

    @staticmethod
    def failure(cause: str, hint: str, left: list[str]) -> HivemindError:
        """Return the error for a restore that failed, with the files that stay."""
        if not left:
            return HivemindError(f"{cause}.", hint=hint, effect=EFFECT)
        return HivemindError(
            f"{cause}.",
            hint=f"{hint} Delete {first_few(left)} before you restore again.",
            effect="Part of it was restored and could not be removed again",
        )


def is_taken(path: str, staged: Staged) -> bool:
    """Return whether something else than *staged* is at a path; an empty file is not.

    The log of a database that was moved away would be applied to the new one.
    """
    if is_same(path, staged):
        return False
    if os.path.lexists(path) and (not os.path.exists(path) or os.stat(path).st_size):
        return True  # a link that leads nowhere is something, too
    return has_log(path)


def has_log(path: str) -> bool:
    """Return whether there is the log of a database of that name."""
    try:
        return os.stat(f"{path}-wal").st_size > 0
    except FileNotFoundError:
        return False


def is_same(path: str, staged: Staged) -> bool:
    """Return whether a file is there and holds exactly certain bytes."""
    if not os.path.exists(path):
        return False
    try:
        with open(path, "rb", opener=open_regular) as file:
            return staged.is_in(file)
    except IrregularFileError:
        return False


def in_the_way(path: str) -> UsageError:
    """Return the error for a file that a restore would replace."""
    is_log = has_log(path) and not os.path.lexists(path)
    return UsageError(
        f"{path}{'-wal' if is_log else ''} exists, and restoring would overwrite it.",
        hint="Restore into an empty HIVEMIND_HOME, or move this one away.",
        effect=EFFECT,
    )


@contextmanager
def _no_writer_at(path: str) -> Iterator[None]:
    """Hold the lock of a journal that is there: who writes entries has it open."""
    folder, name = os.path.split(path)
    if name != JOURNAL_FILE or not os.path.lexists(path):
        yield
        return
    lock = os.path.join(folder, JOURNAL_LOCK)
    with exclusive(lock, wait_s=LOCK_WAIT_S, refused=_busy):
        yield


def _busy(why: str, hint: str) -> NotSavedError:
    return NotSavedError(why, hint=hint, effect=EFFECT)


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders that a file is in, up to the root."""
    while path != (path := os.path.dirname(path)):
        yield path
