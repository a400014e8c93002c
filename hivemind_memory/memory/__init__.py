"""The heart: write, sync, search, read, list. Doors call this and nothing below it."""

from __future__ import annotations

from hivemind_memory.memory.service import Memory

__all__ = ["Memory"]
