"""Write, sync, search, read, list: all that commands and tools call."""

from __future__ import annotations

from hivemind_memory.memory.service import Memory

__all__ = ["Memory"]
