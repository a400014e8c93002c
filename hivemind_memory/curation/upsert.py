"""Saves a memory under a key that is in one scope only, in the place of an earlier one.

Programs name their memories by ids of their own, and write one again to change it. Such
a memory has the id as its key. What is replaced is not kept: the program means it so.
"""

from __future__ import annotations

from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.curation.save import save
from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import NewMemory, SaveResult


def upsert(context: CurationContext, wanted: NewMemory) -> SaveResult:
    """Save a memory, or replace the active one of its key; it is on disk then.

    Args:
        context: Of the caller.
        wanted: What to save; its scope is a folder that the caller may write to.

    Raises:
        MemoryNotFoundError: The key is that of a memory in another scope, of those that
            the caller reads.
        HivemindError: As ``save`` raises.
    """
    if context.caller.is_owner:
        # A platform with all rights of the owner may say what its user has said.
        caller = replaced(context.caller, is_agent=False)
        context = replaced(context, caller=caller)
    with context.id_lock(wanted.key):
        index = context.index.fresh(is_lookup=True)
        rows = index.memories(
            key=wanted.key,
            scopes=context.caller.scopes,
            statuses=frozenset({ACTIVE}),
        )
        # Who knows an id must not be able to keep its program from it.
        if any(
            row.scope != wanted.scope and _is_of_program(context, row.path)
            for row in rows
        ):
            raise MemoryNotFoundError(
                "A memory of that id is in another scope.",
                hint="Write it where it is, or leave the id out.",
                effect="Nothing was saved",
            )
        return save(context, wanted)


def _is_of_program(context: CurationContext, path: str) -> bool:
    """Return whether a program wrote a memory, and not a person or an agent."""
    found = load_memory(context, path)
    return found is not None and "plugin_source" in found.more
