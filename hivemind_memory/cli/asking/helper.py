"""The helper of a leader: a process that forks a child for each command that asks.

It has one thread and no database open, so a child is whole. It ends as soon as the
leader does, whose end of a pipe is its standard input.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import stat
import sys
import time

from hivemind_memory.cli.asking.preload import preload
from hivemind_memory.cli.asking.program_id import program_id
from hivemind_memory.cli.asking.rights import Rights
from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.files.descriptors import make_private_folder, signature_at
from hivemind_memory.files.home import helper_socket
from hivemind_memory.files.locks import KernelLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

LOCK_WAIT_S = 0.5
"""How often a helper looks whether that of another leader of this home has ended."""

CHECK_S = 1.0
"""How long a helper trusts that it is still the program that is installed."""

MAX_PATH_BYTES = 107
"""Of the address of a socket, on Linux."""

QUIET_S = 1.0
"""How long a helper waits before it loads anything: its leader is at work just then."""

_BACKLOG = 64
_LEADER = 0


def run() -> None:
    """Serve the home that the command line names until the leader has ended."""
    # What the folder of a command holds is no module of this program.
    sys.path[:] = [folder for folder in sys.path if folder]
    # A leader that was started in the background ignores signals that a command minds.
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Children need not be waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    home = sys.argv[1]
    path = helper_socket(home)
    if len(os.fsencode(path)) > MAX_PATH_BYTES or not _is_private(home):
        return
    make_private_folder(os.path.dirname(path))
    lock = KernelLock(f"{path}.lock")
    while not lock.try_acquire():
        if _has_leader_ended(LOCK_WAIT_S):
            return
    if _has_leader_ended(QUIET_S):
        return
    from hivemind_memory.environment import load_settings

    program = _Program(home)
    preload(_has_leader_ended)
    rights = Rights("self")
    is_alone = len(os.listdir("/proc/self/task")) == 1
    if not (is_alone and rights.is_plain and load_settings(home).ask_leader):
        return
    # Else the collector would write to every page that it shares with a child.
    gc.disable()
    gc.collect()
    gc.freeze()
    listener = _listen(path)
    try:
        is_outdated = _serve(listener, program, rights)
    finally:
        os.unlink(path)
        listener.close()
    if is_outdated:
        # The lock goes with its file, which no other program inherits.
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - our own words


class _Program:
    """What a helper was made of: the files of its modules, and the options."""

    def __init__(self, home: str) -> None:
        self._config = os.path.join(home, CONFIG_NAME)
        self._home_options = self._options()
        self.program_id = program_id()
        self._files: dict[str, object] = {}
        self._checked_s = 0.0

    def is_outdated(self) -> bool:
        """Return whether any of it has changed; looks once a second at most."""
        now_s = time.monotonic()
        if self._files and now_s - self._checked_s < CHECK_S:
            return False
        self._checked_s = now_s
        files = self._module_files()
        self._files = self._files or files
        return (
            files != self._files
            or self.program_id != program_id()
            or self._options() != self._home_options
        )

    def _options(self) -> object:
        return signature_at(self._config, follows_link=True)

    def _module_files(self) -> dict[str, object]:
        """Return the files of the modules that are loaded, with their signatures."""
        paths = (
            getattr(module, "__file__", None)
            for name, module in sys.modules.items()
            if name.startswith("hivemind_memory")
        )
        return {path: signature_at(path, follows_link=True) for path in paths if path}


def _has_leader_ended(wait_s: float = 0) -> bool:
    """Return whether the leader has ended, or does within so many seconds."""
    return bool(select.select([_LEADER], [], [], wait_s)[0])


def _is_private(home: str) -> bool:
    """Return whether a home is this user's, and no one else may change it."""
    status = os.stat(home)
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o022


def _listen(path: str) -> socket.socket:
    """Return a socket at *path*, where a killed helper may have left its own."""
    if os.path.lexists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    listener.bind(path)
    os.umask(mask)
    listener.listen(_BACKLOG)
    return listener


def _serve(listener: socket.socket, program: _Program, rights: Rights) -> bool:
    """Fork a child for each connection; return whether this program is outdated."""
    program.is_outdated()  # remembers the files
    while True:
        ready = select.select([listener.fileno(), _LEADER], [], [])[0]
        if _LEADER in ready:
            return False
        try:
            with listener.accept()[0] as link:
                if program.is_outdated():
                    return True
                if os.fork() == 0:
                    _become_child(link, program, rights)
        except OSError:
            continue  # too many files or processes: the command does its work itself


def _become_child(link: socket.socket, program: _Program, rights: Rights) -> NoReturn:
    """Answer one connection, and end."""
    from hivemind_memory.cli.asking.child import answer

    try:
        _close_others(link.fileno())
        answer(link, program.program_id, rights)
    finally:
        os._exit(0)  # whatever happens, it is no second helper


def _close_others(number: int) -> None:
    """Close all files of the helper but the standard ones and one more."""
    os.closerange(3, number)
    os.closerange(number + 1, os.sysconf("SC_OPEN_MAX"))
