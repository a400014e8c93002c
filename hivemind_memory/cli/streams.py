"""Writes to standard output and standard error, whatever these are.

Data goes to standard output and talk to standard error. Output that could not be
written whole is an error; talk that nobody hears is not.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

EXIT_CLOSED_PIPE = 141
"""What a shell shows for a program that SIGPIPE ended: 128 + 13."""


class OutputClosedError(Exception):
    """Whoever read our output has left; what it did not read is nobody's loss."""


class OutputError(Exception):
    """The output could not be written; the message says why."""


def prepare() -> None:
    """Make both streams take any text: what an encoding lacks is shown escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is looking at *stream*."""
    return stream is not None and not stream.closed and stream.isatty()


def write_stdout(text: str) -> None:
    """Write *text* to standard output, and make sure that it arrived.

    Raises:
        OutputClosedError: The reader closed the pipe.
        OutputError: It could not be written, for another reason.
    """
    if sys.stdout is None:  # started with standard output closed (>&-)
        message = "standard output is closed"
        raise OutputError(message)
    try:
        _write_whole(sys.stdout, text)
    except BrokenPipeError as error:
        raise OutputClosedError from error
    except OSError as error:
        raise OutputError(error.strerror) from error


def write_stderr(text: str) -> None:
    """Write lines to standard error; if nobody hears them, so be it."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
    except (OSError, ValueError):
        abandon(sys.stderr)


def abandon(stream: TextIO | None) -> None:
    """Point *stream* at nothing, so that Python's own last flush does not complain."""
    try:
        if stream is not None:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)
    except (OSError, ValueError):
        return


def read_stdin() -> str:
    """Return all of standard input as text; broken UTF-8 becomes U+FFFD."""
    if sys.stdin is None:
        return ""
    data: bytes = sys.stdin.buffer.read()
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def typed_text(word: str) -> str:
    """Return a word of the command line as the person typed it.

    Under a locale without UTF-8 Python hands on each byte by itself.
    """
    if word.isascii() or word.isprintable():  # a lone surrogate is not printable
        return word
    return os.fsencode(word).decode("utf-8", "replace")


def _write_whole(stream: TextIO, text: str) -> None:
    """Write all of *text*, also where one call writes only a part.

    With PYTHONUNBUFFERED a text stream takes a short write for a whole one, and what
    the reader of a pipe did not wait for would be missing without an error.
    """
    stream.flush()
    try:
        # A console of Windows does not take UTF-8 through its descriptor.
        descriptor = None if sys.platform == "win32" else stream.fileno()
    except (OSError, ValueError):
        descriptor = None
    if descriptor is None:  # no file behind it, as in tests
        stream.write(text)
        stream.flush()
        return
    rest = memoryview(text.encode(stream.encoding, "backslashreplace"))
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # a pipe that its other end made non-blocking
            _wait_for_room(descriptor)


def _wait_for_room(descriptor: int) -> None:
    """Wait until *descriptor* takes more."""
    from select import select

    select([], [descriptor], [])
