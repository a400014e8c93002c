"""Prints to standard output and standard error: lines, tables, notices, JSON.

Data goes to standard output, messages to standard error. For a pipe: one fact a line,
nothing wrapped, nothing cut, no color; tables for a terminal are in ``terminal``,
which only a terminal imports. JSON is complete, and the same value in any encoding.
Data that could not be written whole is an error; a message that is not read is none.
"""

from __future__ import annotations

import os
import sys

from hivemind_memory.model.display import count_text, escape_json, escape_line
from hivemind_memory.model.value import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TextIO

    from hivemind_memory.model.curation import FailedItem
    from hivemind_memory.model.query import SearchAnswer
    from hivemind_memory.model.results import Diagnosis, EmbedResult, SyncResult
    from hivemind_memory.model.snapshot import SkippedNote


leave: Callable[[int], object] = os._exit
"""Ends the command at once, with an exit code, whatever else still runs."""

_MAX_SKIPPED = 10
_printed_once: list[str] = []
"""What is wrong in config.json, for one: errors and reports may say so too."""


def print_line(text: str, *, keep: Iterable[str] = ()) -> None:
    """Print one line of data to standard output, wrapped at words on a terminal.

    Args:
        text: The line.
        keep: Parts of it that are not broken, such as a path with blanks.
    """
    shown = escape_line(text)
    if is_terminal(sys.stdout):
        shown = wrapped(shown, hang="    ", keep=map(escape_line, keep))
    write_stdout(f"{shown}\n")


def print_rows(rows: Iterable[Sequence[object]]) -> None:
    """Print one line for each row, its cells separated by tabs: for cut and awk."""
    lines = ("\t".join(escape_line(str(cell)) for cell in row) for row in rows)
    write_stdout("".join(f"{line}\n" for line in lines))


def print_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    keep: bool = False,
    is_cut: bool = False,
) -> None:
    """Print rows: a table with a head on a terminal, else as ``print_rows``.

    Args:
        heads: A title for each column.
        rows: A cell for each column.
        keep: The last cells are not broken at blanks either: they are names.
        is_cut: The last cells are cut to one line of the terminal; a pipe gets all.
    """
    if rows and is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import columns_text

        write_stdout(columns_text(heads, rows, keep=keep, is_cut=is_cut))
    else:
        print_rows(rows)


def print_notices(lines: Iterable[str]) -> None:
    """Print lines to standard error, wrapped at words on a terminal."""
    shown = [escape_line(line) for line in lines]
    if shown and is_terminal(sys.stderr):
        shown = [wrapped(line) for line in shown]
    write_stderr("".join(f"{line}\n" for line in shown))


def print_once(lines: Iterable[str]) -> None:
    """Print lines to standard error, each no more than once in a command."""
    new = [line for line in dict.fromkeys(lines) if line not in _printed_once]
    _printed_once.extend(new)
    print_notices(new)


def is_printed(text: str) -> bool:
    """Whether ``print_once`` has printed a text, alone or as part of a line."""
    return bool(text) and any(text in line for line in _printed_once)


def wrapped(line: str, *, hang: str = "", keep: Iterable[str] = ()) -> str:
    """Return an escaped line wrapped at words, as wide as the terminal is."""
    from shutil import get_terminal_size

    from hivemind_memory.cli.wrap import wrap_line

    return wrap_line(line, get_terminal_size().columns, hang=hang, keep=keep)


def print_sync(result: SyncResult, embedding: EmbedResult, *, as_json: bool) -> None:
    """Print what a sync did."""
    if as_json:
        return print_json({**plain_value(result), "embedding": embedding})
    print_line(
        f"{result.added} added, {result.updated} updated, {result.removed} removed,"
        f" {result.unchanged} unchanged ({result.took_s:.2f} s)"
    )
    return print_indexed(result, embedding)


def print_indexed(result: SyncResult, embedding: EmbedResult) -> None:
    """Print what a sync and a rebuild have in common: vectors, skips, recoveries."""
    if embedding.embedded or embedding.from_cache:
        print_line(
            f"{count_text(embedding.embedded, 'text')} embedded,"
            f" {embedding.from_cache} from the cache"
        )
    notices = list(_skipped_lines(result.skipped))
    if result.recovered:
        entries = count_text(result.recovered, "saved entry was", "saved entries were")
        notices.append(f"{entries} missing from a note and restored")
        notices += [entry.notice for entry in result.recovered_entries]
    if embedding.problem:
        pending = f"{count_text(embedding.pending, 'chunk')} without a vector"
        state = pending if embedding.pending else "no vectors"
        notices.append(f"{state}: {embedding.problem}")
    print_notices(notices)


def failed_text(item: FailedItem) -> str:
    """Return one line about something that was not done."""
    return f"not done: {item.what}: {item.why}"


def size_text(size_bytes: int) -> str:
    """Return a size as a person reads it.

    >>> size_text(999), size_text(1_536_000)
    ('999 B', '1.5 MB')
    """
    size = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} GB"


def _skipped_lines(skipped: Sequence[SkippedNote]) -> Iterable[str]:
    """Return the files that were left out, the first few of many."""
    for note in skipped[:_MAX_SKIPPED]:
        yield f"skipped {note.path}: {note.reason}"
    if len(skipped) > _MAX_SKIPPED:
        yield f"and {len(skipped) - _MAX_SKIPPED} more; `hm status` lists them"


