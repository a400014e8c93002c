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
_LIMITS = sorted(
    {getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
)


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
