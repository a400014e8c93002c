"""Lists typed memories a page at a time; only the notes of the page are read."""

from __future__ import annotations

from hivemind_memory.curation.listing import fitting_rows
from hivemind_memory.curation.lookup import load_indexed
from hivemind_memory.curation.replaced import as_replaced, replaced_by_link
from hivemind_memory.curation.status_names import as_of
from hivemind_memory.curation.without_secrets import memories_for
from hivemind_memory.model.display import behind_text
from hivemind_memory.model.listing import MemoryPage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.listing import MemoryFilter


def list_page(
    context: CurationContext, wanted: MemoryFilter, *, offset: int, limit: int
) -> MemoryPage:
    """Return some of the typed memories that fit, newest first, and how many do.

    Where only what is forgotten fits, what was forgotten last comes first. A visitor
    is shown what is public.

    Args:
        context: Of the caller.
        wanted: Types, scope, statuses and words; the rest of it does not count.
        offset: How many to pass over, at least 0.
        limit: How many to return, at least 1.

    Raises:
        ScopeError: The filter names a scope that the caller does not have.
        UnknownTypeError: There is no such type.
    """
    index, why_stale = context.index.known(is_lookup=True)
    newer = replaced_by_link(context, index)
    words = wanted.words.casefold().split()
    if context.caller.is_member and not words:
        rows, total = fitting_rows(
            context, index, wanted, newer, offset=offset, limit=limit
        )
        loaded = [load_indexed(context, row) for row in rows]
        found = [memory for memory in loaded if memory is not None]
    else:
        rows, _ = fitting_rows(context, index, wanted, newer)
        every = (load_indexed(context, row) for row in rows)
        fitting = [
            memory
            for memory in every
            if memory is not None
            and context.caller.may_see(memory.visibility)
            and _has_words(memory, words)
            # Of what is hidden no word is found: a search would spell it out.
            and (
                context.caller.sees_secrets
                or _has_words(memories_for(context.caller, (memory,))[0], words)
            )
        ]
        found, total = fitting[offset : offset + limit], len(fitting)
    today = context.clocks.today()
    listed = (as_replaced(as_of(memory, today), newer) for memory in found)
    shown = memories_for(context.caller, listed)
    return MemoryPage(memories=shown, total=total, warning=behind_text(why_stale))


def _has_words(memory: StoredMemory, words: list[str]) -> bool:
    """Return whether the key or the text of a memory contains all words."""
    if not words:
        return True
    text = f"{memory.key}\n{memory.text}".casefold()
    return all(word in text for word in words)
