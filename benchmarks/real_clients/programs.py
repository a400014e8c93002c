"""Runs other people's programs, with a limit of time, and leaves nothing of them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 90.0
"""Agents start in seconds; a machine that does other things too needs more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A program that has ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that it printed."""
        return f"{self.out}\n{self.err}"


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    within_s: float = TIMEOUT_S,
) -> Done:
    """Run a program to its end, without input.

    What it started and left running ends with it. A program that takes too long is
    ended too, and its code is that of the signal.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=cwd,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            end_group(process.pid)
            out, err = process.communicate()
            err += f"\nended after {within_s:.0f} s".encode()
        finally:
            end_group(process.pid)
    return Done(
        code=process.returncode,
        out=out.decode("utf-8", "replace"),
        err=err.decode("utf-8", "replace"),
    )


def end_group(leader: int) -> None:
    """End a process that began a session, and what else is in its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
