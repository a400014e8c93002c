"""What may be shown in a terminal; the rules are those of ``model/escape``."""

from __future__ import annotations

from hivemind_memory.model.escape import for_pipe, for_terminal, in_json, on_one_line

__all__ = ["for_pipe", "for_terminal", "in_json", "on_one_line"]
