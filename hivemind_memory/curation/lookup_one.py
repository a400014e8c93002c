"""Finds the memory to change."""

from __future__ import annotations

from hivemind_memory.curation.ambiguous_names import check_certain
from hivemind_memory.curation.locate import find_entry
from hivemind_memory.curation.lookup import find_memory
from hivemind_memory.curation.own_day import with_own_day
from hivemind_memory.errors import (
    LineNotFoundError,
    MemoryNotFoundError,
    UsageError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex


def find_one(
    context: CurationContext,
    index: MemoryIndex,
    ref: str,
    *,
    near: str = "",
    effect: str = "",
) -> MemoryRow:
    """Return the memory that a name refers to, if it is certain which one.

    It is if the name is in one scope, or if one of them comes first: *near*, that of
    the repository, the caller's only team with it, the global one.

    Args:
        context: Of the caller.
        index: Up to date.
        ref: An id, a key or a path.
        near: The scope of what it is linked to.
        effect: What was not done, for the error.

    Raises:
        MemoryNotFoundError: There is none that the caller sees, or an entry is named,
            which no link can lead to.
        UsageError: Its key is in several scopes, and none comes first; or no note can
            have the lines that it names.
    """
    ref = with_own_day(context, ref.strip())
    try:
        entry = find_entry(context, index, ref, None)
        if entry is None:
            row = find_memory(context, index, ref, near=near)
    except (MemoryNotFoundError, LineNotFoundError, UsageError) as error:
        raise type(error)(error.problem, hint=error.hint, effect=effect) from error
    if entry is not None:
        raise MemoryNotFoundError(
            f"{ref} is an entry of {entry.path}; links join memories and whole notes.",
            hint=f"Save its text under a key first, or name the note: {entry.path}.",
            effect=effect,
        )
    check_certain(context, index, ref, row, near=near, effect=effect)
    return row
