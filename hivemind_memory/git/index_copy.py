"""Changes the index of a worktree by way of a copy: a killed git then leaves no lock.

Git holds ``index.lock`` while it changes an index. If it is killed, the lock stays, and
every git refuses to work there until a person deletes it. So git changes a copy, which
then gets the name of the lock as its second name, and the name of the index after that.
A process that is killed in between leaves a lock that is the same file as its copy. No
other program's is, so the next process may delete it.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

from hivemind_memory.files.descriptors import signature_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if sys.platform != "win32":
    import fcntl

INDEX_LOCK = "index.lock"
"""A git that changes the index has it in the git folder of its worktree."""

COPY_PREFIX = "hm-index-"


class NoCopyError(Exception):
    """The index cannot be changed by way of a copy; it is as it was."""


def change_index(git_dir: str, change: Callable[[str], bool]) -> bool | None:
    """Have a copy of the index changed, and put it in the place of the index.

    Args:
        git_dir: Of the worktree.
        change: Changes the index at a path; returns whether that worked.

    Returns:
        None: another program is changing the index, or has changed it meanwhile.

    Raises:
        NoCopyError: It cannot be done so here.
    """
    import shutil  # most injections change no index, and it takes 4 ms to load

    index, lock = (os.path.join(git_dir, name) for name in ("index", INDEX_LOCK))
    copy = os.path.join(git_dir, f"{COPY_PREFIX}{os.urandom(8).hex()}")
    with _held(git_dir) as is_held:
        if not is_held:
            return None
        _remove_left(git_dir)
        if os.path.lexists(lock):
            return None
        if os.path.islink(index):
            message = "the index is a link"
            raise NoCopyError(message)
        before = signature_at(index, follows_link=False)
        try:
            # With its times: git reads again what is as young as the index.
            shutil.copy2(index, copy, follow_symlinks=False)
            return change(copy) and _put_in_place(copy, lock, index, before)
        except OSError as error:
            raise NoCopyError(str(error)) from error
        finally:
            _remove(copy)


def clear_index_copies(git_dir: str) -> None:
    """Remove the copies that killed processes left, and a lock that is one of them."""
    with suppress(NoCopyError), _held(git_dir) as is_held:
        if is_held:
            _remove_left(git_dir)


def _put_in_place(copy: str, lock: str, index: str, before: object) -> bool | None:
    """Give a copy the name of the index; None: another program was faster."""
    try:
        os.link(copy, lock)
    except FileExistsError:
        return None
    try:
        # While the lock is ours, no git changes the index.
        if signature_at(index, follows_link=False) != before:
            return None
        os.replace(lock, index)
    finally:
        if os.path.lexists(lock) and os.path.samestat(os.lstat(lock), os.lstat(copy)):
            os.unlink(lock)
    return True


def _remove_left(git_dir: str) -> None:
    """Remove what killed processes left; the git folder is held."""
    lock = os.path.join(git_dir, INDEX_LOCK)
    with suppress(OSError):
        for name in os.listdir(git_dir):
            if name.startswith(COPY_PREFIX):
                path = os.path.join(git_dir, name)
                with suppress(OSError):
                    if os.path.samestat(os.lstat(lock), os.lstat(path)):
                        os.unlink(lock)
                with suppress(OSError):
                    os.unlink(path)


def _remove(copy: str) -> None:
    """Remove a copy, and the lock of a git that was killed while it changed it."""
    for path in (copy, f"{copy}.lock"):
        with suppress(OSError):
            os.unlink(path)


@contextmanager
def _held(git_dir: str) -> Iterator[bool]:
    """Be the only process that has copies in a git folder; yield whether it is.

    Raises:
        NoCopyError: No folder can be locked there.
    """
    if sys.platform == "win32":
        message = "a folder cannot be locked"
        raise NoCopyError(message)
    try:
        folder = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NoCopyError(str(error)) from error
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            raise NoCopyError(str(error)) from error
        yield True
    finally:
        os.close(folder)
