"""Becomes the command that a process asks for, in a child of the helper."""

from __future__ import annotations

import atexit
import fcntl
import gc
import io
import os
import signal
import sys
import threading
import time
from _socket import MSG_DONTWAIT, MSG_PEEK, SCM_RIGHTS, SOL_SOCKET
from array import array

from hivemind_memory import environment
from hivemind_memory.cli import main, output
from hivemind_memory.cli.asking.client import BECOMES, ENDED, SIZE_BYTES
from hivemind_memory.cli.asking.peer import process_of, take_limits
from hivemind_memory.cli.asking.rights import Rights
from hivemind_memory.launch import agents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence
    from typing import NoReturn, TextIO

REQUEST_S = 2.0
"""How long a request may take to arrive: nothing waits for it."""

_STREAMS = ("stdin", "stdout", "stderr")
_PART_BYTES = 1 << 16


def answer(link: socket, program_id: bytes, rights: Rights) -> NoReturn:
    """Do what the process behind *link* asks for, and end; ending is an answer too."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        gc.enable()
        process = process_of(link)
        if Rights(process) != rights:
            os._exit(0)
        take_limits(process)
        link.settimeout(REQUEST_S)
        link.sendall(b"%d\n%b" % (os.getpid(), program_id))
        request, files = _receive(link)
        _become(request, files, process)
        _end_with(link)
    except KeyboardInterrupt:
        _leave(link, main.EXIT_INTERRUPTED)
    except BaseException:  # noqa: BLE001 - the other side sees that there is no answer
        os._exit(0)
    try:
        code = main.finish(main.main(sys.argv[1:]))
        # What Python does before it ends; multiprocessing calls them, too.
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
        atexit._run_exitfuncs()  # noqa: SLF001
        _leave(link, code)
    except KeyboardInterrupt:
        _leave(link, main.EXIT_INTERRUPTED)
    finally:
        os._exit(0)  # without an exit code, the other side says that it has none


def _receive(link: socket) -> tuple[bytes, tuple[int, ...]]:
    """Return a whole request, with the files that came with it.

    Raises:
        OSError: It does not come, or not whole.
    """
    numbers = array("i")
    space = 4 * numbers.itemsize
    data, ancillary, _, _ = link.recvmsg(_PART_BYTES, space + 64)
    for level, kind, files in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            numbers.frombytes(files)
    while len(data) < SIZE_BYTES or len(data) < _size(data):
        part = link.recv(_PART_BYTES)
        if not part:
            raise ConnectionError
        data += part
    if len(numbers) != len(_STREAMS) + 1:
        raise ConnectionError
    return data[SIZE_BYTES:], tuple(numbers)


def _size(data: bytes) -> int:
    """Return how long a request is, of which the beginning is there."""
    return SIZE_BYTES + int.from_bytes(data[:SIZE_BYTES], "big")


def _become(request: bytes, files: tuple[int, ...], process: int) -> None:
    """Take on the words, environment, folder and streams of the process that asks."""
    parts = request.split(b"\0")
    mask, count, program, *rest = parts
    streams, rest = rest[:12], rest[12:]
    words, variables = rest[: int(count)], rest[int(count) :]
    os.environ.clear()
    os.environb.update(zip(variables[::2], variables[1::2], strict=True))
    time.tzset()
    os.umask(int(mask))
    os.fchdir(files[3])
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    for number, name in enumerate(_STREAMS):
        stream = _stream(number, *map(bytes.decode, streams[4 * number :][:4]))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.executable = os.fsdecode(program)
    sys.argv = [os.fsdecode(word) for word in words]
    environment.asked_by = process


def _stream(
    number: int, encoding: str, errors: str, by_line: str, unbuffered: str
) -> TextIO:
    """Return a standard stream as Python makes it."""
    is_raw = unbuffered == "1"
    buffer = io.open(  # noqa: SIM115, UP020 - it is open until the end
        number, "wb" if number else "rb", buffering=0 if is_raw else -1, closefd=False
    )
    return io.TextIOWrapper(
        buffer,
        encoding=encoding,
        errors=errors,
        newline="\n",
        line_buffering=by_line == "1",
        write_through=is_raw,
    )


def _end_with(link: socket) -> None:
    """End when the other side does, and pass on what the command ends with."""
    output.leave = lambda code: _leave(link, code)
    agents.replace_process = lambda words, environ: _pass_on(link, words, environ)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(link.fileno(), fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(link.fileno(), fcntl.F_GETFL)
    # The other side sends no more, so what comes is its end, by any signal.
    fcntl.fcntl(link.fileno(), fcntl.F_SETFL, flags | os.O_ASYNC)
    link.setblocking(True)
    try:
        link.recv(1, MSG_PEEK | MSG_DONTWAIT)
    except BlockingIOError:
        return
    os._exit(0)  # it has ended before


def _leave(link: socket, code: int) -> NoReturn:
    """Tell the exit code, and end."""
    link.sendall(ENDED + bytes((code & 0xFF,)))
    os._exit(0)


def _pass_on(
    link: socket, words: Sequence[str], environ: Mapping[str, str]
) -> NoReturn:
    """Have the other side become a program, and end."""
    variables = [part for pair in environ.items() for part in pair]
    program = b"\0".join(map(os.fsencode, (str(len(words)), *words, *variables)))
    link.sendall(BECOMES + len(program).to_bytes(SIZE_BYTES, "big") + program)
    os._exit(0)
