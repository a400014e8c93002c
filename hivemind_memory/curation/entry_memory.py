"""An entry of a note as lookups and lists show it: a memory without type and key."""

from __future__ import annotations

from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.memories import ACTIVE, PENDING, STATUSES
from hivemind_memory.model.scope import INBOX, place_in_scope, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.entry_edits import FoundEntry


def entry_memory(path: NotePath, entry: FoundEntry) -> StoredMemory:
    """Return an entry that is not forgotten; in an inbox, it is pending."""
    written = entry.provenance
    is_pending = place_in_scope(path) == INBOX
    return StoredMemory(
        path=path,
        id=written.id,
        key="",
        type="",
        scope=scope_of(path),
        status=STATUSES[PENDING if is_pending else ACTIVE],
        text=entry.content,
        start_line=entry.start_line,
        end_line=entry.end_line,
        created=written.at,
        by=written.by,
        session=written.session,
        source=written.source,
        source_ref=written.ref,
        tags=written.tags,
    )
