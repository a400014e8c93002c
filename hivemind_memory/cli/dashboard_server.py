"""The servers behind ``hm dashboard``: asked for a link, started and stopped."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from shlex import quote

from hivemind_memory.errors import UsageError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.files.places import locks_folder
from hivemind_memory.model.display import escape_line

_started: list[subprocess.Popen[bytes]] = []
"""Kept, because they go on: one that is dropped warns that it still runs."""

_POLL_S = 0.1
_START_POLL_S = 0.001
_TIMEOUT_S = 5.0
_STOP_S = 10.0

_TIME_PARTS = 5
"""Words of a time of ps, as in ``Sat Nov 21 09:30:00 2026``."""

_START_FIELD = 19
"""Of the fields behind the name of a process in ``/proc/PID/stat``, see proc(5)."""


def ask_for_link(
    port: int, token: str, notes: str, *, wait_s: float = 0.0
) -> str | None:
    """Return a code that logs a browser in; None: no server answers.

    Args:
        port: Where the server listens, on this machine.
        token: The server's own.
        notes: The notes folder that the pages must show.
        wait_s: How long to ask again.

    Raises:
        UsageError: Something else listens there, or a server of other notes.
    """
    end_s = time.monotonic() + wait_s
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
        try:
            connection.connect()
        except OSError:
            is_there, body = False, b""
        else:
            _check_user(port)
            is_there, body = True, _answer(connection, token)
        finally:
            connection.close()
        if body:
            return _code_in(body, port, notes)
        has_ended = bool(_started) and not any(map(_runs, _started))
        if has_ended or time.monotonic() >= end_s:
            if is_there:
                raise _other_program(port)
            return None
        time.sleep(_POLL_S)


def _check_user(port: int) -> None:
    """Raise if another user listens on a port, who would be sent the token."""
    from hivemind_memory.mcp_server.port_holder import is_held_by_another_user

    if is_held_by_another_user(port):
        raise _other_program(port)


def _runs(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a server that was started is still there."""
    return process.poll() is None


def _answer(connection: http.client.HTTPConnection, token: str) -> bytes:
    """Return what a server says to a request for a link; empty: nothing."""
    try:
        headers = {"Authorization": f"Bearer {token}"}
        connection.request("POST", "/memory/link", body=b"", headers=headers)
        return connection.getresponse().read(10_000)
    except (OSError, http.client.HTTPException):
        return b""


def _code_in(body: bytes, port: int, notes: str) -> str:
    """Return the code in an answer.

    Raises:
        UsageError: It is no server of these notes.
    """
    try:
        answer = json.loads(body)
        code, shown = str(answer["code"]), str(answer["notes"])
    except (ValueError, KeyError, TypeError):
        raise _other_program(port) from None
    if os.path.realpath(shown) != os.path.realpath(notes):
        message = f"The server on port {port} shows other notes, {escape_line(shown)}."
        raise UsageError(message, hint=_other_port(port))
    return code


def _other_program(port: int) -> UsageError:
    """Return the error for a port that something else listens on."""
    from hivemind_memory.mcp_server.port_holder import find_holder

    holder = escape_line(find_holder(port)) or "another program"
    message = f"Port {port} is used by {holder}, which is not hm serve of these notes."
    return UsageError(message, hint=_other_port(port))


def _other_port(port: int) -> str:
    """Return what opens the pages all the same."""
    other = str(port + 1 if port < 65_535 else port - 1)
    return f"`hm dashboard --port {quote(other)}` uses another port."


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
    _remember(home, f"{process.pid} {port} {_wait_for_start(process)}")


def stop_servers(home: str) -> list[int]:
    """Stop all servers that ``start_server`` started; return their ports."""
    running = [line for line in _lines(home) if _is_ours(line)]
    stopped: list[str] = []
    for line in running:
        try:
            os.kill(int(line.split()[0]), signal.SIGTERM)
        except OSError:
            continue
        stopped.append(line)
    end_s = time.monotonic() + _STOP_S
    while any(map(_is_ours, stopped)) and time.monotonic() < end_s:
        time.sleep(_POLL_S)
    _remember(home)
    return [int(line.split()[1]) for line in stopped]


def _is_ours(line: str) -> bool:
    """Return whether a server of the file still runs: its number may be another's."""
    parts = line.split(maxsplit=2)
    if len(parts) != 3 or not (parts[0].isdigit() and parts[1].isdigit()):
        return False
    return _started_at(int(parts[0])) == parts[2]


def _wait_for_start(process: subprocess.Popen[bytes]) -> str:
    """Return when a server started, as soon as the system says.

    For some microseconds Linux knows a new program without its command line.
    """
    end_s = time.monotonic() + _TIMEOUT_S
    while not (start := _started_at(process.pid)) and _runs(process):
        if time.monotonic() >= end_s:
            break
        time.sleep(_START_POLL_S)
    return start


def _started_at(pid: int) -> str:
    """Return when a server started, as the system says; empty: there is none."""
    if os.path.isdir("/proc/self"):
        return _ticks_at_start(pid)
    command = ["ps", "-o", "stat=,lstart=,args=", "-p", str(pid)]
    environ = {**os.environ, "LC_ALL": "C"}
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environ
        )
    except OSError:  # there is no such program, so nothing is ended
        return ""
    state, *parts = told.stdout.split() or [""]
    is_server = "serve" in parts[_TIME_PARTS:] and not state.startswith("Z")
    return " ".join(parts[:_TIME_PARTS]) if is_server else ""


def _ticks_at_start(pid: int) -> str:
    """Return the clock ticks from boot to the start of a server; empty: there is none.

    The times of ps are off by a second now and then on Linux: it adds them up from
    clocks that drift.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return ""
    is_server = b"serve" in words and fields[0] != b"Z"
    return fields[_START_FIELD].decode() if is_server else ""


def _lines(home: str) -> list[str]:
    """Return the servers that were started: number, port and time of each."""
    try:
        with open(_file(home), encoding="utf-8", opener=open_regular) as file:
            return file.read(100_000).splitlines()
    except (OSError, ValueError):
        return []


def _remember(home: str, *new: str) -> None:
    """Remember the servers that still run, and new ones, under the lock of the file."""
    lock = exclusive(
        os.path.join(locks_folder(home), "dashboard.lock"),
        wait_s=LOCK_WAIT_S,
        refused=lambda why, hint: UsageError(why, hint=hint),
    )
    with lock:
        _write(home, [*filter(_is_ours, _lines(home)), *new])


def _write(home: str, lines: list[str]) -> None:
    """Remember some servers; none need no file."""
    if lines:
        write_file(_file(home), "".join(f"{line}\n" for line in lines).encode())
    elif os.path.exists(_file(home)):
        os.unlink(_file(home))


def _file(home: str) -> str:
    """Return the file that names the servers."""
    return os.path.join(home, "dashboard.pid")
