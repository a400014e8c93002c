"""Decides whether a process may have its command run here, and takes on its limits.

The one that asks chooses the programs that are run for it, by its PATH for one. So
whoever can do less than this process, in a sandbox for one, would get out of it here.
"""

from __future__ import annotations

import os
import resource
import struct
from _socket import SO_PEERCRED, SOL_SOCKET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

_CREDENTIALS = struct.Struct("3i")
_SAME_STATUS = (
    *(b"Uid", b"Gid", b"Groups", b"NoNewPrivs", b"Seccomp", b"Seccomp_filters"),
    *(b"CapInh", b"CapPrm", b"CapEff", b"CapBnd", b"CapAmb"),
)
"""Lines of /proc/PID/status that say what a process may do."""

_LIMITS = sorted(
    {getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
)


class Rights:
    """What a process may do, as far as the kernel tells."""

    def __init__(self, process: int | str) -> None:
        """Raise ``OSError`` if the process is gone, or hides it."""
        with open(f"/proc/{process}/status", "rb") as file:
            lines = (line.partition(b":") for line in file.read().splitlines())
        self.status = {
            name: text.strip() for name, _, text in lines if name in _SAME_STATUS
        }
        folder = f"/proc/{process}/ns"
        # Of the children of a process: they say nothing of itself.
        names = (name for name in os.listdir(folder) if "_for_" not in name)
        self.places = {name: os.readlink(f"{folder}/{name}") for name in names}
        self.root = os.readlink(f"/proc/{process}/root")
        try:
            with open(f"/proc/{process}/attr/current", "rb") as file:
                self.label = file.read()
        except OSError:
            self.label = b""  # no module of the kernel labels processes

    @property
    def is_plain(self) -> bool:
        """Whether more than the kernel tells can't be forbidden.

        What Landlock forbids shows nowhere, but it needs ``no_new_privs``.
        """
        return self.status.get(b"NoNewPrivs") == b"0"

    def __eq__(self, other: object) -> bool:
        """Whether both may do the same."""
        return isinstance(other, Rights) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # compared only


def process_of(link: socket) -> int:
    """Return the process at the other side, if it is of the same user.

    Raises:
        PermissionError: It is not.
    """
    data = link.getsockopt(SOL_SOCKET, SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(data)
    if user != os.geteuid() or process <= 0:
        raise PermissionError
    return int(process)


def take_limits(process: int) -> None:
    """Take on the resource limits, the priority and the processors of a process.

    Raises:
        OSError, ValueError: It may use more than this process.
    """
    for limit in _LIMITS:
        wanted = resource.prlimit(process, limit)
        if wanted != resource.getrlimit(limit):
            resource.setrlimit(limit, wanted)
    nice = os.getpriority(os.PRIO_PROCESS, process)
    if nice != os.getpriority(os.PRIO_PROCESS, 0):
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    processors = os.sched_getaffinity(process)
    if processors != os.sched_getaffinity(0):
        os.sched_setaffinity(0, processors)
