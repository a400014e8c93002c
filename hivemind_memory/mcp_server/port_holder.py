"""Finds the process that listens on a port, where ``/proc`` tells."""

from __future__ import annotations

import os
from collections.abc import Iterator

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"


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


def _listeners(port: int) -> Iterator[tuple[str, str]]:
    """Yield user and inode of the sockets that listen on a port."""
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as rows:
                for row in rows:
                    fields = row.split()
                    if fields[1].endswith(f":{port:04X}") and fields[3] == _LISTENS:
                        yield fields[7], fields[9]
        except (OSError, IndexError):
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
