"""Tells whether SQLite failed because the disk is full; it does not always say so."""

from __future__ import annotations

import os

import apsw

_FEW_BYTES = 65_536
"""SQLite maps 32 KB of its file of locks at once."""


def is_full(error: Exception, path: str) -> bool:
    """Return whether an error of SQLite means that the disk of a file is full."""
    if not isinstance(error, apsw.IOError):
        return isinstance(error, apsw.FullError)
    # A file that cannot grow in memory is "disk I/O error" to SQLite.
    try:
        disk = os.statvfs(os.path.dirname(path))
    except (AttributeError, OSError):  # Windows has none; or the disk is gone
        return False
    return disk.f_bavail * disk.f_frsize < _FEW_BYTES
