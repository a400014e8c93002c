"""Runs a command in place of this process, or says why it cannot be run."""

from __future__ import annotations

import os

from hivemind_memory.cli.output import print_notices
from hivemind_memory.model.display import MAX_ERROR_CHARS, shorten_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def report_missing(program: str, environ: Mapping[str, str]) -> int:
    """Say why a program cannot be run, if that is certain; return its exit code, or 0.

    Args:
        program: As it was typed.
        environ: Where it is looked for.
    """
    from hivemind_memory.launch.agents import find_problem

    problem, code = find_problem(program, environ.get("PATH", os.defpath))
    if problem:
        _report(problem)
    return code


def become(
    words: Sequence[str], environ: Mapping[str, str], *, folder: str | None = None
) -> int:
    """Replace this process with a command.

    If that fails, print why and return the exit code that a shell would.
    """
    from hivemind_memory.files.errors import reason_of
    from hivemind_memory.launch.agents import (
        NOT_RUNNABLE,
        exec_process,
        exit_code_of,
    )

    if code := report_missing(words[0], environ):
        return code
    if folder is not None:
        try:
            os.chdir(folder)
        except OSError as error:
            why = reason_of(error)
            _report(f"The folder {folder} cannot be opened: {why}.")
            return NOT_RUNNABLE
    try:
        exec_process(words, environ)
    except OSError as error:
        why = reason_of(error)
        if isinstance(error, FileNotFoundError):
            why = "the program that its first line names is missing"
        _report(f"{words[0]} cannot be run: {why}.")
        return exit_code_of(error)
    except ValueError as error:  # such as a NUL in an argument of config.json
        _report(f"{words[0]} cannot be run: {error}.")
        return NOT_RUNNABLE


def _report(problem: str) -> None:
    """Say what is wrong; what was typed may be long."""
    print_notices([f"error: {shorten_words(problem, MAX_ERROR_CHARS)}"])
