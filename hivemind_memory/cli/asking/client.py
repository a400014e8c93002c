"""Asks the helper to become the command that this process was started as.

Until the whole request is sent, nothing has begun, and whatever goes wrong the command
does its work itself. From then on it never does: it could write the same twice.
"""

from __future__ import annotations

import os
import sys
from _signal import (  # type: ignore[import-not-found]  # what signal is made of
    SIG_BLOCK,
    SIG_DFL,
    SIG_SETMASK,
    SIGINT,
    SIGPIPE,
    SIGXFSZ,
    default_int_handler,
    getsignal,
    pthread_sigmask,
)
from _signal import signal as set_signal

# The module socket, made of this one, takes longer to import than the rest takes.
from _socket import (
    AF_UNIX,
    SCM_CREDENTIALS,
    SCM_RIGHTS,
    SO_PASSCRED,
    SO_PEERCRED,
    SOCK_STREAM,
    SOL_SOCKET,
    socket,
)

from hivemind_memory.cli.asking.program_id import program_id
from hivemind_memory.cli.asking.rights import Rights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import TextIOWrapper
    from types import FrameType

HELLO_S = 0.1
"""How long the helper may take to say that it is there. It takes 3 ms; but where two
processors begin 32 commands at once a third of them waits for more than 30, and would
take longer still to do the work itself."""

SWITCH = "HIVEMIND_ASK_LEADER"
"""The environment variable of the option."""

_ON = frozenset(("", "1", "true", "yes", "on"))

SIZE_BYTES = 8
ENDED, BECOMES = b"E", b"X"
"""How an answer begins: the command ended, with an exit code; it becomes a program."""

_LOST = (
    "error: The helper that ran this command was killed, so it is not known whether"
    " the command was done.\n"
    "hint: If it was to write something, `hm log` lists what was saved.\n"
)


def ask(path: str, *, may_read: bool) -> int | None:
    """Return the exit code of the command; None: nothing is begun.

    Args:
        path: The helper's socket.
        may_read: Whether the command may read from the terminal.
    """
    if os.environ.get(SWITCH, "").strip().lower() not in _ON:
        return None
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if None in streams or any("/fd/" in word for word in sys.argv):
        return None  # a closed stream, or a file that only this process has open
    # A child is not in the session of the terminal, so it can't be stopped and
    # continued with the command that waits for its answer.
    if may_read and sys.stdin.isatty():
        return None
    try:
        link = socket(AF_UNIX, SOCK_STREAM)
        link.setsockopt(SOL_SOCKET, SO_PASSCRED, 1)
        link.settimeout(HELLO_S)
        link.connect(path)
        process = _process_behind(link)
        if not process:
            return None
        # A Ctrl-C from here on is for the child, as soon as it can be passed on.
        mask = pthread_sigmask(SIG_BLOCK, {SIGINT})
        try:
            _send_request(link, streams)  # type: ignore[arg-type]  # as Python makes them
            _pass_on_ctrl_c(process)
        finally:
            pthread_sigmask(SIG_SETMASK, mask)
    except (OSError, ValueError):
        return None
    return _await_end(link)


def _process_behind(link: socket) -> int:
    """Return the child that answers; 0: none, or one of another program or user.

    It gets the environment, and may name a program to become. So it must not be one
    in a sandbox, which may write to the home and has put its own socket there.
    """
    credentials = link.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)
    if int.from_bytes(credentials[4:8], sys.byteorder) != os.geteuid():
        return 0
    data, ancillary, _, _ = link.recvmsg(100_000, 256)
    process, _, theirs = data.partition(b"\n")
    if theirs != program_id():
        return 0
    # Not the one that listens: it may have ended, and its number be another's.
    senders = [
        int.from_bytes(sender[:4], sys.byteorder)
        for level, kind, sender in ancillary
        if (level, kind) == (SOL_SOCKET, SCM_CREDENTIALS)
    ]
    own = Rights("self")
    is_same = senders == [int(process)] and own.is_plain and Rights(senders[0]) == own
    return senders[0] if is_same else 0


def _send_request(link: socket, streams: tuple[TextIOWrapper, ...]) -> None:
    """Send all that makes this process; it is complete only with its last byte."""
    mask = os.umask(0o077)
    os.umask(mask)
    words = list(sys.argv)
    environ = [part for pair in os.environb.items() for part in pair]
    parts = [str(mask), str(len(words)), sys.executable]
    for stream in streams:
        parts += (stream.encoding, stream.errors or "strict")
        parts += (str(int(stream.line_buffering)), str(int(stream.write_through)))
    request = b"\0".join([*map(os.fsencode, (*parts, *words)), *environ])
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    numbers = b"".join(
        number.to_bytes(4, sys.byteorder)
        for number in (*(stream.fileno() for stream in streams), folder)
    )
    rest = memoryview(len(request).to_bytes(SIZE_BYTES, "big") + request)
    rest = rest[link.sendmsg([rest], [(SOL_SOCKET, SCM_RIGHTS, numbers)]) :]
    while rest:
        rest = rest[link.send(rest) :]
    os.close(folder)


def _pass_on_ctrl_c(process: int) -> None:
    """Have Ctrl-C interrupt the command, which has begun, and not this process.

    The other signals end this process, and the child with it.
    """

    def pass_on(number: int, _frame: FrameType | None) -> None:
        try:
            os.kill(process, number)
        except OSError:
            return  # it has just ended

    if getsignal(SIGINT) is default_int_handler:
        set_signal(SIGINT, pass_on)


def _await_end(link: socket) -> int:
    """Return the exit code of the command, which has begun."""
    link.settimeout(None)
    answer = b""
    try:
        while part := link.recv(65536):
            answer += part
            if answer[:1] == ENDED and len(answer) > 1:
                return answer[1]
    except OSError:
        answer = b""
    size = int.from_bytes(answer[1 : 1 + SIZE_BYTES], "big")
    if answer[:1] == BECOMES and len(answer) == 1 + SIZE_BYTES + size:
        return _become(answer[1 + SIZE_BYTES :])
    os.write(2, _LOST.encode())
    return 0 if sys.argv[1] == "hook" else 1


def _become(program: bytes) -> int:
    """Become a program; return the exit code if it cannot be run."""
    count, *parts = program.split(b"\0")
    words, rest = parts[: int(count)], parts[int(count) :]
    environ = dict(zip(rest[::2], rest[1::2], strict=True))
    for number in (SIGPIPE, SIGXFSZ):
        set_signal(number, SIG_DFL)
    try:
        os.execvpe(words[0], words, environ)  # noqa: S606 - as the command does it
    except OSError:
        from hivemind_memory.cli.become import become

        return become(
            [os.fsdecode(word) for word in words],
            {os.fsdecode(name): os.fsdecode(text) for name, text in environ.items()},
        )
