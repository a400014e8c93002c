"""Compares a saved memory with the memories that are most like it, in one request."""

from __future__ import annotations

from hivemind_memory.access.visibility import is_kept_back
from hivemind_memory.curation.model_links import active_row
from hivemind_memory.curation.read_version import version_of_text
from hivemind_memory.curation.status_names import as_of
from hivemind_memory.jobs.relations import (
    messages_about,
    relations_in,
    schema_for,
    text_of,
)
from hivemind_memory.jobs.replies import read_from
from hivemind_memory.markdown.entry import new_ulid
from hivemind_memory.model.changes import ACCEPT, SAVE
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.curation import MEMORY
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.memories import ACTIVE, STATUSES
from hivemind_memory.model.query import Query
from hivemind_memory.model.relations import Comparison
from hivemind_memory.model.scope import INBOX, place_in_scope
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.redaction import mask
from hivemind_memory.state.change_log import ChangeLog
from hivemind_memory.state.jobs import Jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.changes import Change
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.ports import Chat

LINKS = "links"
"""Kind of the jobs that compare a saved memory."""

RECENT_S = 7.0 * SECONDS_PER_DAY
"""How old a save may be to be compared. What ended is kept a day longer."""

MAX_NEIGHBORS = 5
MIN_RELEVANCE = 0.35
"""Memories that are compared, and how relevant to the saved one they must be. A whole
text as the query seldom reaches more by words: no other memory has most of them."""

_CANDIDATES = 20
_NO_CHANCE = bytes(10)
_QUERY_CHARS = 400
"""Of the memory, as a query: a search counts the first 64 terms."""


def recent_changes(memory: Memory) -> list[Change]:
    """Return the changes of the last days, in which a save gets its job."""
    first = new_ulid(max(0.0, memory.clocks.now() - RECENT_S), _NO_CHANCE)
    return ChangeLog(memory.state()).since(first)


def refs_to_compare(memory: Memory, changes: Iterable[Change]) -> list[str]:
    """Return the ids of what some changes saved or accepted and has no job yet.

    A claim that waits gets its job when it is accepted: until then it is not compared,
    and what was saved meanwhile is older than it.
    """
    known = Jobs(memory.state()).known(LINKS)
    saved = [
        item.id
        for change in changes
        if change.kind in (SAVE, ACCEPT) and not change.undone_by
        for item in change.items
        if item.kind == MEMORY and item.id and item.id not in known
        if change.kind == ACCEPT or place_in_scope(item.path) != INBOX
    ]
    return list(dict.fromkeys(saved))


def compare(memory: Memory, ref: str, chat: Chat) -> Comparison:
    """Return how the memory with an id relates to others, as the model says.

    One that is not active any more, has expired, is not to be sent, or is like no other
    is passed over, and nothing is asked.

    Args:
        memory: As its owner sees it.
        ref: Id of the saved memory.
        chat: The language model.

    Raises:
        ChatError: The model gave no usable reply.
    """
    saved = _load(memory, ref)
    if saved is None:
        return Comparison()
    later = Jobs(memory.state()).added_after(LINKS, ref)
    found = _neighbors(memory, saved, later)
    others = {other.id or other.path: other for other in found}
    if not others:
        return Comparison()
    reply = chat.ask(
        messages_about(saved, others),
        schema_for(list(others)),
        timeout_s=memory.settings.llm_timeout_s,
    )
    told = {ref: saved, **others}
    texts = {end: version_of_text(each) for end, each in told.items()}
    with read_from(chat):
        return Comparison(relations_in(reply, others), texts)


def _load(memory: Memory, ref: str) -> StoredMemory | None:
    """Return the active memory with an id, if it may be sent."""
    row = memory.index_handle.run_fresh(lambda index: active_row(index, ref))
    found = memory.curation.stored.load(row.path) if row is not None else None
    return found if found is not None and _may_be_compared(memory, found) else None


def _neighbors(
    memory: Memory, saved: StoredMemory, later: Collection[str]
) -> Iterator[StoredMemory]:
    """Yield the memories of the same scope that are most like a saved one.

    Those with *later* ids are passed over: their own jobs compare them with this one,
    and the model would be told that they are older.
    """
    query = Query(
        text=f"{mask(saved.key)} {text_of(saved)}"[:_QUERY_CHARS],
        max_results=_CANDIDATES,
        min_score=MIN_RELEVANCE,
        search_filter=SearchFilter(scope=saved.scope),
        keeps_repetitions=True,
        is_literal=True,
    )
    count = 0
    seen: set[str] = {saved.path}
    for hit in memory.search(query).hits:
        if count == MAX_NEIGHBORS:
            return
        if not hit.type or hit.path in seen:
            continue
        seen.add(hit.path)
        other = memory.curation.stored.load(hit.path)
        if other is None or other.id in later:
            continue
        if _may_be_compared(memory, other):
            count += 1
            yield other


def _may_be_compared(memory: Memory, found: StoredMemory) -> bool:
    """Return whether a memory is neither expired nor done, and may be sent."""
    status = as_of(found, memory.clocks.today()).status
    return status == STATUSES[ACTIVE] and may_be_sent(memory, found)


def may_be_sent(memory: Memory, found: StoredMemory) -> bool:
    """Return whether a memory may leave: trusted, and not private unless allowed."""
    return is_trusted(found.source) and not is_kept_back(
        memory.settings, found.scope, found.visibility
    )