EXIT_CLOSED_PIPE = 141
"""What a shell shows for a program that SIGPIPE ended: 128 + 13."""


class OutputClosedError(Exception):
    """The reader of our output is gone; what it did not read does not matter."""


class OutputError(Exception):
    """The output could not be written; the message says why."""


_fallback = False
"""Whether a result that standard output does not take goes to standard error."""


def keep_going(*, is_wanted: bool) -> None:
    """Choose what happens when standard output takes no more.

    Args:
        is_wanted: The command changes something. It goes on, and its results go to
            standard error: if it ended midway, or with an error after saving an entry,
            it would be run again and do everything twice.
    """
    global _fallback  # noqa: PLW0603 - one process has one standard output
    _fallback = is_wanted


def prepare() -> None:
    """Make both streams take any text: what an encoding lacks is shown escaped."""
    _printed_once.clear()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is looking at *stream*."""
    return stream is not None and not stream.closed and stream.isatty()


def is_person() -> bool:
    """Whether a person types the commands and reads the answers."""
    from hivemind_memory.access.rules import agent_in

    # Some agents open terminals for what they run.
    is_on_terminal = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    return is_on_terminal and not agent_in(os.environ)


def write_stdout(text: str) -> None:
    """Write *text* to standard output, and make sure that it arrived.

    Raises:
        OutputClosedError: The reader closed the pipe.
        OutputError: It could not be written, for another reason.
    """
    try:
        _write_stdout(text)
    except (OutputClosedError, OutputError) as error:
        if not _fallback:
            raise
        if isinstance(error, OutputError):
            write_stderr(
                f"could not write to standard output ({error}); the message was:\n"
            )
        write_stderr(text)


def _write_stdout(text: str) -> None:
    """Write *text* to standard output."""
    if sys.stdout is None:  # started with standard output closed (>&-)
        message = "standard output is closed"
        raise OutputError(message)
    try:
        _write_whole(sys.stdout, text)
    except BrokenPipeError as error:
        raise OutputClosedError from error
    except OSError as error:
        from hivemind_memory.files.errors import reason_of

        raise OutputError(reason_of(error)) from error


def write_stderr(text: str) -> None:
    """Write lines to standard error, if it is still open."""
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


def read_stdin(effect: str = "") -> str:
    """Return all of standard input as text; a byte order mark names its encoding.

    Raises:
        UsageError: It is not text; *effect* says what was not done.
    """
    data = read_stdin_bytes()
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        from hivemind_memory.errors import UsageError

        line = data.count(b"\n", 0, error.start) + 1
        message = (
            f"Standard input is not UTF-8 text (line {line}, byte {error.start + 1})."
        )
        hint = "`iconv -f latin1 -t utf-8` converts it, if it is Latin-1."
        raise UsageError(message, hint=hint, effect=effect) from error


def read_stdin_bytes() -> bytes:
    """Return all of standard input."""
    return b"" if sys.stdin is None else bytes(sys.stdin.buffer.read())


def has_unread_pipe() -> bool:
    """Whether a program has written to standard input, through a pipe."""
    from stat import S_ISFIFO

    try:
        descriptor = sys.stdin.fileno()
        if sys.platform == "win32" or not S_ISFIFO(os.fstat(descriptor).st_mode):
            return False
        from array import array
        from fcntl import ioctl
        from termios import FIONREAD

        size = array("i", [0])
        ioctl(descriptor, FIONREAD, size)
    except (AttributeError, OSError, ValueError):
        return False
    return size[0] > 0


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


def print_json(value: object) -> None:
    """Print *value*, made of plain types and our values, as one JSON document.

    Indented on a terminal, one line otherwise.
    """
    import json  # only for `--json`

    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(
        value,
        default=plain_value,
        # What another encoding lacks must still be JSON.
        ensure_ascii=encoding.replace("-", "") != "utf8",
        indent=2 if is_terminal(sys.stdout) else None,
    )
    write_stdout(escape_json(text) + "\n")


def answer_value(answer: SearchAnswer) -> dict[str, object]:
    """Return an answer as ``{"hits": […], "report": {…}}``."""
    return {"hits": [_hit(hit) for hit in answer.hits], "report": answer.report}


def diagnosis_value(diagnosis: Diagnosis) -> dict[str, object]:
    """Return a diagnosis with its verdict."""
    return {"is_healthy": diagnosis.is_healthy, "findings": diagnosis.findings}


def _hit(hit: object) -> dict[str, object]:
    """Return a hit; its parts only when it has been explained, a claim of claims."""
    value = plain_value(hit)
    return {
        name: part
        for name, part in value.items()
        if part or name not in {"also_in", "parts", "claim", "untrusted"}
    }


def plain_value(value: object) -> dict[str, object]:
    """Return one of our values as a dictionary; ``json`` asks again for its parts."""
    names = fields_of(value) or getattr(type(value), "__dataclass_fields__", ())
    if not names:
        message = f"{type(value).__name__} has no form in JSON"
        raise TypeError(message)
    return {name: getattr(value, name) for name in names}
