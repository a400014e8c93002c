"""The class Memory: write, read, sync, search, embed, doctor. Changing: curation."""

from __future__ import annotations

from hivemind_memory.memory.memory import Memory

__all__ = ["Memory"]
