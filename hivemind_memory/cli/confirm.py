"""Asks a person to confirm a change that they may not have intended."""

from __future__ import annotations

import sys

from hivemind_memory.cli.output import is_terminal, wrapped, write_stderr
from hivemind_memory.model.display import escape_line


def is_sure(
    question: str, otherwise: str, *, as_json: bool = False, remedy: str = ""
) -> bool:
    """Ask; for any answer but yes, say that nothing was done and return False.

    Args:
        question: Ends with a question mark.
        otherwise: What is said if nothing is done, without a full stop.
        as_json: Refuse without asking: a program reads what is printed.
        remedy: What to do without a terminal, instead of the usual sentence.
    """
    if as_json:
        write_stderr(f"{otherwise}: with --json, confirm with --yes\n")
        return False
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        how = f"; {remedy}" if remedy else ": without a terminal, confirm with --yes"
        write_stderr(f"{otherwise}{how}\n")
        return False
    write_stderr(f"{wrapped(f'{escape_line(question)} [y/N]')} ")
    try:
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        write_stderr("\n")  # the prompt of the shell begins a line of its own
        raise
    if answer.strip().lower() in ("y", "yes"):
        return True
    write_stderr(f"{otherwise}\n")
    return False
