"""What may be shown in a terminal; the rules are those of ``model/escape``."""

from __future__ import annotations

from hivemind_memory.model.escape import (
    escape_for_pipe,
    escape_for_terminal,
    escape_json,
    escape_line,
)

__all__ = ["escape_for_pipe", "escape_for_terminal", "escape_json", "escape_line"]
