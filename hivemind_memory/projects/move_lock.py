"""Keeps projects where they are while a note is written, and notes while one moves.

A write finds out the scope of its project and then makes what it needs of its folder.
If the project got another name in between, it would make the old folder again, and
another repository of that name would take it for its own.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from functools import partial

from hivemind_memory.errors import NotSavedError
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive, shared
from hivemind_memory.files.places import notes_locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def moves_lock(locks: str, effect: str = "Nothing was moved") -> Iterator[None]:
    """Be the only one who moves projects, while nothing is written.

    Args:
        locks: Folder of the locks.
        effect: What is not done if the lock is not free, for the error.

    Raises:
        NotSavedError: Another process moves one, or writes for too long.
    """
    refused = partial(_refused, effect=effect)
    with (
        exclusive(_turn(locks), wait_s=LOCK_WAIT_S, refused=refused),
        exclusive(_lock(locks), wait_s=LOCK_WAIT_S, refused=refused),
    ):
        yield


@contextmanager
def no_moves(locks: str, effect: str) -> Iterator[None]:
    """Let no project move meanwhile. Any number of threads and processes may do so.

    Args:
        locks: Folder of the locks.
        effect: What is not done if the lock is not free, for the error.

    Raises:
        NotSavedError: A project is being moved, for longer than a write waits.
    """
    # Whoever wants to move one holds the turn: without it the next writer would always
    # come before the last one leaves.
    refused = partial(_refused, effect=effect)
    with ExitStack() as held:
        with exclusive(_turn(locks), wait_s=LOCK_WAIT_S, refused=refused):
            held.enter_context(
                shared(_lock(locks), wait_s=LOCK_WAIT_S, refused=refused)
            )
        yield


@contextmanager
def records_lock(above: str, *, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Be the only one who changes what projects know, from reading it to writing it.

    Taken after every other lock.

    Args:
        above: The folder ``projects``.
        wait_s: How long to wait for another process.

    Raises:
        NotSavedError: It was not free.
    """
    locks = notes_locks(os.path.dirname(above))
    if not locks:  # nor can a record be written there
        yield
        return
    refused = partial(_refused, effect="Nothing was changed")
    lock = os.path.join(locks, "projects-records.lock")
    with exclusive(lock, wait_s=wait_s, refused=refused):
        yield


def _turn(locks: str) -> str:
    return os.path.join(locks, "projects-turn.lock")


def _lock(locks: str) -> str:
    return os.path.join(locks, "projects.lock")


def _refused(why: str, hint: str, effect: str) -> NotSavedError:
    return NotSavedError(why, hint=hint, effect=effect)
