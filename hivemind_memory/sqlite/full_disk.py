"""Tells why the disk refused SQLite, which does not always say so."""

from __future__ import annotations

import errno
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


def why_unwritable(path: str) -> OSError | None:
    """Return why nothing can be written beside a file; None: it can."""
    folder = os.path.dirname(path)
    if os.access(folder, os.W_OK):
        return None
    try:
        is_read_only = (
            hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY != 0
        )
    except OSError as error:
        return error
    return OSError(errno.EROFS if is_read_only else errno.EACCES, "", folder)
