"""Where the command ``hm`` begins and ends: from words to an exit code.

0: done, also when nothing was found. 1: an error, with its hint on standard error.
2: the command line was not understood. 130: Ctrl-C. 141: the reader of our output left.
"""

from __future__ import annotations

import os
import sys

from hivemind_memory.cli import streams
from hivemind_memory.cli.parse import CommandRequest, parse_request
from hivemind_memory.errors import ConfigError, HivemindError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def run() -> None:
    """Run ``hm`` as a process."""
    code = main(sys.argv[1:])
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = code or streams.EXIT_CLOSED_PIPE
        streams.abandon(sys.stdout)
    except OSError as error:
        # What is left in the buffer would fail once more when Python ends.
        code = code or _report(_unwritten(error), "", EXIT_ERROR)
        streams.abandon(sys.stdout)
    if code == streams.EXIT_CLOSED_PIPE:
        streams.abandon(sys.stdout)
    sys.exit(code)


def main(words: Sequence[str]) -> int:
    """Do what *words* ask for and return the exit code; no exception leaves it."""
    streams.prepare()
    if _is_debugging():
        import logging

        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    try:
        return _answer(words)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except streams.OutputClosedError:
        return streams.EXIT_CLOSED_PIPE
    except streams.OutputError as error:
        return _report(_unwritten(error), "", EXIT_ERROR)
    except HivemindError as error:
        return _report(str(error), error.hint, _exit_code(error))
    # The last door: whatever it is, a person gets a sentence and not a traceback.
    except Exception as error:  # noqa: BLE001
        return _report_unexpected(error)


def perform(request: CommandRequest) -> int:
    """Call the function that does the command; return the exit code."""
    from importlib import import_module

    module, _, function = request.command.verb.partition(":")
    verb: Callable[[CommandRequest], int]
    verb = getattr(import_module(f"hivemind_memory.cli.{module}"), function)
    return verb(request)


def _answer(words: Sequence[str]) -> int:
    """Take the quick way if there is one, else the way through typer."""
    # The variable with which a shell asks what could follow the word being typed.
    request = None if "_HM_COMPLETE" in os.environ else parse_request(words)
    if request is not None:
        return perform(request)
    from hivemind_memory.cli.app import run_app

    return run_app(words)


def _exit_code(error: HivemindError) -> int:
    """Return 2 for a mistake on the command line, 1 for all else."""
    is_usage = isinstance(error, UsageError) and not isinstance(error, ConfigError)
    return EXIT_USAGE if is_usage else EXIT_ERROR


def _unwritten(error: Exception) -> str:
    """Return that a result did not go out, and why."""
    return f"The output could not be written: {error}."


def _report(message: str, hint: str, code: int) -> int:
    """Say what is wrong and what to do, each on its line; return *code*."""
    from hivemind_memory.cli.escape import escape_line

    _show_traceback()
    streams.write_stderr(f"error: {escape_line(message)}\n")
    if hint:
        streams.write_stderr(f"hint: {escape_line(hint)}\n")
    return code


def _report_unexpected(error: Exception) -> int:
    """Report what nobody foresaw: a full disk and the like, or a defect of ours."""
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return _report(f"{error.strerror}{place}.", "", EXIT_ERROR)
    message = f"Unexpected {type(error).__name__}: {error}"
    hint = "This is a defect; HIVEMIND_DEBUG=1 shows where it happened."
    return _report(message, hint, EXIT_ERROR)


def _is_debugging() -> bool:
    """Whether the person wants to see what goes on inside."""
    return os.environ.get("HIVEMIND_DEBUG", "") not in ("", "0")


def _show_traceback() -> None:
    """Print the traceback of the error in hand, for those who ask for it."""
    if _is_debugging():
        import traceback

        streams.write_stderr(traceback.format_exc())
