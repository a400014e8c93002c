"""How many rows a list shows: a screenful on a terminal, all in a pipe and in JSON."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import Flag
from hivemind_memory.cli.output import is_terminal, print_notices
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TERMINAL_ROWS = 20

LIMIT = Flag(
    ("-n", "--max-results", "--limit"),
    "int",
    f"Maximum number of rows (terminal: {_TERMINAL_ROWS}, else all).",
    metavar="N",
    low=1,
    high=1_000_000,
)
ALL = Flag(("--all",), "flag", "Show all rows, even on a terminal.")

RULE = f"A terminal shows {_TERMINAL_ROWS} rows; a pipe and --json get all."
"""For the description of a command that has both options."""


def row_count(values: Mapping[str, Any], found: int) -> int:
    """Return how many of the rows that were found are shown."""
    limit: int | None = values["limit"]
    if limit is not None and values["all"]:
        raise UsageError("--limit and --all cannot be combined.", hint="Give one.")
    if limit is None and not (values["all"] or values["json"]):
        limit = _TERMINAL_ROWS if is_terminal(sys.stdout) else None
    return found if limit is None or values["all"] else min(limit, found)


def print_left(count: int, noun: str, plural: str = "") -> None:
    """Say how many rows are not shown, and how to see them."""
    if count:
        more = count_text(count, f"more {noun}", f"more {plural}" if plural else "")
        print_notices([f"… {more}: --all lists all"])
