"""Starts the helper of a leader, which runs the commands of others, and ends it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator

CAN_HELP = sys.platform == "linux" and hasattr(socket, "SO_PEERCRED")
"""Elsewhere each command does its work itself."""

_END_S = 0.5
"""How long a helper may take to end. One that was stopped never does."""

_PROGRAM = "from hivemind_memory.cli.asking.helper import run; run()"


@contextlib.contextmanager
def helping(home: str) -> Iterator[None]:
    """Keep a helper while in the ``with`` statement; it ends with this process, too.

    Args:
        home: The home folder whose commands it runs; empty: no helper is wanted.
    """
    helper = _start(home) if home and CAN_HELP else None
    try:
        yield
    finally:
        if helper is not None:
            assert helper.stdin is not None  # noqa: S101 - it is a pipe
            # Its end is how the helper knows; a child that runs a command goes on.
            helper.stdin.close()
            try:
                helper.wait(_END_S)
            except subprocess.TimeoutExpired:
                helper.kill()
                helper.wait()


def _start(home: str) -> subprocess.Popen[bytes] | None:
    """Return the helper; None where no process can be started."""
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, home],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Not the folder and session of the leader: a drive could not be unmounted,
            # and Ctrl-C would end what runs for others.
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return None
