"""Tells what has been saved, superseded and forgotten, from the log of changes.

For programs that show the memory as it changes. Nothing is said of what was purged.
"""

from __future__ import annotations

from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.changes import FORGET, PURGE, SAVE
from hivemind_memory.model.curation import ENTRY
from hivemind_memory.model.events import FORGOTTEN, SAVED, SUPERSEDED, MemoryEvent
from hivemind_memory.model.scope import scope_of
from hivemind_memory.state.change_log import ChangeLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.changes import Change, ChangedItem


class ChangeEvents:
    """What has changed, as the log of changes knows it. All scopes are in it."""

    def __init__(self, context: CurationContext) -> None:
        """Read nothing yet."""
        self._context = context
        self._log = ChangeLog(context.state())

    def after(self, number: int) -> tuple[MemoryEvent, ...]:
        """Return what changed after a number of the log, oldest first.

        Raises:
            StateUnusableError: The log cannot be read now.
        """
        return tuple(
            item
            for at, change in self._log.after(number)
            for item in _events_of(self._context, at, change)
        )

    def last_number(self) -> int:
        """Return the number of the newest change; 0: there is none.

        Raises:
            StateUnusableError: The log cannot be read now.
        """
        return self._log.last_number()


def _events_of(
    context: CurationContext, number: int, change: Change
) -> Iterator[MemoryEvent]:
    """Yield what a change did to each memory and entry."""
    if change.kind == PURGE:
        return
    kind = FORGOTTEN if change.kind == FORGET else SAVED
    for item in change.items:
        try:
            memory = load_memory(context, item.path)
        except HivemindError:  # it is not where it was
            memory = None
        is_found = memory is not None and (item.kind == ENTRY or memory.id == item.id)
        visibility = memory.visibility if memory is not None and is_found else None
        yield _item(number, change, item, kind, visibility=visibility)
        if change.kind == SAVE and memory is not None and is_found:
            for old in memory.supersedes:
                yield MemoryEvent(
                    number=number,
                    kind=SUPERSEDED,
                    at=change.at,
                    path="",
                    id=old,
                    by_id=item.id,
                    scope=scope_of(item.path),
                    visibility=memory.visibility,
                )


def _item(
    number: int,
    change: Change,
    item: ChangedItem,
    kind: str,
    *,
    visibility: str | None,
) -> MemoryEvent:
    """Return what a change did to one of its items."""
    return MemoryEvent(
        number=number,
        kind=kind,
        at=change.at,
        path=item.path,
        id=item.id,
        scope=scope_of(item.path),
        visibility=visibility,
        is_entry=item.kind == ENTRY,
    )
