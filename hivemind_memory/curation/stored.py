"""Finds the active memories of some scopes by index rows, and reads those wanted.

A list of thousands is so sorted and cut before a file is opened.
"""

from __future__ import annotations

from hivemind_memory.access.rules import check_writable
from hivemind_memory.curation.lookup import load_memory, read_target
from hivemind_memory.curation.without_secrets import memories_for
from hivemind_memory.errors import NotSavedError
from hivemind_memory.model.curation import MEMORY
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.note_path import NotePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from contextlib import AbstractContextManager

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import ForgetResult, StoredMemory
    from hivemind_memory.model.memories import MemoryRow


class StoredMemories:
    """The active memories that one caller reads. Threads may share it."""

    def __init__(
        self, context: CurationContext, lock: AbstractContextManager[object]
    ) -> None:
        self._context = context
        self._lock = lock

    def rows(
        self,
        scopes: frozenset[str],
        *,
        types: Collection[str],
        key: str | None = None,
        memory_id: str | None = None,
    ) -> list[MemoryRow]:
        """Return the active memories that fit all that is given, in any order.

        Args:
            scopes: Where to look; what the caller does not read counts as empty.
            types: Names of types.
            key: Exactly this key; None: any.
            memory_id: Exactly this id; None: any.
        """
        context = self._context
        own = context.caller.scopes
        seen = scopes if own is None else scopes & own
        if not context.caller.is_member or not seen:
            return []
        with self._lock:
            rows = context.index.run_fresh(
                lambda index: index.memories(
                    scopes=seen,
                    statuses=frozenset({ACTIVE}),
                    key=key,
                    memory_id=memory_id,
                )
            )
        return [row for row in rows if row.type in types]

    def load(self, path: str) -> StoredMemory | None:
        """Return the memory of a note, if it is still active; secrets are masked."""
        with self._lock:
            memory = load_memory(self._context, path)
        if memory is None or memory.status != "active":
            return None
        return memories_for(self._context.caller, [memory])[0]

    def namespaces_lock(self) -> AbstractContextManager[None]:
        """Return the lock under which namespaces are made and deleted."""
        return self._context.namespaces_lock()

    def hide(self, paths: Collection[str]) -> ForgetResult:
        """Forget the memories of some notes, as one change that can be undone.

        Raises:
            NotSavedError: The caller may not write there, or the disk refused.
        """
        from hivemind_memory.curation.change_recording import record_forgotten
        from hivemind_memory.curation.forget import hide_targets

        context = self._context
        with context.changing():
            for path in paths:
                check_writable(context.caller, NotePath(path), "Nothing was changed")
            read = (read_target(context, path, MEMORY) for path in paths)
            shown = [target for target in read if target and not target.forgotten]
            hidden = hide_targets(context, shown, is_reactivating=False)
            for left in hidden.failed:
                raise NotSavedError(left.why, effect="Not all of them were forgotten")
            return record_forgotten(context, hidden)
