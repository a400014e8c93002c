"""The server behind ``hm dashboard``: asked for a link, started and stopped."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time

from hivemind_memory.errors import UsageError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular

_started: list[subprocess.Popen[bytes]] = []
"""Kept, because they go on: one that is dropped warns that it still runs."""

_POLL_S = 0.1
_TIMEOUT_S = 5.0


def ask_for_link(port: int, token: str, *, wait_s: float = 0.0) -> str | None:
    """Return a code that logs a browser in; None: no server answers.

    Args:
        port: Where the server listens, on this machine.
        token: The server's own.
        wait_s: How long to ask again.

    Raises:
        UsageError: Something else listens there, or a server of another memory.
    """
    end_s = time.monotonic() + wait_s
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
        try:
            headers = {"Authorization": f"Bearer {token}"}
            connection.request("POST", "/memory/link", body=b"", headers=headers)
            reply = connection.getresponse()
            body = reply.read(10_000)
        except (OSError, http.client.HTTPException):
            if time.monotonic() >= end_s:
                return None
            time.sleep(_POLL_S)
            continue
        finally:
            connection.close()
        try:
            return str(json.loads(body)["code"])
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"What listens on port {port} is not hm serve of this memory.",
                hint="Stop it, or choose another port with --port.",
            ) from None


def start_server(home: str, port: int, memory_dir: str | None) -> None:
    """Start ``hm serve`` so that it goes on when this command ends."""
    command = [
        sys.executable,
        "-m",
        "hivemind_memory.cli",
        "serve",
        "--port",
        str(port),
    ]
    if memory_dir is not None:
        command += ["--memory-dir", memory_dir]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=home,
    )
    _started.append(process)
    write_file(_pid_file(home), f"{process.pid}\n".encode())


def stop_server(home: str) -> bool:
    """Stop the server that ``start_server`` started; return whether it ran."""
    path = _pid_file(home)
    try:
        with open(path, encoding="ascii", opener=open_regular) as file:
            pid = int(file.read(20))
    except (OSError, ValueError):
        return False
    os.unlink(path)
    if not _is_ours(pid):
        return False
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError:
        return False
    return True


def _is_ours(pid: int) -> bool:
    """Return whether a process is such a server: its number may be another's now."""
    command = ["ps", "-o", "args=", "-p", str(pid)]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # there is no such program, so nothing is ended
        return False
    return "hivemind_memory.cli serve" in told.stdout


def _pid_file(home: str) -> str:
    """Return the file with the number of the process."""
    return os.path.join(home, "dashboard.pid")
