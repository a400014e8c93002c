"""The class Memory: write, read, sync, search, embed. Save and forget: see curation."""

from __future__ import annotations

from hivemind_memory.memory.memory import Memory

__all__ = ["Memory"]
