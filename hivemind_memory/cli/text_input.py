"""Reads the text, author and scope of what a command writes."""

from __future__ import annotations

import sys

from hivemind_memory.cli.output import (
    has_unread_pipe,
    is_person,
    is_terminal,
    print_notices,
    read_stdin,
    write_stderr,
)
from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def read_content(words: tuple[str, ...], what: str) -> str:
    """Return the words joined by spaces; standard input for none and for a dash."""
    if words and words != ("-",):
        if has_unread_pipe():
            print_notices(["note: the words are the text; standard input was not read"])
        return " ".join(words)
    if is_terminal(sys.stdin):
        write_stderr(f"Type {what}; Ctrl-D on an empty line ends it.\n")
    return read_stdin("Nothing was saved")


def writer_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return who writes: name, session and source."""
    return {
        "by": values["by"] or "",
        "session": values["session"] or "",
        "source": values["source"] or ("human" if is_person() else "agent"),
    }


def scope_of(values: Mapping[str, Any]) -> str:
    """Return the scope that --scope or --global names.

    Raises:
        UsageError: They name different ones.
    """
    named = str(values["scope"] or "")
    if values["global"] and named.strip().casefold() not in {"", "global"}:
        message = f"-g and --scope {named} name different scopes."
        raise UsageError(message, hint="Give one of them.", effect="Nothing was saved")
    return "global" if values["global"] else named


def split_items(text: str | None) -> tuple[str, ...]:
    """Return what is between commas."""
    parts = (part.strip() for part in (text or "").split(","))
    return tuple(part for part in parts if part)
