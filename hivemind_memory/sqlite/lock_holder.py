"""Tells which process keeps an SQLite file locked, where the system says it."""

from __future__ import annotations

import os
from contextlib import suppress

_WRITER_BYTE = 120
"""Of the -shm file: who holds it writes, see https://sqlite.org/walformat.html."""

_RESERVED_BYTE = 0x40000001
"""Of the database itself, where it has no write-ahead log."""


def lock_holder(path: str) -> tuple[int, str]:
    """Return the process that writes to a file, and how a person may know it.

    Linux alone says it. In its table of locks a file is known by its inode, which other
    file systems have, too: so the process must have one of the files open.

    Returns:
        Its id, and its name, with its state if it is stopped. (0, ""): it is unknown,
        or it is this process.
    """
    places = {}
    for file, byte in ((f"{path}-shm", _WRITER_BYTE), (path, _RESERVED_BYTE)):
        try:
            places[str(os.stat(file).st_ino)] = byte
        except OSError:
            continue
    try:
        with open("/proc/locks", encoding="ascii") as table:
            locks = [line.split() for line in table]
    except (OSError, UnicodeDecodeError):
        return 0, ""
    for lock in locks:
        # 3: POSIX ADVISORY WRITE 4745 00:1b:264161 120 120; waiting ones have an arrow.
        if lock[1:2] != ["POSIX"] or lock[3:4] != ["WRITE"] or len(lock) < 8:
            continue
        _, _, _, _, process, file, first, last = lock[:8]
        byte = places.get(file.rpartition(":")[2], -1)
        if int(first) <= byte and (last == "EOF" or byte <= int(last)):
            number = int(process)
            if _is_other(number) and _has_open(number, (path, f"{path}-shm")):
                return number, _name_of(number)
    return 0, ""


def _is_other(number: int) -> bool:
    """Return whether a number is that of another process that is visible here."""
    return number > 0 and number != os.getpid()


def _has_open(number: int, files: tuple[str, ...]) -> bool:
    """Return whether a process has one of some files open; False: that is not seen."""
    folder = f"/proc/{number}/fd"
    wanted = []
    for file in files:
        with suppress(OSError):
            wanted.append(os.stat(file))
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                opened = os.stat(os.path.join(folder, name))
                if any(os.path.samestat(opened, file) for file in wanted):
                    return True
    return False


def _name_of(number: int) -> str:
    """Return the name of a process, and whether it is stopped."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
    except OSError:
        return f"process {number}"
    is_stopped = rest.strip()[:1] in ("T", "t")
    return f"process {number} ({name}{', stopped' if is_stopped else ''})"
