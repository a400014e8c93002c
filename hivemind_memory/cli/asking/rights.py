"""What a process may do, compared by both sides: neither leads out of a sandbox."""

from __future__ import annotations

import os

_SAME_STATUS = (
    *(b"Uid", b"Gid", b"Groups", b"NoNewPrivs", b"Seccomp", b"Seccomp_filters"),
    *(b"CapInh", b"CapPrm", b"CapEff", b"CapBnd", b"CapAmb"),
)
"""Lines of /proc/PID/status that say what a process may do."""


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
