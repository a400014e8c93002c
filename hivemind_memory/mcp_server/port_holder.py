"""Tells who listens on a port and who connects to it, where ``/proc`` tells."""

from __future__ import annotations

import os
from collections.abc import Iterator

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"
_USER, _INODE = 7, 9
"""Places of two fields in a row."""


def find_holder(port: int) -> str:
    """Return the process that listens on a port, ``process 812 (hm)``; empty: unknown.

    A process of another user is unknown.
    """
    inodes = {f"socket:[{inode}]" for _, inode in _listeners(port)}
    if not inodes:
        return ""
    for process in _processes():
        folder = f"/proc/{process}/fd"
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        if any(_link(f"{folder}/{name}") in inodes for name in names):
            name = _first_line(f"/proc/{process}/comm")
            return f"process {process} ({name})" if name else f"process {process}"
    return ""


def is_held_by_another_user(port: int) -> bool:
    """Return whether a process of another user listens on a port.

    False where ``/proc`` does not tell.
    """
    return any(user != str(os.getuid()) for user, _ in _listeners(port))


def is_from_another_user(client_port: int, server_port: int) -> bool:
    """Return whether a connection on this machine comes from another user, not root.

    False where ``/proc`` does not tell: another system, machine or container.
    """
    ends = f":{client_port:04X}", f":{server_port:04X}"
    return any(
        fields[1].endswith(ends[0])
        and fields[2].endswith(ends[1])
        and fields[_USER] not in {str(os.getuid()), "0"}
        for fields in _sockets()
    )


def _listeners(port: int) -> Iterator[tuple[str, str]]:
    """Yield user and inode of the sockets that listen on a port."""
    for fields in _sockets():
        if fields[1].endswith(f":{port:04X}") and fields[3] == _LISTENS:
            yield fields[_USER], fields[_INODE]


def _sockets() -> Iterator[list[str]]:
    """Yield the fields of each TCP socket, as in proc_pid_net(5)."""
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as rows:
                for row in rows:
                    fields = row.split()
                    if len(fields) > _INODE:
                        yield fields
        except OSError:
            continue


def _processes() -> list[str]:
    """Return the ids of all processes."""
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _link(path: str) -> str:
    """Return what a link points to; empty: it is gone."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _first_line(path: str) -> str:
    """Return the first line of a file; empty: it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""
