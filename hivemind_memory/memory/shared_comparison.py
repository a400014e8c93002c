"""Shares among processes when all notes were last compared with the index.

Each of 32 servers would compare all notes once a second, and find what the first of
them has found. So whoever compares says when it began, in a file beside the index; for
the others that is as good as a comparison of their own, as long as the kernel names to
them what has changed since.

The file holds a time and a digest: what it says counts only for processes that see the
same folders by the same clock, with the same rules. A process waits for another that is
comparing, but only after its own first comparison.
"""

from __future__ import annotations

import os

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.digests import blake2b_hex
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.files.own_files import open_own

_WRITE = os.O_CREAT | os.O_WRONLY
_MAX_BYTES = 200
WAIT_S = 2.0
"""How long to wait for another process that compares: on a busy machine all would take
longer. A stopped one is waited for once, and not again before it has let go."""

_SYSTEM_FILES = ("/proc/self/ns/mnt", "/proc/self/ns/time")
_BOOT_FILE = "/proc/sys/kernel/random/boot_id"


class SharedComparison:
    """When a process last compared all notes of one folder with one index."""

    def __init__(self, file: str, folder: tuple[object, ...]) -> None:
        """Read nothing yet.

        Args:
            file: Where the time is kept.
            folder: What is compared, and what is passed over: the same in all processes
                that share a comparison.
        """
        self._file = file
        self._folder = folder
        self._system: tuple[str, ...] | None = None
        self._lock = KernelLock(f"{file}.lock")
        self._has_given_up = False

    def wait(self) -> None:
        """Wait for who compares now; then it is one's own turn, until ``end``."""
        if self._lock.is_held:
            return
        try:
            is_held = self._lock.acquire(wait_s=0 if self._has_given_up else WAIT_S)
        except OSError:
            return  # then each compares for itself
        self._has_given_up = not is_held

    def end(self) -> None:
        """Let the next one compare; nothing happens if it was not one's turn."""
        self._lock.release()

    def latest_s(self, compared_with: tuple[object, ...]) -> float:
        """Return when the last comparison began, in stopwatch time; 0: unknown.

        Args:
            compared_with: What the index was, and what was found that is no note.
        """
        try:
            with open(self._file, "rb", opener=open_regular) as file:
                said, _, digest = file.read(_MAX_BYTES).partition(b" ")
            # Two may write at once, and then the digest fits neither time.
            if digest == self._digest(said, compared_with):
                return float(said)
        except (OSError, ValueError):
            pass
        return 0.0

    def record(self, compared_with: tuple[object, ...], began_s: float) -> None:
        """Tell the others of a comparison; see ``latest_s``."""
        said = f"{began_s:.9f}".encode()
        try:
            data = said + b" " + self._digest(said, compared_with)
            fd = open_own(self._file, _WRITE)
            try:
                os.ftruncate(fd, os.write(fd, data))
            finally:
                os.close(fd)
        except OSError:
            return  # then each compares for itself

    def _digest(self, said: bytes, compared_with: tuple[object, ...]) -> bytes:
        """Return what only a process with the same view of the folder can say.

        Raises:
            OSError: This system cannot distinguish one view from another.
        """
        if self._system is None:
            with open(_BOOT_FILE, encoding="utf-8") as file:
                boot = file.read()
            self._system = (boot, *map(os.readlink, _SYSTEM_FILES))
        content = repr((said, self._system, self._folder, compared_with))
        return blake2b_hex(content.encode()).encode()
