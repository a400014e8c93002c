"""The entry point of ``hm``: runs a command line and returns its exit code.

0: done, also if nothing was found. 1: an error, with its hint on standard error.
2: the command line was not understood. 130: Ctrl-C. 141: the reader of the output left.
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

from hivemind_memory.cli import output
from hivemind_memory.cli.parse import parse_request
from hivemind_memory.cli.reading import READING
from hivemind_memory.errors import (
    TOO_MANY_FILES,
    ConfigError,
    HivemindError,
    IndexUnusableError,
    NotesMissingError,
    ProgramMissingError,
    StateUnusableError,
    UsageError,
    is_out_of_files,
    sentence,
)
from hivemind_memory.model.display import MAX_ERROR_CHARS, shorten_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_NO_PROGRAM = 127
EXIT_INTERRUPTED = 130

SERVERS = ("dashboard", "mcp", "serve", "watch")
"""Commands that have run for long when they end, with libraries that have threads."""

_CLAUSES = (IndexUnusableError, NotesMissingError, StateUnusableError)
"""Their texts are clauses: an answer names them within a sentence of its own."""


def run() -> None:
    """Run ``hm`` as a process."""
    if sys.getfilesystemencoding() == "ascii" and not sys.flags.utf8_mode:
        _restart_in_utf8()
    words = sys.argv[1:]
    end(finish(main(words)), is_quick=words[:1] not in [[name] for name in SERVERS])


def finish(code: int) -> int:
    """Write what is left of the output; return the exit code, which this may change."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = code or output.EXIT_CLOSED_PIPE
        output.abandon(sys.stdout)
    except OSError as error:
        # The rest of the buffer would fail once more when Python exits.
        code = code or _report_unwritten(error)
        output.abandon(sys.stdout)
    if code == output.EXIT_CLOSED_PIPE:
        output.abandon(sys.stdout)
    return code


def end(code: int, *, is_quick: bool) -> NoReturn:
    """End this process with a code.

    A short command spends a tenth of its time on taking apart what it has loaded. That
    writes nothing: what has to be written at the end is registered with ``atexit``.
    """
    threads = sys.modules.get("threading")
    awaited = (
        [each for each in threads.enumerate() if not each.daemon] if threads else ()
    )
    if not is_quick or _is_debugging() or len(awaited) > 1:
        sys.exit(code)
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no other name for it
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # it may be closed
            stream.flush()
    os._exit(code)


def _restart_in_utf8() -> None:
    """Become the same command in Python's UTF-8 mode, if that is possible.

    The name of a note is UTF-8 in the index, whatever the locale. With ASCII, Python
    reads another name from the folder, and the note and its index seem to disagree.
    """
    words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
    try:
        os.execv(sys.executable, words)  # noqa: S606 - our own words, and no shell
    except OSError:
        return  # names in ASCII work without it


def main(words: Sequence[str]) -> int:
    """Do what *words* ask for and return the exit code; raise nothing."""
    code = _main(words)
    # Agents stop for a hook that ends with 2, and another version of hm may have
    # written its command line.
    return 0 if list(words[:1]) == ["hook"] else code


def _main(words: Sequence[str]) -> int:
    """Do what *words* ask for and return the exit code."""
    output.prepare()
    output.keep_going(is_wanted=False)
    if _is_debugging():
        import logging

        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    try:
        request = parse_request(words)
        if request.notes:
            output.print_notices(f"note: {note}" for note in request.notes)
        is_reading = request.command.name in READING or request.values.get("dry_run")
        output.keep_going(is_wanted=not is_reading)
        if output.is_terminal(sys.stderr):
            from hivemind_memory.cli.recovery_notice import print_recovery_notices

            print_recovery_notices(request)
        return request.command.call(request)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except output.OutputClosedError:
        return output.EXIT_CLOSED_PIPE
    except output.OutputError as error:
        return _report_unwritten(error)
    except HivemindError as error:
        code = _exit_code(error)
        is_told = bool(error.effect) and output.is_printed(error.problem)
        message = f"{error.effect}." if is_told else str(error)
        if isinstance(error, _CLAUSES):
            message = sentence(message)
        hint = "" if output.is_printed(error.hint) else error.hint
        return _report(message, _hint_sentence(hint), code)
    # Whatever else it is, a person gets a sentence and not a traceback.
    except Exception as error:  # noqa: BLE001
        return _report_unexpected(error)


def _hint_sentence(hint: str) -> str:
    """Return a hint as a sentence; one that ends with text to paste stays as it is."""
    end = hint.rpartition(" ")[2]
    is_usage = hint.startswith("Usage: ")
    is_prose = not is_usage and (end.isalpha() or end.endswith("`"))
    return sentence(hint) if is_prose else hint


def _exit_code(error: HivemindError) -> int:
    """Return the exit code for an error that has a sentence of its own."""
    if isinstance(error, ProgramMissingError):
        return EXIT_NO_PROGRAM
    is_usage = isinstance(error, UsageError) and not isinstance(error, ConfigError)
    return EXIT_USAGE if is_usage else EXIT_ERROR


def _report(message: str, hint: str, code: int) -> int:
    """Say what is wrong and what to do, each on its line; return *code*."""
    if _is_debugging():
        import traceback

        output.write_stderr(traceback.format_exc())
    lines = [f"error: {message}", *([f"hint: {hint}"] if hint else [])]
    told = (shorten_words(_without_vault(line), MAX_ERROR_CHARS) for line in lines)
    output.print_notices(told)
    return code


def _without_vault(line: str) -> str:
    """Return a line without values of the vault: it may name what was typed."""
    # Vaults are known once the options are read; a usage error needs neither.
    if "hivemind_memory.files.places" not in sys.modules:
        return line
    try:
        from hivemind_memory.vault.opened import secret_values

        if not secret_values():
            return line
        from hivemind_memory.redaction.redact import without_known
    except (ImportError, OSError):
        return line  # no descriptor is left: this line says so
    return without_known(line)


def _report_unwritten(error: Exception) -> int:
    """Report that the output could not be written."""
    return _report(f"Could not write the output: {error}.", "", EXIT_ERROR)


def _report_unexpected(error: Exception) -> int:
    """Report an error that no command handles: a full disk and the like, or a bug."""
    if is_out_of_files(error):
        hint = "Close some programs, or raise the limit (ulimit -n), and try again."
        return _report(TOO_MANY_FILES, hint, EXIT_ERROR)
    if isinstance(error, FileNotFoundError) and not _is_in_folder():
        message = "The current folder is no longer there."
        return _report(message, "Go to another one, such as with `cd`.", EXIT_ERROR)
    if isinstance(error, MemoryError):
        hint = "Close some programs, or raise the limit (ulimit -v), and try again."
        return _report("There is not enough memory.", hint, EXIT_ERROR)
    if isinstance(error, OSError) and error.errno:
        place = f": {error.filename}" if error.filename else ""
        from hivemind_memory.files.errors import cause_of

        cause, hint = cause_of(error)
        return _report(f"{cause[0].upper()}{cause[1:]}{place}.", hint, EXIT_ERROR)
    message = f"Unexpected {type(error).__name__}: {error}"
    hint = "This is a bug; HIVEMIND_DEBUG=1 shows where it happened."
    return _report(message, hint, EXIT_ERROR)


def _is_in_folder() -> bool:
    """Whether the current folder still has a path."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _is_debugging() -> bool:
    """Whether tracebacks and log lines are wanted."""
    return os.environ.get("HIVEMIND_DEBUG", "") not in ("", "0")
