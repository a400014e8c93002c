"""Hivemind Memory: one memory for every coding agent on a machine.

from hivemind_memory import Query, open_memory

with open_memory() as memory:
    answer = memory.search(Query(text="when do we deploy"))
"""

from __future__ import annotations

from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.errors import HivemindError
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.curation import MemorySelector, NewMemory
    from hivemind_memory.model.query import Hit, Query, SearchAnswer, SearchReport
    from hivemind_memory.opening import open_memory

__all__ = [
    "Caller",
    "Hit",
    "HivemindError",
    "Memory",
    "MemorySelector",
    "NewMemory",
    "Query",
    "SearchAnswer",
    "SearchReport",
    "__version__",
    "open_memory",
]

_HOMES = {
    "Caller": "hivemind_memory.access.rules",
    "Hit": "hivemind_memory.model.query",
    "HivemindError": "hivemind_memory.errors",
    "Memory": "hivemind_memory.memory",
    "MemorySelector": "hivemind_memory.model.curation",
    "NewMemory": "hivemind_memory.model.curation",
    "Query": "hivemind_memory.model.query",
    "SearchAnswer": "hivemind_memory.model.query",
    "SearchReport": "hivemind_memory.model.query",
    "open_memory": "hivemind_memory.opening",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: the command ``hm`` needs few."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
